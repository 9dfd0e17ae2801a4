package io.journalq.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.record.RecordBatch;
import io.journalq.server.control.MetadataLogCodec;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.FilterFileStore;
import io.journalq.server.journal.file.FilterLogFile;
import io.journalq.server.journal.file.LogFile;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.metadata.ClusterVersion;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class AppliedMetadataTest {
    private static final int TERM = 1;

    private boolean failsWrites;
    private boolean failsSyncs;

    /** Files of a disk that fails for a time. */
    private final FileStore store = new FilterFileStore(new MemoryFileStore()) {
        @Override
        public LogFile open(Path file, boolean create) throws IOException {
            return new FilterLogFile(super.open(file, create)) {
                @Override
                public void write(ByteBuffer data, long position) throws IOException {
                    failIf(failsWrites);
                    super.write(data, position);
                }

                @Override
                public void sync() throws IOException {
                    failIf(failsSyncs);
                    super.sync();
                }
            };
        }
    };

    private static void failIf(boolean fails) throws IOException {
        if (fails) {
            throw new IOException("Input/output error");
        }
    }

    /** The entry with the record of a number. */
    private static byte[] entry(int number) {
        ByteBuf batch = MetadataLogCodec.batch(
                List.of(RecordingReplica.record(number)),
                ClusterVersion.FIRST,
                1_000,
                UnpooledByteBufAllocator.DEFAULT);
        RecordBatch.setBaseOffset(batch, 0, number);
        RecordBatch.setLeaderEpoch(batch, 0, TERM);
        byte[] content = ByteBufUtil.getBytes(batch);
        batch.release();
        return content;
    }

    @Test
    void shouldApplyEntriesAgainWhenTheDiskWorksAfterAFailedSync() throws IOException {
        // given
        try (AppliedMetadata applied = new AppliedMetadata(
                store, Path.of("metadata"), Runnable::run, UnpooledByteBufAllocator.DEFAULT, new RecordingReplica())) {
            applied.open();
            applied.beginAtStart();
            assertThat(applied.apply(0, TERM, entry(0))).isTrue();

            // when a write fails, and then a sync
            failsWrites = true;
            assertThatThrownBy(() -> applied.apply(1, TERM, entry(1))).isInstanceOf(IOException.class);
            failsWrites = false;
            failsSyncs = true;
            assertThatThrownBy(() -> applied.apply(1, TERM, entry(1))).isInstanceOf(IOException.class);
            failsSyncs = false;

            // then
            assertThat(applied.apply(1, TERM, entry(1))).isTrue();
            assertThat(applied.apply(2, TERM, entry(2))).isTrue();
            assertThat(applied.endOffset()).isEqualTo(3);
        }
    }
}
