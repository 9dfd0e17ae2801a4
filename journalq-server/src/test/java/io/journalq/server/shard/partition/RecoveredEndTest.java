package io.journalq.server.shard.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.JournalConfig;
import io.journalq.server.journal.file.SystemFileStore;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The largest valid position that was committed before a start. */
class RecoveredEndTest {
    @TempDir
    private Path directory;

    private static void append(Journal journal, int leaderEpoch) throws IOException {
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, CompressionCodec.NONE)) {
            builder.append(1_000, null, new byte[1], List.of());
            ByteBuf batch = builder.build();
            journal.append(batch, leaderEpoch);
            batch.release();
        }
        journal.write();
    }

    @Test
    void shouldEndEachEpochWhereTheNextBeginsAndNeverBehindWhatWasRecovered() throws IOException {
        // given a record of epoch 1, and two of epoch 2, when the broker started
        try (Journal journal = Journal.open(new SystemFileStore(), directory, JournalConfig.DEFAULT, Runnable::run)) {
            append(journal, 1);
            append(journal, 2);
            append(journal, 2);
            RecoveredEnd end = new RecoveredEnd(journal, journal.endOffset(), 3);

            // when it has grown since then
            append(journal, 3);
            append(journal, 3);

            // then a position in epoch 1 cannot be behind the end of that epoch, whatever was appended since then
            assertThat(end.of(1)).isEqualTo(1);
            assertThat(end.of(2)).isEqualTo(3);
            assertThat(end.of(-1)).isEqualTo(3);

            // and a position that was committed since then may be anywhere
            assertThat(end.ofOlder(3)).isEqualTo(Long.MAX_VALUE);
            assertThat(end.of(3)).isEqualTo(3);
        }
    }
}
