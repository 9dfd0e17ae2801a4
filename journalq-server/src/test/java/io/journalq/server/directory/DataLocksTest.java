package io.journalq.server.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DataLocksTest {
    private static final int MAX_SECONDS = 10;
    private static final int CHECK_INTERVAL_MS = 20;
    private static final long HOUR_MS = 3_600_000L;

    @TempDir
    private Path parent;

    @Test
    void shouldSayWhoHoldsEveryDirectoryUntilItIsGivenBack() throws IOException {
        // given
        Path one = parent.resolve("one");
        Path two = parent.resolve("two");

        // when
        DataLocks locks = DataLocks.acquire(List.of(one, two));
        String starting = Files.readString(one.resolve(".lock"));
        locks.announce("localhost:9092", "0.0.0.0:9093", "localhost:9644");

        // then
        long self = ProcessHandle.current().pid();
        assertThat(starting).startsWith("process=" + self + "\n").doesNotContain("address");
        for (Path directory : List.of(one, two)) {
            LockHolder holder = LockHolder.read(directory).orElseThrow();
            assertThat(holder.process()).contains(ProcessHandle.current());
            assertThat(holder.address()).isEqualTo("localhost:9092");
            assertThat(holder.openAddresses()).isEqualTo("0.0.0.0:9093");
            assertThat(holder.adminAddress()).isEqualTo("localhost:9644");
            assertThat(holder.describe()).isEqualTo("process " + self + " at localhost:9092");
            assertThat(DataLocks.isHeld(directory)).isTrue();
        }
        locks.close();
        assertThat(LockHolder.read(one)).isEmpty();
        assertThat(DataLocks.isHeld(one)).isFalse();
    }

    @Test
    void shouldRefuseADirectoryThatIsHeldAndKeepNoneOfTheOthers() throws IOException {
        Path free = parent.resolve("free");
        Path held = parent.resolve("held");
        try (DataLocks first = DataLocks.acquire(List.of(held))) {
            assertThatThrownBy(() -> DataLocks.acquire(List.of(free, held)))
                    .isInstanceOf(IOException.class)
                    .hasMessageStartingWith("the data directory " + held + " is in use by another broker")
                    .hasMessageEndingWith("; stop that broker, or set another directory in data.directories");

            assertThat(DataLocks.isHeld(free)).isFalse();
            assertThat(DataLocks.isHeld(held)).isTrue();
            first.announce("localhost:1", "", null);
        }
        assertThat(DataLocks.isHeld(held)).isFalse();
    }

    @Test
    void shouldAcquireADirectoryWhenAnotherProcessOnlyChecksItsLock() throws Exception {
        // given
        Path directory = Files.createDirectory(parent.resolve("checked"));
        Process check = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        LockCheck.class.getName(),
                        LockHolder.fileIn(directory).toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader out = check.inputReader()) {
            assertThat(out.readLine()).isEqualTo("locked");

            // when
            try (DataLocks locks = DataLocks.acquire(List.of(directory))) {
                // then
                assertThat(locks).isNotNull();
                assertThat(LockHolder.read(directory).flatMap(LockHolder::process))
                        .contains(ProcessHandle.current());
            }
        } finally {
            check.destroyForcibly().waitFor();
        }
    }

    /** Holds a lock for as long as a slow check. */
    static final class LockCheck {
        private static final long HELD_MS = 300;

        private LockCheck() {}

        public static void main(String[] args) throws Exception {
            try (FileChannel channel =
                            FileChannel.open(Path.of(args[0]), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                    FileLock held = channel.lock()) {
                System.out.println(held.isValid() ? "locked" : "not locked");
                Thread.sleep(HELD_MS);
            }
        }
    }

    @Test
    void shouldSayWhatToDoWhenADirectoryCannotBeMade() throws IOException {
        Path file = Files.createFile(parent.resolve("file"));

        assertThatThrownBy(() -> DataLocks.acquire(List.of(file.resolve("data"))))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("cannot write to the data directory")
                .hasMessageEndingWith("make it writable, or set another directory in data.directories");
    }

    @Test
    void shouldNotHoldADirectoryThatWasNeverUsed() throws IOException {
        assertThat(DataLocks.isHeld(parent.resolve("nowhere"))).isFalse();
        assertThat(LockHolder.read(parent.resolve("nowhere"))).isEmpty();
    }

    @Test
    void shouldFindNoProcessWhenItsIdWasGivenToAnother() throws IOException {
        Files.writeString(
                parent.resolve(".lock"), "process=" + ProcessHandle.current().pid() + "\nstarted=1000\n");

        assertThat(LockHolder.read(parent)).isPresent().hasValueSatisfying(holder -> assertThat(holder.process())
                .isEmpty());
    }

    @Test
    void shouldFindTheProcessWhenTheClockOfTheMachineWasCorrected() throws IOException {
        try (DataLocks locks = DataLocks.acquire(List.of(parent))) {
            assertThat(locks).isNotNull();
            // what the file says if the clock was an hour ahead when this process started
            String text = Files.readString(parent.resolve(".lock"));
            long startedMs = Long.parseLong(text.replaceAll("(?s).*started=(\\d+)\n.*", "$1"));
            Path copy = Files.createDirectory(parent.resolve("copy"));
            Files.writeString(copy.resolve(".lock"), text.replace("" + startedMs, "" + (startedMs + HOUR_MS)));

            assertThat(LockHolder.read(copy).flatMap(LockHolder::process)).contains(ProcessHandle.current());
        }
    }

    @Test
    void shouldFindNoProcessWhenItHasEndedAndItsParentDoesNotNotice() throws Exception {
        // given a process that ends, and a parent that never waits for it
        Process parentOfIt = new ProcessBuilder("sh", "-c", "sleep 0.1 & echo $!; exec sleep 60").start();
        try (BufferedReader out = parentOfIt.inputReader()) {
            long id = Long.parseLong(out.readLine());
            ProcessHandle ending = ProcessHandle.of(id).orElseThrow();
            Files.writeString(
                    parent.resolve(".lock"),
                    "process=" + id + "\nstarted="
                            + ending.info().startInstant().orElseThrow().toEpochMilli() + "\n");
            LockHolder holder = LockHolder.read(parent).orElseThrow();

            // when
            Instant deadline = Instant.now().plusSeconds(MAX_SECONDS);
            while (holder.process().isPresent() && Instant.now().isBefore(deadline)) {
                Thread.sleep(CHECK_INTERVAL_MS);
            }

            // then
            assertThat(ending.isAlive()).isTrue();
            assertThat(holder.process()).isEmpty();
        } finally {
            parentOfIt.destroyForcibly().waitFor();
        }
    }

    @Test
    void shouldFindNobodyInAFileThatMakesNoSense() throws IOException {
        for (String content : List.of("", "\n", "process=x\nstarted=1\n", "process=12", "=\n\n", "a".repeat(5000))) {
            Files.writeString(parent.resolve(".lock"), content);
            assertThat(LockHolder.read(parent)).as(content).isEmpty();
        }
    }

    @Test
    void shouldLeaveOutALineThatIsStillBeingWritten() throws IOException {
        Files.writeString(parent.resolve(".lock"), "process=1\nstarted=2\nadmin=localhost:9644\naddress=localh");

        assertThat(LockHolder.read(parent)).contains(new LockHolder(1, 2, null, null, "", null));
    }
}
