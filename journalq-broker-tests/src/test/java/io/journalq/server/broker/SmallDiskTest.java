package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.KafkaStorageException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A broker on a real file system that is small, full, or read-only. Skipped if this process may not mount one. */
class SmallDiskTest {
    private static final String SIZE = "size=12m";
    private static final int VALUE_BYTES = 100_000;
    private static final TopicPartition FIRST = new TopicPartition("first", 0);

    @TempDir
    private Path mountPoint;

    private boolean mounted;

    @BeforeEach
    void mount() throws IOException, InterruptedException {
        mounted = Files.exists(Path.of("/proc/mounts"))
                && run("mount", "-t", "tmpfs", "-o", SIZE, "tmpfs", mountPoint.toString());
        assumeTrue(mounted, "this process may not mount a small file system");
    }

    @AfterEach
    void unmount() throws IOException, InterruptedException {
        if (mounted) {
            run("umount", "--lazy", mountPoint.toString());
        }
    }

    private static boolean run(String... command) throws IOException, InterruptedException {
        try {
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            return process.waitFor(30, TimeUnit.SECONDS) && process.exitValue() == 0;
        } catch (IOException noSuchProgram) {
            return false;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"eventual", "consistent"})
    void shouldServeStartAndMakeRoomWhenTheDiskIsFull(String deliveryMode) throws Exception {
        TestBroker broker = new TestBroker(mountPoint.resolve("data"))
                .with("segment.bytes", "1048576")
                .with("log.retention.check.interval.ms", "100")
                .with("write.ahead.max.bytes", "2097152")
                .with("delivery.mode", deliveryMode);
        int kept;
        try (broker) {
            // given a broker that has filled its disk
            broker.start();
            broker.createTopic("first", 1, Map.of());
            broker.createTopic("second", 1, Map.of());
            kept = fill(broker);
            assertThat(broker.readAll(List.of(FIRST), kept)).hasSize(kept);

            // when it is stopped and started again
            broker.stop();
            broker.start();

            // then it serves its records, and still reports that there is no space
            assertThat(broker.readAll(List.of(FIRST), kept)).hasSize(kept);
            fill(broker);

            // and when records are deleted, it accepts records again without a restart
            try (Admin admin = broker.admin()) {
                admin.deleteRecords(Map.of(FIRST, RecordsToDelete.beforeOffset(kept)))
                        .all()
                        .get(30, TimeUnit.SECONDS);
            }
            awaitWriting(broker);

            // and when the disk is full again, a topic can be deleted
            fill(broker);
            try (Admin admin = broker.admin()) {
                admin.deleteTopics(List.of("first")).all().get(30, TimeUnit.SECONDS);
            }
            awaitWriting(broker);
        }
    }

    @Test
    void shouldSayWhyItDoesNotStartWhenTheFileSystemIsReadOnly() throws Exception {
        // given
        TestBroker broker = new TestBroker(mountPoint.resolve("data"));
        broker.start();
        broker.createTopic("first", 1, Map.of());
        broker.stop();
        assumeTrue(
                run("mount", "-o", "remount,ro", mountPoint.toString()),
                "this process may not make a file system read-only");

        // when, then
        assertThatThrownBy(broker::start)
                .isInstanceOf(StartException.class)
                .hasMessageContaining("cannot write to the data directory")
                .hasMessageContaining(mountPoint.toString());

        // and it starts when the directory is writable again
        run("mount", "-o", "remount,rw", mountPoint.toString());
        broker.start();
        broker.stop();
    }

    /** Sends to the first topic until the disk is full. Returns the number of messages in the topic. */
    private int fill(TestBroker broker) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer =
                broker.producer(Map.of("retries", 0, "enable.idempotence", false, "acks", "all"))) {
            while (true) {
                try {
                    producer.send(new ProducerRecord<>("first", 0, null, new byte[VALUE_BYTES]))
                            .get(30, TimeUnit.SECONDS);
                } catch (ExecutionException full) {
                    assertThat(full).hasCauseInstanceOf(KafkaStorageException.class);
                    break;
                }
            }
        }
        fillRest();
        try (var consumer = broker.consumer(Map.of())) {
            return consumer.endOffsets(List.of(FIRST)).get(FIRST).intValue();
        }
    }

    /** Fills the disk to the last block. */
    private void fillRest() throws IOException {
        try (FileChannel filler =
                FileChannel.open(mountPoint.resolve("filler"), StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
            while (filler.size() < Integer.MAX_VALUE) {
                filler.write(ByteBuffer.allocate(4_096));
            }
        } catch (IOException full) {
            assertThat(full).hasMessageContaining("No space left on device");
        }
    }

    private static void awaitWriting(TestBroker broker) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer =
                broker.producer(Map.of("retries", 0, "enable.idempotence", false, "acks", "all"))) {
            broker.await(() -> {
                try {
                    producer.send(new ProducerRecord<>("second", 0, null, new byte[VALUE_BYTES]))
                            .get(30, TimeUnit.SECONDS);
                    return true;
                } catch (ExecutionException | java.util.concurrent.TimeoutException notYet) {
                    return false;
                } catch (InterruptedException interrupted) {
                    throw new AssertionError(interrupted);
                }
            });
        }
    }
}
