package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.server.journal.file.SystemFileStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Coordinators that are loaded from stored state. The test measures a load by the number of journal records that it
 * replays, which does not depend on the speed of the machine. {@code CoordinatorLoadBenchmark} measures the time.
 */
class StoredGroupsTest {
    private static final int GROUPS = 20;
    private static final int OFFSETS = 100;
    private static final int COMMITS = 3;

    @TempDir
    private Path dataDirectory;

    private TestBroker broker;

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(dataDirectory)
                .with("admin.listener", "127.0.0.1:0")
                .with("offsets.topic.num.partitions", "4")
                .start();
        broker.createTopic("t", OFFSETS, Map.of());
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    /** Commits every offset of every group several times, with {@code value} as the last. */
    private void commit(long value) throws Exception {
        try (Admin admin = broker.admin()) {
            for (int group = 0; group < GROUPS; group++) {
                for (int commit = COMMITS - 1; commit >= 0; commit--) {
                    admin.alterConsumerGroupOffsets("group" + group, offsets(value + group - commit))
                            .all()
                            .get(30, TimeUnit.SECONDS);
                }
            }
        }
    }

    private static Map<TopicPartition, OffsetAndMetadata> offsets(long value) {
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        for (int partition = 0; partition < OFFSETS; partition++) {
            offsets.put(
                    new TopicPartition("t", partition),
                    // Offsets beyond the end of a partition would be reset.
                    new OffsetAndMetadata(0, Long.toString(value)));
        }
        return offsets;
    }

    private Map<TopicPartition, OffsetAndMetadata> committed(int group) throws Exception {
        try (Admin admin = broker.admin()) {
            return admin.listConsumerGroupOffsets("group" + group)
                    .partitionsToOffsetAndMetadata()
                    .get(30, TimeUnit.SECONDS);
        }
    }

    private long metric(String name) {
        try {
            String page = broker.page("/metrics").body();
            Matcher line = Pattern.compile("(?m)^" + name + " (\\S+)$").matcher(page);
            return line.find() ? (long) Double.parseDouble(line.group(1)) : 0;
        } catch (IOException | InterruptedException failure) {
            throw new AssertionError(failure);
        }
    }

    /** Waits until all appended records are stored, then stops the broker. */
    private void stopWhenStored(long records) throws InterruptedException {
        broker.await(() -> metric("journalq_coordinators_stored_records_total") >= records);
        broker.stop();
    }

    private void checkCommitted(long value) throws Exception {
        for (int group = 0; group < GROUPS; group++) {
            Map<TopicPartition, OffsetAndMetadata> expected = offsets(value + group);
            Map<TopicPartition, OffsetAndMetadata> found = committed(group);
            assertThat(found).hasSameSizeAs(expected);
            found.forEach((partition, offset) -> assertThat(offset.metadata())
                    .isEqualTo(expected.get(partition).metadata()));
        }
    }

    @Test
    void shouldReplayOnlyWhatIsNotStoredWhenItStartsAgain() throws Exception {
        // given
        long appended = (long) GROUPS * OFFSETS * COMMITS;
        commit(1_000);
        stopWhenStored(appended);

        // when
        broker.start();

        // then
        checkCommitted(1_000);
        assertThat(metric("journalq_coordinators_replayed_records_total")).isZero();

        // and later records replace the stored ones
        commit(2_000);
        stopWhenStored(appended);
        broker.start();
        checkCommitted(2_000);
        assertThat(metric("journalq_coordinators_replayed_records_total")).isZero();
    }

    @Test
    void shouldRebuildTheStoreWhenItIsMissing() throws Exception {
        long appended = (long) GROUPS * OFFSETS * COMMITS;
        commit(1_000);
        stopWhenStored(appended);
        new SystemFileStore().delete(dataDirectory.resolve("coordinators"));

        broker.start();
        checkCommitted(1_000);
        assertThat(metric("journalq_coordinators_replayed_records_total")).isEqualTo(appended);
        broker.stop();

        broker.start();
        checkCommitted(1_000);
        assertThat(metric("journalq_coordinators_replayed_records_total")).isZero();
    }

    @Test
    void shouldForgetWhatTheJournalHasLost() throws Exception {
        // given journals that lost everything, as a power loss can do to data that was not fsynced
        commit(1_000);
        stopWhenStored((long) GROUPS * OFFSETS * COMMITS);
        try (Stream<Path> files = Files.walk(dataDirectory)) {
            List<Path> logs = files.filter(
                            file -> file.toString().endsWith(".log") && isPartition(file.getParent()) && size(file) > 0)
                    .toList();
            for (Path log : logs) {
                new SystemFileStore().delete(log.getParent());
            }
        }

        // when
        broker.start();

        // then
        for (int group = 0; group < GROUPS; group++) {
            assertThat(committed(group)).isEmpty();
        }
        commit(3_000);
        checkCommitted(3_000);
    }

    private static boolean isPartition(Path directory) {
        String name = directory.getFileName().toString();
        return name.length() > Uuid.ZERO.toString().length() && name.contains("-");
    }

    private static long size(Path file) {
        return file.toFile().length();
    }
}
