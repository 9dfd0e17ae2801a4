package io.journalq.server.journal;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.journalq.server.journal.compaction.CompactionConfig;
import io.journalq.server.journal.compaction.CompactionJob;
import io.journalq.server.journal.compaction.KeyOffsets;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.journal.segment.LeaderEpochs.EpochEndOffset;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A copy of a compacted log has the leader epochs of the log. */
class CompactedEpochsTest {
    private static final int NEWEST_EPOCH = 3;
    private static final JournalConfig CONFIG =
            JournalConfig.DEFAULT.withCompaction(new CompactionConfig(true, 0.5, 0, Long.MAX_VALUE, 86_400_000L));

    private final MemoryFileStore store = new MemoryFileStore();

    private Journal open(String name) throws IOException {
        return Journal.open(store, Path.of("data", name), CONFIG, Runnable::run);
    }

    private static void append(Journal journal, int leaderEpoch, String key) throws IOException {
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, CompressionCodec.NONE)) {
            builder.append(1_000, key.getBytes(StandardCharsets.UTF_8), new byte[] {1}, List.of());
            builder.setProducerState(-1, (short) -1, -1, false);
            ByteBuf batch = builder.build();
            journal.append(batch, leaderEpoch);
            batch.release();
            journal.write();
        }
    }

    /** A log whose records of epoch 2 are all superseded. */
    private Journal compacted() throws IOException {
        Journal journal = open("leader-0");
        append(journal, 1, "a");
        append(journal, 2, "b");
        append(journal, 2, "c");
        append(journal, NEWEST_EPOCH, "b");
        append(journal, NEWEST_EPOCH, "c");
        journal.setConfig(CONFIG.withSegmentSizeBytes(1));
        append(journal, NEWEST_EPOCH, "d");
        journal.flush();
        compact(journal);
        return journal;
    }

    private static void compact(Journal journal) throws IOException {
        CompactionJob job = new CompactionJob(
                journal.writtenOffset(),
                Map.of(),
                5_000,
                new KeyOffsets(1 << 20, 1, 2),
                CompactionJob.Step::run,
                () -> false);
        assertThat(journal.rewrites().compact(job).freedSizeBytes()).isPositive();
    }

    private Journal copyOf(Journal journal) throws IOException {
        Journal copy = open("follower-0");
        while (copy.endOffset() < journal.writtenOffset()) {
            ByteBuf run = journal.read(copy.endOffset(), Long.MAX_VALUE, 1 << 20, true)
                    .readFully(UnpooledByteBufAllocator.DEFAULT);
            copy.appendRun(run, NEWEST_EPOCH);
            run.release();
            copy.write();
        }
        return copy;
    }

    @Test
    void shouldTellACopyEveryEpochWhenAllRecordsOfOneAreSuperseded() throws IOException {
        // when
        Journal copy = copyOf(compacted());

        // then a replica with the records of epoch 2 does not diverge from the copy
        assertThat(copy.epochs().endOffsetOf(2, copy.writtenOffset())).isEqualTo(new EpochEndOffset(2, 3));
        assertThat(copy.epochs().epochs()).containsExactly(1, 2, NEWEST_EPOCH);
        assertThat(copy.epochs().startOffsets()).containsExactly(0, 1, 3);
    }
}
