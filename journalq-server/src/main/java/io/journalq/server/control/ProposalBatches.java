package io.journalq.server.control;

import io.journalq.common.protocol.Message;
import io.journalq.common.record.RecordBatch;
import io.journalq.server.metadata.record.PartitionChangesRecord;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayList;
import java.util.List;

/**
 * Divides what an operation appends into batches. A quorum refuses batches that are too large, and other operations and
 * the replicas wait for a batch as a whole. Stateless.
 */
final class ProposalBatches {
    /** Maximum number of changed partitions in a batch. */
    static final int MAX_CHANGES = 1_000;

    /** Maximum size of the records of a batch, if they have several parts. */
    static final int MAX_BYTES = 255 * 1024;

    /** What a batch adds to a record, at most. */
    private static final int OVERHEAD_BYTES = 20;

    private ProposalBatches() {}

    /**
     * Divides parts into batches.
     *
     * @param parts records that must be committed together. A part that is larger than a batch becomes a batch
     * @param level as in {@link MetadataRecordCodec#encode}
     * @return batches of adjacent parts, in order
     */
    static List<List<Message>> divide(List<List<Message>> parts, int level) {
        if (parts.size() == 1) {
            return parts;
        }
        List<List<Message>> batches = new ArrayList<>();
        List<Message> batch = new ArrayList<>();
        long bytes = 0;
        int changes = 0;
        for (List<Message> part : parts) {
            long partBytes = 0;
            int partChanges = 0;
            for (Message record : part) {
                partBytes += OVERHEAD_BYTES + bytes(record, level);
                partChanges += record instanceof PartitionChangesRecord changed
                        ? changed.changes().size()
                        : 0;
            }
            boolean isFull = bytes + partBytes > MAX_BYTES || changes + partChanges > MAX_CHANGES;
            if (isFull && !batch.isEmpty()) {
                batches.add(batch);
                batch = new ArrayList<>();
                bytes = 0;
                changes = 0;
            }
            batch.addAll(part);
            bytes += partBytes;
            changes += partChanges;
        }
        batches.add(batch);
        return batches;
    }

    /** Whether one batch of {@code maxBytes} can have all these records. */
    static boolean fits(List<Message> records, int level, int maxBytes) {
        if (maxBytes == Integer.MAX_VALUE) {
            return true;
        }
        long bytes = RecordBatch.HEADER_SIZE_BYTES;
        for (Message record : records) {
            bytes += OVERHEAD_BYTES + bytes(record, level);
        }
        return bytes <= maxBytes;
    }

    private static int bytes(Message record, int level) {
        ByteBuf encoded = MetadataRecordCodec.encode(record, level, UnpooledByteBufAllocator.DEFAULT);
        int bytes = encoded.readableBytes();
        encoded.release();
        return bytes;
    }
}
