package io.journalq.server.shard.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.journal.JournalConfig;
import io.journalq.server.shard.append.Append;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Appends about which the broker cannot decide, because of a lack of direct memory or a defect. */
class FailedAdmissionTest {
    private static final int PRODUCE_VERSION = 12;
    private static final int SIZE_BYTES = 100;

    @TempDir
    private Path directory;

    private SteppedPartition partition;

    @BeforeEach
    void open() throws Exception {
        partition = SteppedPartition.open(directory, JournalConfig.DEFAULT);
    }

    @AfterEach
    void close() {
        partition.closeCleanly();
    }

    @Test
    void shouldRejectAnAppendWhenItCannotBeDecided() {
        List<ErrorCode> outcomes = new ArrayList<>();
        ByteBuf batch = new UnpooledHeapByteBuf(UnpooledByteBufAllocator.DEFAULT, SIZE_BYTES, SIZE_BYTES) {
            @Override
            public byte getByte(int index) {
                throw new IllegalStateException("as when a buffer cannot be used");
            }
        };
        batch.writerIndex(SIZE_BYTES);

        // when it comes from another loop, which waits for the outcome
        partition.host().append(new Append(batch, PRODUCE_VERSION) {
            @Override
            protected void onDecided() {
                outcomes.add(error());
            }
        });
        partition.loop().run();

        // then
        assertThat(outcomes).containsExactly(ErrorCode.KAFKA_STORAGE_ERROR);
        // and the next one is appended
        assertThat(partition.append(1, (short) 0, 0, false, "v").error()).isEqualTo(ErrorCode.NONE);
    }
}
