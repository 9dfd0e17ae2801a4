package io.journalq.server.shard.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.BatchRules;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.JournalConfig;
import io.journalq.server.journal.ShutdownMarker.LastEnd;
import io.journalq.server.journal.compaction.CompactionConfig;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.shard.append.AppendSettings;
import io.journalq.server.shard.append.DeliveryMode;
import io.journalq.server.shard.flush.WalSyncers;
import io.journalq.server.shard.partition.PartitionFiles.RecoveredPartition;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The log of a compacted partition that has moved to this broker, after kills. */
class MovedPartitionTest {
    private static final Path DATA = Path.of("data");
    private static final Uuid TOPIC_ID = new Uuid(7, 7);
    private static final TopicPartition NAME = new TopicPartition("t", 0);
    private static final int EPOCH = 3;
    private static final CompactionConfig COMPACTED = new CompactionConfig(true, 0.5, 0, Long.MAX_VALUE, 0);

    private final MemoryFileStore store = new MemoryFileStore();

    /** Opens the files as they are, as after a kill. */
    private RecoveredPartition open(CompactionConfig compaction, boolean alone) throws IOException {
        Clock clock = Clock.systemUTC();
        PartitionFiles files = new PartitionFiles(
                store,
                List.of(DATA),
                work -> {},
                clock,
                Map.of(DATA, LastEnd.KILLED),
                new WalSyncers(store, List.of(DATA), 0, 1, work -> {}, clock));
        PartitionSettings settings = new PartitionSettings(
                new AppendSettings(BatchRules.DEFAULT, null, DeliveryMode.EVENTUAL, 1),
                1,
                true,
                JournalConfig.DEFAULT.withCompaction(compaction),
                1,
                ThrottledReplicas.NONE);
        return files.open(NAME, TOPIC_ID, settings, EPOCH, alone);
    }

    /** Copies batches of one record from a leader. */
    private static void copy(RecoveredPartition partition, long... offsets) throws IOException {
        for (long offset : offsets) {
            try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, CompressionCodec.NONE)) {
                builder.append(1_000, null, new byte[1], List.of());
                ByteBuf batch = builder.build();
                RecordBatch.setBaseOffset(batch, 0, offset);
                RecordBatch.setLeaderEpoch(batch, 0, EPOCH);
                partition.journal().appendRun(batch, EPOCH);
                batch.release();
            }
        }
        partition.journal().write();
        partition.journal().flush();
    }

    @Test
    void shouldKeepTheLastRecordOfACopyWhenTheOtherReplicasHaveLeft() throws IOException {
        copy(open(COMPACTED, false), 0, 997, 999);

        assertThat(open(COMPACTED, true).journal().endOffset()).isEqualTo(1_000);
        assertThat(open(COMPACTED, true).journal().endOffset()).isEqualTo(1_000);
    }

    @Test
    void shouldTakeAGapForDamageWhenTheLogIsNoCopyOfACompactedOne() throws IOException {
        copy(open(COMPACTED, true), 0, 1, 999);
        assertThat(open(COMPACTED, true).journal().endOffset()).isEqualTo(2);

        store.delete(DATA);
        copy(open(CompactionConfig.OFF, false), 0, 1, 999);
        assertThat(open(CompactionConfig.OFF, true).journal().endOffset()).isEqualTo(2);
    }
}
