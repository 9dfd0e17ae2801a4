package io.journalq.common.record;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** CRC-32C (Castagnoli, RFC 3720) of a range of a buffer. Stateless; any thread. */
public final class Crc32c {
    private Crc32c() {}

    /**
     * Returns the checksum of {@code length} bytes from {@code index}. The buffer can be direct, on the heap, or
     * composite. Does not change its indexes.
     *
     * @throws IndexOutOfBoundsException if the range is not within the buffer
     */
    public static int compute(ByteBuf buffer, int index, int length) {
        CRC32C crc = new CRC32C();
        if (buffer.hasArray()) {
            if ((index | length | (buffer.capacity() - index - length)) < 0) {
                throw new IndexOutOfBoundsException("checksum of bytes outside the buffer");
            }
            crc.update(buffer.array(), buffer.arrayOffset() + index, length);
        } else if (buffer.nioBufferCount() == 1) {
            // Not internalNioBuffer, because it is shared by the slices of a frame, which several threads check.
            crc.update(buffer.nioBuffer(index, length));
        } else {
            for (ByteBuffer part : buffer.nioBuffers(index, length)) {
                crc.update(part);
            }
        }
        return (int) crc.getValue();
    }

    /** Returns the expected checksum of the batch of {@code sizeBytes} at {@code index}. */
    static int ofBatch(ByteBuf buffer, int index, int sizeBytes) {
        return compute(buffer, index + RecordBatch.ATTRIBUTES, sizeBytes - RecordBatch.ATTRIBUTES);
    }
}
