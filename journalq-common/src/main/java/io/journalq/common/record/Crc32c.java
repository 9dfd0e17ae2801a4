package io.journalq.common.record;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** CRC-32C (Castagnoli, RFC 3720) of a stretch of a buffer. Stateless, any thread. */
public final class Crc32c {
    private Crc32c() {}

    /**
     * The checksum of {@code length} bytes from {@code index}, for direct, heap and composite buffers alike. Leaves the
     * buffer's indexes alone.
     *
     * @throws IndexOutOfBoundsException when the stretch does not lie in the buffer
     */
    public static int compute(ByteBuf buffer, int index, int length) {
        CRC32C crc = new CRC32C();
        if (buffer.hasArray()) {
            if ((index | length | (buffer.capacity() - index - length)) < 0) {
                throw new IndexOutOfBoundsException("checksum of bytes outside the buffer");
            }
            crc.update(buffer.array(), buffer.arrayOffset() + index, length);
        } else if (buffer.nioBufferCount() == 1) {
            // Not internalNioBuffer: slices of one frame are checked by several threads, and it is shared by them all.
            crc.update(buffer.nioBuffer(index, length));
        } else {
            for (ByteBuffer part : buffer.nioBuffers(index, length)) {
                crc.update(part);
            }
        }
        return (int) crc.getValue();
    }

    /** The checksum that the batch of {@code sizeBytes} at {@code index} should carry. */
    static int ofBatch(ByteBuf buffer, int index, int sizeBytes) {
        return compute(buffer, index + RecordBatch.ATTRIBUTES, sizeBytes - RecordBatch.ATTRIBUTES);
    }
}
