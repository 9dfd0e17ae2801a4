package io.journalq.server.gateway.produce;

import io.journalq.common.record.RecordBatch;
import io.journalq.server.network.FairScheduler;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;

/**
 * A batch of a body while it arrives. Its length field can claim anything, so the capacity of its buffer is at most eight times
 * what has arrived, or 64 KiB. The socket can be read into the rest of the buffer. On the connection's loop.
 */
final class ArrivingBatch {
    /** Size of the part of a batch for which memory is allocated before more of it has arrived. */
    static final int FIRST_PART_BYTES = 64 * 1024;

    /** When this part of a batch has arrived, memory for all of it is allocated. Each growth copies what is there. */
    private static final int LAST_GROWTH = 8;

    private final ByteBuf bytes;

    /** Size of the complete batch; 0 while its length has not arrived. */
    private int sizeBytes;

    /** {@code availableBytes} is the size of what has arrived, which can be more or less than the batch. */
    ArrivingBatch(ByteBufAllocator allocator, int availableBytes) {
        this.bytes = allocator.directBuffer(Math.min(availableBytes, FIRST_PART_BYTES));
    }

    /** What has arrived. The batch owns it. */
    ByteBuf bytes() {
        return bytes;
    }

    boolean hasSize() {
        return sizeBytes > 0;
    }

    int sizeBytes() {
        return sizeBytes;
    }

    void setSizeBytes(int bytesOfBatch) {
        sizeBytes = bytesOfBatch;
    }

    boolean isComplete() {
        return hasSize() && bytes.readableBytes() == sizeBytes;
    }

    /** Size of what is missing of the batch, or of its header while the size of the batch is not known. */
    int missingBytes() {
        return (hasSize() ? sizeBytes : RecordBatch.HEADER_SIZE_BYTES) - bytes.readableBytes();
    }

    /**
     * Returns the rest of the buffer, into which the socket can be read; null if the size is not known yet, or if the rest
     * cannot be lent. The caller releases it.
     */
    ByteBuf lendRest() {
        // While others refer to its memory, bytes that were read into it may not have arrived here.
        if (!hasSize() || bytes.refCnt() > 1 || !bytes.hasMemoryAddress()) {
            return null;
        }
        if (!bytes.isWritable(1)) {
            makeRoom(1);
        }
        int part = Math.min(sizeBytes, bytes.capacity()) - bytes.writerIndex();
        return bytes.retainedSlice(bytes.writerIndex(), Math.min(part, FairScheduler.SHARE_BYTES))
                .clear();
    }

    /** Adds bytes that have arrived, not more than are missing. They may have been read into what was lent. */
    void add(ByteBuf data, int index, int length) {
        if (length <= bytes.writableBytes() && isInPlace(data, index)) {
            bytes.writerIndex(bytes.writerIndex() + length);
            return;
        }
        makeRoom(length);
        bytes.writeBytes(data, index, length);
    }

    /** Whether data was read to where it belongs. Only if there is room: another buffer can be next to it in memory. */
    private boolean isInPlace(ByteBuf data, int index) {
        return data.hasMemoryAddress()
                && bytes.hasMemoryAddress()
                && data.memoryAddress() + index == bytes.memoryAddress() + bytes.writerIndex();
    }

    private void makeRoom(int moreBytes) {
        int needed = bytes.readableBytes() + moreBytes;
        if (needed > bytes.capacity()) {
            int largest = Math.max(sizeBytes, RecordBatch.HEADER_SIZE_BYTES);
            boolean last = needed >= largest / LAST_GROWTH;
            int larger = Math.max(FIRST_PART_BYTES, Math.max(2 * bytes.capacity(), needed));
            bytes.capacity(last ? largest : Math.min(larger, largest));
        }
    }
}
