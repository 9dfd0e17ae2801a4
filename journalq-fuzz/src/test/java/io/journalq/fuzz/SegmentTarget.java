package io.journalq.fuzz;

import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.file.LogFile;
import io.journalq.server.journal.file.MemoryFileStore;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Recovery of a segment without checkpoint and index. First byte: whether lengths and checksums of batches are made right;
 * then the log.
 */
final class SegmentTarget implements FuzzTarget {
    private static final int RAW = 1;
    private static final String LOG = "00000000000000000000.log";
    private static final long MAX_ALLOCATED_BYTES = 8 << 20;
    private static final int MAX_ALLOCATED_PER_BYTE = 400;

    @Override
    public String name() {
        return "segments";
    }

    @Override
    public List<byte[]> seeds() {
        List<byte[]> seeds = new ArrayList<>();
        for (int flag = 0; flag <= RAW; flag++) {
            byte[] batch = SampleBatches.bytes(CompressionCodec.NONE, 3, RecordBatch.NO_PRODUCER_ID, false);
            byte[] seed = new byte[1 + 3 * batch.length];
            seed[0] = (byte) flag;
            for (int i = 0; i < 3; i++) {
                ByteBuffer.wrap(batch).putLong(RecordBatch.BASE_OFFSET, 3L * i).putInt(RecordBatch.LEADER_EPOCH, i / 2);
                System.arraycopy(batch, 0, seed, 1 + i * batch.length, batch.length);
            }
            seeds.add(seed);
        }
        return seeds;
    }

    @Override
    public void run(byte[] input) throws IOException {
        if (input.length == 0) {
            return;
        }
        if ((input[0] & RAW) == 0) {
            ByteBuf log = Unpooled.wrappedBuffer(input, 1, input.length - 1);
            SampleBatches.fixChecksums(log);
        }
        MemoryFileStore store = new MemoryFileStore();
        try (LogFile log = store.open(JournalUse.DIRECTORY.resolve(LOG), true)) {
            log.write(ByteBuffer.wrap(input, 1, input.length - 1), 0);
        }
        try {
            new JournalUse(store).use();
        } catch (IOException expected) {
            return;
        }
    }

    @Override
    public long maxAllocatedBytes(int inputSizeBytes) {
        return MAX_ALLOCATED_BYTES + (long) MAX_ALLOCATED_PER_BYTE * inputSizeBytes;
    }
}
