package io.journalq.server.journal;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.journal.file.SystemFileStore;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** When segments are closed because of Kafka's settings other than size and age, and when their files are deleted. */
class SegmentLimitsTest {
    private static final long WRITTEN_MS = 1_000;
    private static final long MAX_AGE_MS = 100_000;
    private static final long DELAY_MS = 100;
    private static final JournalConfig RETAINS_NOTHING =
            JournalConfig.DEFAULT.withSegmentSizeBytes(1_000).withRetention(JournalConfig.UNLIMITED, 0);

    @TempDir
    Path directory;

    private Journal open(String name, JournalConfig config) throws IOException {
        return Journal.open(new SystemFileStore(), directory.resolve(name), config, Runnable::run);
    }

    private static void append(Journal journal, int batches) throws IOException {
        for (int i = 0; i < batches; i++) {
            ByteBuf batch = TestBatches.batch(1, 100, WRITTEN_MS);
            journal.append(batch, 0);
            batch.release();
            journal.write();
        }
    }

    @Test
    void shouldCloseASegmentWhenItsIndexIsFull() throws IOException {
        JournalConfig config = JournalConfig.DEFAULT.withIndexIntervalBytes(1);
        try (Journal journal = open("full", config.withSegmentIndexBytes(160));
                Journal other = open("room", config)) {
            append(journal, 35);
            append(other, 35);

            assertThat(other.segmentCount()).isEqualTo(1);
            // Ten entries of 16 bytes; the first batch of a segment needs none.
            assertThat(journal.segmentCount()).isEqualTo(4);
        }
    }

    @Test
    void shouldCloseSegmentsOfOneAgeAtDifferentTimesWhenThereIsJitter() throws IOException {
        JournalConfig config = JournalConfig.DEFAULT
                .withSegmentMaxAgeMs(MAX_AGE_MS)
                .withSegmentJitterMs(MAX_AGE_MS / 2)
                .withRetention(JournalConfig.UNLIMITED, JournalConfig.UNLIMITED);
        Set<Long> closedMs = new TreeSet<>();
        for (int i = 0; i < 20; i++) {
            try (Journal journal = open("partition-" + i, config)) {
                append(journal, 1);
                closedMs.add(closedAfterMs(journal));
            }
        }

        assertThat(closedMs).hasSizeGreaterThan(10).allSatisfy(afterMs -> assertThat(afterMs)
                .isBetween(MAX_AGE_MS / 2, MAX_AGE_MS + 1));
    }

    private static long closedAfterMs(Journal journal) {
        for (long ageMs = 0; ageMs <= 2 * MAX_AGE_MS; ageMs += 100) {
            journal.applyRetention(WRITTEN_MS + ageMs, Long.MAX_VALUE);
            if (journal.segmentCount() > 1) {
                return ageMs;
            }
        }
        throw new AssertionError("never closed");
    }

    @Test
    void shouldKeepDeletedFilesUntilTheDelayIsOver() throws Exception {
        // given a delay that does not end during the test
        JournalConfig endless =
                RETAINS_NOTHING.withDeleteDelayMs(Duration.ofDays(1).toMillis());
        Path kept = directory.resolve("kept");
        try (Journal journal = open("kept", endless)) {
            append(journal, 50);
            journal.flush();

            // when segments are deleted
            assertThat(journal.applyRetention(WRITTEN_MS, Long.MAX_VALUE)).isGreaterThan(3);

            // then their files are renamed, and remain
            assertThat(deletedFiles(kept)).hasSizeGreaterThan(3);

            // when the journal is deleted
            journal.delete();
        }

        // then its directory is renamed, and remains
        assertThat(kept).doesNotExist();
        assertThat(directory.resolve("kept.deleted")).isDirectory();
    }

    @Test
    void shouldDeleteFilesWhenTheDelayIsOver() throws Exception {
        // given
        DeletionTimes deletions = new DeletionTimes();
        JournalConfig config = RETAINS_NOTHING.withDeleteDelayMs(DELAY_MS);
        Path delayed = directory.resolve("delayed");
        try (Journal journal = Journal.open(new SystemFileStore(), delayed, config, deletions)) {
            append(journal, 50);
            journal.flush();

            // when, then
            long retainedNs = System.nanoTime();
            assertThat(journal.applyRetention(WRITTEN_MS, Long.MAX_VALUE)).isGreaterThan(3);
            assertThat(deletions.awaitNext() - retainedNs).isGreaterThanOrEqualTo(MILLISECONDS.toNanos(DELAY_MS));
            assertThat(deletedFiles(delayed)).isEmpty();

            // when, then
            long deletedNs = System.nanoTime();
            journal.delete();
            assertThat(deletions.awaitNext() - deletedNs).isGreaterThanOrEqualTo(MILLISECONDS.toNanos(DELAY_MS));
        }
        assertThat(deletedFiles(directory)).isEmpty();
    }

    /**
     * Runs background work at once, and remembers when work began that another thread than the test's passed on. That is
     * only work with a delay.
     */
    private static final class DeletionTimes implements Executor {
        private final Thread test = Thread.currentThread();
        private final BlockingQueue<Long> begunNs = new LinkedBlockingQueue<>();

        @Override
        public void execute(Runnable work) {
            long nowNs = System.nanoTime();
            work.run();
            if (Thread.currentThread() != test) {
                begunNs.add(nowNs);
            }
        }

        /** Waits until the next delayed work is done, and returns when it began. */
        long awaitNext() throws InterruptedException {
            Long nextNs = begunNs.poll(1, TimeUnit.MINUTES);
            if (nextNs == null) {
                throw new AssertionError("nothing was deleted");
            }
            return nextNs;
        }
    }

    private static List<String> deletedFiles(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".deleted"))
                    .toList();
        }
    }

    @Test
    void shouldDeleteByAgeWhatFollowsASegmentWithoutTimestamps() throws IOException {
        // given segments of one batch: without a timestamp, old, without one, and two young ones
        JournalConfig config = JournalConfig.DEFAULT.withSegmentSizeBytes(1).withRetention(MAX_AGE_MS, -1);
        try (Journal journal = open("undated", config)) {
            for (long timestampMs : new long[] {-1, WRITTEN_MS, -1, 2 * MAX_AGE_MS, 2 * MAX_AGE_MS}) {
                ByteBuf batch = TestBatches.batch(1, 100, timestampMs);
                journal.append(batch, 0);
                batch.release();
                journal.write();
            }

            // when, then
            assertThat(journal.applyRetention(WRITTEN_MS + MAX_AGE_MS, 5)).isZero();
            assertThat(journal.applyRetention(WRITTEN_MS + MAX_AGE_MS + 1, 5)).isEqualTo(2);
            assertThat(journal.startOffset()).isEqualTo(2);
            assertThat(journal.applyRetention(3 * MAX_AGE_MS + 1, 3)).isZero();
            assertThat(journal.applyRetention(3 * MAX_AGE_MS + 1, 5)).isEqualTo(3);
        }
    }
}
