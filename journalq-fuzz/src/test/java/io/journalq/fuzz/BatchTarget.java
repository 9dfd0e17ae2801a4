package io.journalq.fuzz;

import io.journalq.common.record.BatchReader;
import io.journalq.common.record.BatchRewriter;
import io.journalq.common.record.BatchRules;
import io.journalq.common.record.BatchValidator;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.DecompressionRoom;
import io.journalq.common.record.InvalidBatchException;
import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * Batches: what Produce checks, what a consumer reads, and what compaction rewrites. First byte: whether lengths and
 * checksums are made right, so that what is behind them is looked at; then batches.
 */
final class BatchTarget implements FuzzTarget {
    private static final int LIMIT_BYTES = 256 * 1024;
    private static final int RAW = 1;
    private static final int NEWEST_PRODUCE = 13;
    private static final BatchRules RULES =
            new BatchRules(LIMIT_BYTES, LIMIT_BYTES, 1_000, Long.MAX_VALUE, Long.MAX_VALUE, false, false, true, false);

    private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true, true);

    @Override
    public String name() {
        return "batches";
    }

    @Override
    public List<byte[]> seeds() {
        List<byte[]> seeds = new ArrayList<>();
        for (CompressionCodec codec : CompressionCodec.values()) {
            seeds.add(seed(SampleBatches.bytes(codec, 1, RecordBatch.NO_PRODUCER_ID, false)));
            seeds.add(seed(SampleBatches.bytes(codec, 12, 7, true)));
        }
        byte[] two = SampleBatches.bytes(CompressionCodec.NONE, 2, RecordBatch.NO_PRODUCER_ID, false);
        byte[] both = new byte[2 * two.length];
        System.arraycopy(two, 0, both, 0, two.length);
        System.arraycopy(two, 0, both, two.length, two.length);
        seeds.add(seed(both));
        return seeds;
    }

    private static byte[] seed(byte[] batches) {
        byte[] seed = new byte[1 + batches.length];
        System.arraycopy(batches, 0, seed, 1, batches.length);
        return seed;
    }

    @Override
    public void run(byte[] input) {
        if (input.length == 0) {
            return;
        }
        ByteBuf batches = allocator.directBuffer().writeBytes(input, 1, input.length - 1);
        try (DecompressionRoom room = DecompressionRoom.ofSmall(allocator)) {
            if ((input[0] & RAW) == 0) {
                SampleBatches.fixChecksums(batches);
            }
            boolean sound = new BatchValidator(room)
                    .validate(batches, NEWEST_PRODUCE, RULES, SampleBatches.TIMESTAMP_MS)
                    .isSound();
            boolean read = read(batches);
            if (sound && !read) {
                throw new AssertionError("a batch was taken that cannot be read");
            }
        } finally {
            batches.release();
        }
        long leakedBytes =
                allocator.metric().usedDirectMemory() + allocator.metric().usedHeapMemory();
        if (leakedBytes != 0) {
            throw new AssertionError(leakedBytes + " bytes are not given back");
        }
    }

    /** Whether every record of every batch was there. */
    private boolean read(ByteBuf batches) {
        try (BatchReader reader = new BatchReader(allocator, LIMIT_BYTES, true);
                BatchRewriter rewriter = new BatchRewriter(allocator)) {
            reader.reset(batches);
            while (reader.nextBatch()) {
                int records = 0;
                while (reader.next()) {
                    reader.offset();
                    reader.timestampMs();
                    reader.key();
                    reader.value();
                    reader.headers();
                    records++;
                }
                if (records > 0 && !reader.isControlBatch()) {
                    rewrite(reader, rewriter, records);
                }
            }
            return true;
        } catch (InvalidBatchException bad) {
            return false;
        }
    }

    private static void rewrite(BatchReader reader, BatchRewriter rewriter, int records) {
        BitSet kept = new BitSet();
        for (int i = 0; i < records; i += 2) {
            kept.set(i);
        }
        reader.rewind();
        ByteBuf rewritten = rewriter.rewrite(reader, kept, BatchRewriter.SAME_HORIZON);
        if (rewritten != null) {
            rewritten.release();
        }
    }

    /** Headers are copied: each takes two bytes at least, and after decompression there may be many. */
    @Override
    public long maxAllocatedBytes(int inputSizeBytes) {
        return 64L * LIMIT_BYTES + 100L * inputSizeBytes;
    }
}
