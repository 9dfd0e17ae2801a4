package io.journalq.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.cli.shell.ExitCode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Verifies and repairs the files of a real broker. */
class JournalCommandsTest {
    private static final int BATCHES = 5;

    @TempDir
    private static Path shared;

    /** The data of a broker that was stopped. Each test has a copy. */
    private static Path written;

    @TempDir
    private Path directory;

    private Path data;
    private Path log;

    @BeforeAll
    static void writeSomething() {
        written = shared.resolve("data");
        try (CommandBroker broker = new CommandBroker(written)) {
            broker.done("topics", "create", "orders", "--partitions", "1");
            for (int i = 0; i < BATCHES; i++) {
                broker.doneWithInput("k:value-" + i + "\n", "produce", "orders", "--key-separator", ":");
            }
            assertThat(CommandRun.journalq("journal", "verify", written.toString())
                            .errLines())
                    .singleElement()
                    .satisfies(line -> assertThat(line)
                            .startsWith("journalq: a broker is running with " + written)
                            .contains("; stop it first"));
        }
    }

    @BeforeEach
    void copyWhatWasWritten() throws IOException {
        data = directory.resolve("data");
        copy(written, data);
        log = find(data, ".log", "metadata");
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(from.relativize(file).toString()));
            }
        }
    }

    private static Path find(Path directory, String suffix, String notIn) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(file -> file.toString().endsWith(suffix))
                    .filter(file -> !file.toString().contains(notIn))
                    .filter(file -> file.getFileName().toString().matches("\\d{20}.*"))
                    .findFirst()
                    .orElseThrow();
        }
    }

    private CommandRun run(String command, String... more) {
        String[] words = new String[more.length + 3];
        words[0] = "journal";
        words[1] = command;
        words[2] = data.toString();
        System.arraycopy(more, 0, words, 3, more.length);
        return CommandRun.journalq(words);
    }

    private List<String> readBack() throws Exception {
        try (CommandBroker broker = new CommandBroker(data)) {
            return broker.done("consume", "orders", "--from", "beginning", "--until", "end")
                    .outLines();
        }
    }

    @Test
    void shouldFindNothingWrongWithWhatABrokerWrote() {
        CommandRun verify = run("verify");
        CommandRun json = run("verify", "--output", "json");
        CommandRun repair = run("repair");

        assertThat(verify.exitCode()).as(verify.out() + verify.err()).isEqualTo(ExitCode.DONE);
        assertThat(verify.outLines().get(0))
                .matches("TOPIC +PARTITION +SEGMENTS +BATCHES +RECORDS +FIRST +END +SIZE +FINDINGS +JOURNAL");
        assertThat(verify.outLines())
                .anySatisfy(line -> assertThat(line)
                        .matches("orders +0 +1 +5 +5 +0 +5 +[\\d.]+ K?i?B +0 +"
                                + log.getParent().getFileName()))
                .anySatisfy(line -> assertThat(line).startsWith("- ").endsWith(" metadata"));
        assertThat(json.out())
                .contains(
                        "\"topic\" : \"orders\"",
                        "\"partition\" : 0",
                        "\"topic\" : null",
                        "\"records\" : 5",
                        "\"findings\" : [ ]");
        assertThat(repair.out()).isEqualTo("no damage found in " + data + "\n");
    }

    @Test
    void shouldNameTheTopicOfOneJournalAndOfDamagedMetadata() throws Exception {
        // given
        Path metadata = find(data.resolve("metadata"), ".log", "nothing");
        byte[] bytes = Files.readAllBytes(metadata);
        bytes[bytes.length - 1] ^= 1;
        Files.write(metadata, bytes);

        // when
        CommandRun one =
                CommandRun.journalq("journal", "verify", log.getParent().toString());
        Files.delete(metadata);
        CommandRun unknown =
                CommandRun.journalq("journal", "verify", log.getParent().toString());

        // then
        assertThat(one.exitCode()).as(one.err()).isEqualTo(ExitCode.DONE);
        assertThat(one.outLines().get(1)).startsWith("orders ");
        assertThat(unknown.exitCode()).as(unknown.err()).isEqualTo(ExitCode.DONE);
        assertThat(unknown.outLines().get(1)).matches(" +- +- +1 +5 .*");
    }

    @Test
    void shouldNameTheTopicWhenOnlyASnapshotOfTheMetadataHasItsName() throws Exception {
        // given enough changes for a snapshot of the metadata, whose log is then lost
        String replicas = String.join(",", Collections.nCopies(8_000, "0:0"));
        try (CommandBroker broker = new CommandBroker(data)) {
            for (int i = 0; i < 40; i++) {
                broker.done("configs", "set", "--topic", "orders", "leader.replication.throttled.replicas=" + replicas);
            }
        }
        try (Stream<Path> files = Files.list(data.resolve("metadata"))) {
            for (Path file :
                    files.filter(name -> name.toString().endsWith(".log")).toList()) {
                Files.delete(file);
            }
        }

        // when
        CommandRun verify =
                CommandRun.journalq("journal", "verify", log.getParent().toString());

        // then
        assertThat(verify.outLines().get(1)).startsWith("orders ");
    }

    @Test
    void shouldShowBatchesAndRecords() {
        CommandRun batches =
                CommandRun.journalq("journal", "dump", log.getParent().toString());
        CommandRun records = CommandRun.journalq("journal", "dump", log.toString(), "--records");
        CommandRun json = CommandRun.journalq("journal", "dump", log.toString(), "--output", "json");

        assertThat(batches.outLines()).hasSize(1 + BATCHES);
        assertThat(batches.outLines().get(1))
                .startsWith("  byte 0  offsets 0..0  records 1  size ")
                .contains("codec none", "producer ", " sequence 0", "crc ");
        assertThat(records.outLines()).hasSize(1 + 2 * BATCHES);
        assertThat(records.outLines().get(2))
                .startsWith("    offset 0  time ")
                .endsWith("key \"k\"  value \"value-0\"");
        assertThat(json.exitCode()).isEqualTo(ExitCode.USAGE);
        assertThat(json.out()).isEmpty();
        assertThat(json.err()).contains("journal dump prints text only; leave --output json out");
    }

    @Test
    void shouldShowWhatWriteAheadFilesHoldAndWriteItIntoTheJournalsOnlyWhenToldTo() throws Exception {
        // given a directory whose journals lost what its write-ahead file holds
        Path golden = Path.of(getClass().getResource("/golden/write-ahead-1").toURI());
        data = directory.resolve("lost");
        copy(golden, data);
        Path wal = data.resolve("write-ahead").resolve("01.wal");

        // when
        CommandRun dump = CommandRun.journalq("journal", "dump", wal.toString());
        CommandRun verify = run("verify");
        CommandRun dry = run("repair");
        boolean thereAfterDry = Files.exists(wal);
        CommandRun done = run("repair", "--execute");
        CommandRun after = run("verify");

        // then
        assertThat(dump.outLines().get(0))
                .startsWith("  byte 20  sequence ")
                .contains("  journal ", "  segment 0  position ");
        String pending =
                "contain " + dump.outLines().size() + " records, which the next start copies into the journals";
        assertThat(verify.err()).contains(pending);
        assertThat(dry.err()).contains(pending, "--execute does this first");
        assertThat(thereAfterDry).isTrue();
        assertThat(done.exitCode()).as(done.err()).isEqualTo(ExitCode.DONE);
        assertThat(wal).doesNotExist();
        assertThat(after.exitCode()).isEqualTo(ExitCode.DONE);
        assertThat(after.err()).doesNotContain("write-ahead");
    }

    @Test
    void shouldCutATornTailOnlyWhenToldToAndKeepIt() throws Exception {
        // given
        byte[] healthy = Files.readAllBytes(log);
        Files.write(log, new byte[] {1, 2, 3, 4, 5}, StandardOpenOption.APPEND);
        Path aside = directory
                .resolve("data.aside")
                .resolve(log.getParent().getFileName())
                .resolve(log.getFileName() + "." + healthy.length + "-" + (healthy.length + 5));

        // when
        CommandRun verify = run("verify");
        CommandRun dry = run("repair");
        long sizeAfterDry = Files.size(log);
        CommandRun done = run("repair", "--execute");
        CommandRun after = run("verify");

        // then
        assertThat(verify.exitCode()).isEqualTo(ExitCode.FAILED);
        assertThat(verify.out()).contains(log + " at byte " + healthy.length + ": 5 bytes up to byte ");
        assertThat(verify.errLines())
                .containsExactly("journalq: 1 finding; to list the repairs, run bin/journalq journal repair " + data);
        assertThat(dry.out())
                .startsWith("truncate " + log + " at byte " + healthy.length + ", the rest is moved to " + aside);
        assertThat(dry.errLines())
                .containsExactly("1 change to make. Nothing was changed. To apply the changes, add --execute.");
        assertThat(sizeAfterDry).isEqualTo(healthy.length + 5L);
        assertThat(done.exitCode()).as(done.err()).isEqualTo(ExitCode.DONE);
        assertThat(done.out()).isEqualTo(dry.out());
        assertThat(Files.readAllBytes(log)).isEqualTo(healthy);
        assertThat(Files.readAllBytes(aside)).containsExactly(1, 2, 3, 4, 5);
        assertThat(after.exitCode()).as(after.out()).isEqualTo(ExitCode.DONE);
        assertThat(readBack()).hasSize(BATCHES);
    }

    @Test
    void shouldShowWhatWasRepairedWhenALaterRepairFails() throws Exception {
        // given damage in two journals, and a file in the place of the directory for the second
        Path metadata = data.resolve("metadata").resolve("00000000000000000000.log");
        Path first = log.compareTo(metadata) < 0 ? log : metadata;
        Path second = first.equals(log) ? metadata : log;
        for (Path torn : List.of(first, second)) {
            Files.write(torn, new byte[] {1, 2, 3, 4, 5}, StandardOpenOption.APPEND);
        }
        Path aside = Files.createDirectory(directory.resolve("kept"));
        Path blocker = Files.createFile(aside.resolve(second.getParent().getFileName()));

        // when
        CommandRun failed = run("repair", "--execute", "--aside", aside.toString());

        // then
        assertThat(failed.exitCode()).isEqualTo(ExitCode.FAILED);
        assertThat(failed.out()).startsWith("truncate " + first).doesNotContain(second.toString());
        assertThat(failed.err())
                .contains("journalq: cannot repair " + second + ": ", "only what is listed was repaired");

        // and when the cause is removed
        Files.delete(blocker);
        assertThat(run("repair", "--execute", "--aside", aside.toString()).exitCode())
                .isEqualTo(ExitCode.DONE);
        assertThat(run("verify").exitCode()).isEqualTo(ExitCode.DONE);
    }

    @Test
    void shouldNameAFlippedBitAndLeaveWhatIsBehindIt() throws Exception {
        // given
        byte[] bytes = Files.readAllBytes(log);
        int second = bytes.length / BATCHES;
        bytes[second + second / 2] ^= 1;
        Files.write(log, bytes);

        // when
        CommandRun verify = run("verify");
        CommandRun dump = CommandRun.journalq("journal", "dump", log.toString());
        CommandRun repair = run("repair", "--execute");

        // then
        assertThat(verify.exitCode()).isEqualTo(ExitCode.FAILED);
        assertThat(verify.out()).contains(log + " at byte " + second + ": ", "the offset before them is 1");
        assertThat(dump.outLines()).hasSize(1 + BATCHES);
        assertThat(dump.outLines().get(2))
                .isEqualTo("  byte " + second + "  bad: no valid batch up to byte " + 2 * second);
        assertThat(repair.outLines()).singleElement().satisfies(line -> assertThat(line)
                .startsWith("leave " + log + " as it is from byte " + second));
        assertThat(repair.exitCode()).isEqualTo(ExitCode.FAILED);
        assertThat(repair.errLines()).containsExactly("journalq: 1 file cannot be repaired; restore it from a backup");
        assertThat(Files.readAllBytes(log)).isEqualTo(bytes);
    }

    @Test
    void shouldMoveBadDerivedFilesAside() throws Exception {
        // given
        Path checkpoint = log.resolveSibling("journal.checkpoint");
        Path snapshot = find(log.getParent(), ".snapshot", "metadata");
        for (Path file : List.of(checkpoint, snapshot)) {
            byte[] bytes = Files.readAllBytes(file);
            bytes[bytes.length - 1] ^= 1;
            Files.write(file, bytes);
        }
        Path stray = Files.createFile(log.resolveSibling("notes.txt"));
        Files.createFile(log.resolveSibling("journal.fenced"));

        // when
        CommandRun verify = run("verify", "--output", "json");
        CommandRun repair =
                run("repair", "--execute", "--aside", directory.resolve("kept").toString());

        // then
        assertThat(verify.exitCode()).isEqualTo(ExitCode.FAILED);
        assertThat(verify.out())
                .contains("bad_derived_file", "wrong CRC", "stray_file")
                .doesNotContain("journal.fenced")
                .contains(checkpoint.toString(), snapshot.toString(), stray.toString());
        assertThat(repair.exitCode()).as(repair.err()).isEqualTo(ExitCode.DONE);
        assertThat(checkpoint).doesNotExist();
        assertThat(snapshot).doesNotExist();
        assertThat(stray).exists();
        assertThat(directory
                        .resolve("kept")
                        .resolve(log.getParent().getFileName())
                        .resolve("journal.checkpoint"))
                .exists();
        assertThat(readBack()).hasSize(BATCHES);
    }

    @ParameterizedTest
    @ValueSource(strings = {"none", "00000000000000000000.log", "01.wal"})
    void shouldNameTheFileWhenThereIsNothingToDump(String name) {
        String missing = directory.resolve(name).toString();

        CommandRun dump = CommandRun.journalq("journal", "dump", missing);

        assertThat(dump.exitCode()).isEqualTo(ExitCode.FAILED);
        assertThat(dump.err()).isEqualTo("journalq: there is no file or directory " + missing + "\n");
    }

    @Test
    void shouldSayWhatIsMissing() throws Exception {
        // given
        Files.write(log, new byte[0]);

        // when
        CommandRun verify = run("verify");
        CommandRun nothing = CommandRun.journalq("journal", "verify", directory.toString());
        CommandRun inside = run("repair", "--aside", data.resolve("aside").toString());

        // then
        assertThat(verify.out()).contains(log + ": its batches end at byte 0; according to the checkpoint ");
        assertThat(run("repair").out()).startsWith("cannot repair " + log + ", restore it from a backup");
        CommandRun repair = run("repair", "--execute");
        assertThat(repair.out()).startsWith("cannot repair " + log + ", restore it from a backup");
        assertThat(repair.exitCode()).isEqualTo(ExitCode.FAILED);
        assertThat(repair.errLines()).containsExactly("journalq: 1 file cannot be repaired; restore it from a backup");
        assertThat(nothing.err()).contains("there is no journal in " + directory);
        assertThat(inside.exitCode()).isEqualTo(ExitCode.USAGE);
    }

    @Test
    void shouldGoBackToBeforeTheDamageWhenTheMetadataLogIsDamaged() throws Exception {
        // given
        try (CommandBroker broker = new CommandBroker(data)) {
            broker.done("topics", "create", "early", "--partitions", "1");
            broker.done("topics", "create", "late", "--partitions", "1");
        }
        Path metadata = data.resolve("metadata").resolve("00000000000000000000.log");
        byte[] damaged = Files.readAllBytes(metadata);
        int late = new String(damaged, StandardCharsets.ISO_8859_1).indexOf("late");
        damaged[late] ^= 1;
        Files.write(metadata, damaged);

        // when
        String refusal =
                assertThatThrownBy(() -> new CommandBroker(data)).actual().toString();
        CommandRun repair =
                run("repair", "--execute", "--aside", directory.resolve("kept").toString());

        // then
        assertThat(refusal)
                .contains(metadata + " at byte ")
                .contains("bin/journalq journal repair " + data.resolve("metadata") + " --execute");
        assertThat(repair.exitCode()).as(repair.err()).isEqualTo(ExitCode.DONE);
        assertThat(repair.out()).contains("truncate " + metadata, "later changes are lost");
        try (CommandBroker broker = new CommandBroker(data)) {
            assertThat(broker.done("topics", "list").out())
                    .contains("orders", "early")
                    .doesNotContain("late");
        }
        assertThat(readBack()).hasSize(BATCHES);
    }
}
