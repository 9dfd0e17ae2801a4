package io.journalq.seal;

import static io.journalq.seal.SealedWorld.PATIENTS;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.journalq.client.error.SealViolationException;
import io.journalq.client.error.SealViolationException.Reason;
import io.journalq.client.error.SealingException;
import io.journalq.client.seal.BatchOpener;
import io.journalq.client.seal.BatchSealer;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Mode subject: each record needs the key of its subject, which can be destroyed. */
class SubjectKeysTest {
    private static final char[] PASSPHRASE = "correct horse".toCharArray();
    private static final String TOPIC = PATIENTS.topic();

    @TempDir
    private Path temporary;

    private final AtomicLong nanos = new AtomicLong();
    private SealedWorld world;
    private Path directory;
    private SubjectKeys keys;

    @BeforeEach
    void begin() throws IOException {
        world = new SealedWorld();
        directory = temporary.resolve("subjects");
        keys = SubjectKeys.create(directory, PASSPHRASE, 1, nanos::get);
    }

    @AfterEach
    void end() {
        world.close();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    private SubjectKeys other() throws IOException {
        return SubjectKeys.open(directory, PASSPHRASE, nanos::get);
    }

    private BatchSealer sealer(SubjectKeys subjects) {
        return world.policy(world.senderVault)
                .sender(SealedWorld.SENDER)
                .subjects(subjects)
                .build()
                .sealer(world.keys);
    }

    private BatchOpener opener(SubjectKeys subjects, List<Long> shredded) {
        return world.policy(world.readerVault)
                .subjects(subjects)
                .onShredded((partition, offset) -> {
                    assertThat(partition).isEqualTo(PATIENTS);
                    shredded.add(offset);
                })
                .build()
                .opener(world.keys);
    }

    private static ByteBuf batch(String... subjects) {
        try (BatchBuilder builder = new BatchBuilder(ByteBufAllocator.DEFAULT, CompressionCodec.NONE)) {
            for (String subject : subjects) {
                builder.append(1_000, bytes(subject), bytes("about " + subject), List.of());
            }
            return builder.build();
        }
    }

    private static List<String> values(BatchOpener opener, byte[] sealed) {
        opener.start(PATIENTS, 0, "");
        return SealedWorld.open(opener, PATIENTS, sealed).stream()
                .map(record -> record.offset() + " " + record.value())
                .toList();
    }

    @Test
    void shouldReportRecordsByOffsetAndReturnTheOthersWhenTheirSubjectIsShredded() throws Exception {
        // given
        byte[] sealed = SealedWorld.seal(sealer(keys), PATIENTS, batch("ada", "eve", "ada", "bob"), 40);
        List<Long> shredded = new ArrayList<>();
        BatchOpener reader = opener(other(), shredded);
        assertThat(values(reader, sealed))
                .containsExactly("40 about ada", "41 about eve", "42 about ada", "43 about bob");
        assertThat(shredded).isEmpty();

        // when
        assertThat(keys.shred(TOPIC, bytes("ada"))).isTrue();

        // then a new reader, and one that has remembered the key for long enough, leave the records out
        assertThat(values(opener(other(), shredded), sealed)).containsExactly("41 about eve", "43 about bob");
        assertThat(shredded).containsExactly(40L, 42L);
        nanos.addAndGet(SubjectKeys.MAX_AGE.toNanos() + 1);
        assertThat(values(reader, sealed)).containsExactly("41 about eve", "43 about bob");
        assertThat(shredded).containsExactly(40L, 42L, 40L, 42L);
        assertThat(keys.shred(TOPIC, bytes("ada"))).as("again").isFalse();
    }

    @Test
    void shouldShowWhetherThereIsAKeyAndChangeNothing() throws Exception {
        keys.make(TOPIC, bytes("ada"));
        keys.find(TOPIC, bytes("ada"));
        SubjectKeys other = other();

        assertThat(keys.state(TOPIC, bytes("eve"))).isEqualTo(SubjectKeys.State.NONE);
        assertThat(keys.state("others", bytes("ada"))).isEqualTo(SubjectKeys.State.NONE);
        assertThat(keys.state(TOPIC, bytes("ada"))).isEqualTo(SubjectKeys.State.PRESENT);
        assertThat(other.find(TOPIC, bytes("eve"))).isNull();
        assertThat(other.find(TOPIC, bytes("ada"))).isNotNull();

        // also of a key that this process remembers
        other.shred(TOPIC, bytes("ada"));
        assertThat(keys.state(TOPIC, bytes("ada"))).isEqualTo(SubjectKeys.State.DESTROYED);
    }

    @Test
    void shouldReturnNoRecordWhenAllSubjectsOfABatchAreShredded() throws Exception {
        byte[] sealed = SealedWorld.seal(sealer(keys), PATIENTS, batch("ada", "ada"), 7);
        keys.shred(TOPIC, bytes("ada"));
        List<Long> shredded = new ArrayList<>();

        assertThat(values(opener(keys, shredded), sealed)).isEmpty();

        assertThat(shredded).containsExactly(7L, 8L);
    }

    @Test
    void shouldSendNothingWhenTheSubjectIsShredded() throws Exception {
        keys.shred(TOPIC, bytes("never seen"));
        BatchSealer sealer = sealer(other());
        sealer.prepare(TOPIC);

        assertThatThrownBy(() -> sealer.place(PATIENTS).seal(batch("ada", "never seen")))
                .isInstanceOf(SealingException.class)
                .hasMessageContaining("a subject whose key was destroyed")
                .hasMessageNotContaining("never seen");
    }

    @Test
    void shouldSendNothingWhenARecordHasNoKeyOrThePolicyHasNoKeysOfSubjects() {
        BatchSealer sealer = sealer(keys);
        sealer.prepare(TOPIC);
        ByteBuf plain;
        try (BatchBuilder builder = new BatchBuilder(ByteBufAllocator.DEFAULT, CompressionCodec.NONE)) {
            builder.append(1_000, (byte[]) null, bytes("x"), List.of());
            plain = builder.build();
        }

        assertThatThrownBy(() -> sealer.place(PATIENTS).seal(plain))
                .isInstanceOf(SealingException.class)
                .hasMessageContaining("without a key");
        assertThatThrownBy(() -> sealer(null).prepare(TOPIC))
                .isInstanceOf(SealingException.class)
                .hasMessageContaining("names no keys of subjects");
    }

    /** A missing key is not a destroyed one: it may be in another directory. */
    @Test
    void shouldStopWhenTheKeyOfASubjectIsMissing() throws Exception {
        byte[] sealed = SealedWorld.seal(sealer(keys), PATIENTS, batch("ada"), 7);
        SubjectKeys empty = SubjectKeys.create(temporary.resolve("empty"), PASSPHRASE, 1, nanos::get);
        List<Long> shredded = new ArrayList<>();

        for (SubjectKeys wrong : new SubjectKeys[] {empty, null}) {
            Throwable thrown = catchThrowable(() -> values(opener(wrong, shredded), sealed));

            assertThat(thrown).isInstanceOf(SealViolationException.class);
            assertThat(((SealViolationException) thrown).reason()).isEqualTo(Reason.NO_KEY);
            assertThat(((SealViolationException) thrown).offset()).isEqualTo(7);
        }
        assertThat(shredded).isEmpty();
    }

    @Test
    void shouldStopWhenTheFileOfAKeyIsChangedOrMovedOrTheDirectoryIsGone() throws Exception {
        byte[] sealed = SealedWorld.seal(sealer(keys), PATIENTS, batch("ada"), 7);
        keys.shred(TOPIC, bytes("eve"));
        List<Path> files = keyFiles();
        assertThat(files).hasSize(2);
        Path ada = Files.size(files.get(0)) > Files.size(files.get(1)) ? files.get(0) : files.get(1);
        Path eve = files.get(0).equals(ada) ? files.get(1) : files.get(0);
        byte[] right = Files.readAllBytes(ada);
        List<byte[]> wrong = new ArrayList<>(List.of(new byte[0], new byte[right.length], Files.readAllBytes(eve)));
        for (int i = 0; i < right.length; i++) {
            byte[] changed = right.clone();
            changed[i] ^= 0x11;
            wrong.add(changed);
        }
        List<Long> shredded = new ArrayList<>();

        for (byte[] content : wrong) {
            Files.write(ada, content);
            assertThatThrownBy(() -> values(opener(other(), shredded), sealed)).isInstanceOf(SealingException.class);
        }
        Files.write(ada, right);
        assertThat(values(opener(other(), shredded), sealed)).containsExactly("7 about ada");
        SubjectKeys gone = other();
        Files.move(directory, temporary.resolve("moved"));
        assertThatThrownBy(() -> values(opener(gone, shredded), sealed))
                .isInstanceOf(SealingException.class)
                .hasMessageContaining("is not there any more");
        assertThat(shredded).isEmpty();
    }

    private List<Path> keyFiles() throws IOException {
        try (var files = Files.walk(directory)) {
            return files.filter(file -> Files.isRegularFile(file)
                            && !file.getFileName().toString().startsWith("store"))
                    .toList();
        }
    }

    @Test
    void shouldNotShowSubjectsOrLeaveTheKeyInTheFileWhenItIsShredded() throws Exception {
        byte[] secret = keys.make(TOPIC, bytes("ada lovelace"));
        Path file = keyFiles().get(0);
        Path copy = temporary.resolve("old file");
        Files.createLink(copy, file);
        assertThat(new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1))
                .doesNotContain(new String(secret, StandardCharsets.ISO_8859_1));

        keys.shred(TOPIC, bytes("ada lovelace"));

        // The link is to the blocks that contained the key.
        assertThat(Files.readAllBytes(copy)).containsOnly(0);
        assertThat(keyFiles()).singleElement().satisfies(left -> assertThat(left.toString())
                .doesNotContain("ada"));
        assertThatThrownBy(() -> other().find(TOPIC, bytes("ada lovelace")))
                .isInstanceOf(SubjectKeys.ShreddedException.class);
        assertThat(other().find("another topic", bytes("ada lovelace"))).isNull();
    }

    @Test
    void shouldMakeOneKeyForASubjectWhenManyMakeItAtOnce() throws Exception {
        List<SubjectKeys> processes = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            processes.add(other());
        }

        List<byte[]> made = IntStream.range(0, 40)
                .parallel()
                .mapToObj(i -> {
                    try {
                        return processes.get(i % 4).make(TOPIC, bytes("ada"));
                    } catch (IOException | SubjectKeys.ShreddedException failed) {
                        throw new IllegalStateException(failed);
                    }
                })
                .toList();

        assertThat(made).allSatisfy(key -> assertThat(key).hasSize(32).isEqualTo(made.get(0)));
        assertThat(keyFiles()).hasSize(1);
        assertThat(keys.make(TOPIC, bytes("eve"))).isNotEqualTo(made.get(0));
    }

    /** A process loses its lock of a file when any of its threads closes that file. */
    @Test
    @Timeout(30)
    void shouldKeepOtherProcessesOutDuringAChangeWhenTheDirectoryIsOpenedMeanwhile() throws Exception {
        // given a change that goes on until somebody writes to a pipe in the place of the key
        keys.make(TOPIC, bytes("ada"));
        Path pipe = keyFiles().get(0);
        Files.delete(pipe);
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();
        CompletableFuture<Boolean> change = CompletableFuture.supplyAsync(() -> {
            try {
                return keys.shred(TOPIC, bytes("ada"));
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
        });
        while (locked().isEmpty()) {
            Thread.sleep(1);
        }

        // when
        List<Path> locked;
        try {
            other();
            locked = locked();
        } finally {
            Files.write(pipe, new byte[0], StandardOpenOption.WRITE);
        }

        // then
        assertThat(locked).hasSize(1);
        assertThatThrownBy(change::join).hasMessageContaining("was changed");
        assertThat(locked()).isEmpty();
    }

    /** The files of the directory that this process has locked. */
    private List<Path> locked() throws IOException {
        String pid = String.valueOf(ProcessHandle.current().pid());
        List<String> inodes = Files.readAllLines(Path.of("/proc/locks")).stream()
                .map(line -> line.trim().split("\\s+"))
                .filter(words -> words[1].equals("POSIX") && words[4].equals(pid))
                .map(words -> words[5].substring(words[5].lastIndexOf(':') + 1))
                .toList();
        List<Path> locked = new ArrayList<>();
        try (var files = Files.list(directory)) {
            for (Path file : files.toList()) {
                if (inodes.contains(Files.getAttribute(file, "unix:ino").toString())) {
                    locked.add(file);
                }
            }
        }
        return locked;
    }

    @Test
    void shouldNotOpenADirectoryWhenThePassphraseIsWrongOrOthersCanReadIt() throws Exception {
        assertThatThrownBy(() -> SubjectKeys.open(directory, "wrong".toCharArray()))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("the passphrase of " + directory + " is wrong");
        assertThatThrownBy(() -> SubjectKeys.open(temporary.resolve("none"), PASSPHRASE))
                .isInstanceOf(IOException.class);
        assertThatThrownBy(() -> SubjectKeys.create(directory, PASSPHRASE))
                .isInstanceOf(FileAlreadyExistsException.class);
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
        assertThatThrownBy(this::other).hasMessageContaining("chmod 700");
    }
}
