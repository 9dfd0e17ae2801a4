package io.journalq.common.record;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import org.xerial.snappy.Snappy;

/**
 * Snappy in the two forms that Kafka clients use: the framed stream of the xerial library (Java), and one raw block
 * (others). Writes the framed stream, reads both.
 */
final class SnappyCodec {
    /** The bytes 0x82 "SNAPPY" 0x00, followed by the version of the stream and the lowest compatible version. */
    private static final long STREAM_MAGIC = 0x82534E4150505900L;

    private static final int STREAM_MAGIC_START = (int) (STREAM_MAGIC >>> 32);
    private static final int STREAM_HEADER_BYTES = 16;
    private static final int STREAM_VERSION = 1;
    private static final int BLOCK_SIZE_BYTES = 32 * 1024;

    /** The element with the highest ratio is a copy, which produces 64 bytes from three. */
    private static final int MAX_RATIO = 22;

    private SnappyCodec() {}

    static void compress(ByteBuf source, ByteBuf target) {
        target.writeLong(STREAM_MAGIC).writeInt(STREAM_VERSION).writeInt(STREAM_VERSION);
        int end = source.writerIndex();
        int blockBoundBytes = Snappy.maxCompressedLength(BLOCK_SIZE_BYTES);
        for (int from = source.readerIndex(); from < end; from += BLOCK_SIZE_BYTES) {
            int sizeBytes = Math.min(BLOCK_SIZE_BYTES, end - from);
            target.ensureWritable(4 + blockBoundBytes);
            int at = target.writerIndex();
            try {
                int compressed =
                        Snappy.compress(source.nioBuffer(from, sizeBytes), target.nioBuffer(at + 4, blockBoundBytes));
                target.setInt(at, compressed).writerIndex(at + 4 + compressed);
            } catch (IOException e) {
                throw new UncheckedIOException("snappy rejected valid input", e);
            }
        }
    }

    static void decompress(ByteBuf source, ByteBuf target, int maxSizeBytes, YieldPoint yieldPoint) {
        ByteBuf in = source.slice();
        if (in.readableBytes() < STREAM_HEADER_BYTES || in.getLong(0) != STREAM_MAGIC) {
            readBlock(in, in.readableBytes(), target, maxSizeBytes);
            return;
        }
        in.skipBytes(STREAM_HEADER_BYTES);
        while (in.isReadable()) {
            if (in.readableBytes() < 4) {
                throw new InvalidBatchException("snappy: the stream is truncated");
            }
            int blockBytes = in.readInt();
            if (blockBytes == STREAM_MAGIC_START && in.readableBytes() >= STREAM_HEADER_BYTES - 4) {
                in.skipBytes(STREAM_HEADER_BYTES - 4);
            } else if (blockBytes < 0 || blockBytes > in.readableBytes()) {
                throw new InvalidBatchException("snappy: a block is truncated");
            } else {
                readBlock(in, blockBytes, target, maxSizeBytes);
                yieldPoint.pass();
            }
        }
    }

    private static void readBlock(ByteBuf in, int blockBytes, ByteBuf target, int maxSizeBytes) {
        if (blockBytes == 0) {
            throw new InvalidBatchException("snappy: empty block");
        }
        ByteBuffer block = in.nioBuffer(in.readerIndex(), blockBytes);
        try {
            int sizeBytes = Snappy.uncompressedLength(block);
            if (sizeBytes < 0 || sizeBytes > (long) blockBytes * MAX_RATIO) {
                throw new InvalidBatchException("snappy: a block claims a larger size than possible");
            }
            if (sizeBytes > maxSizeBytes - target.writerIndex()) {
                throw CompressionCodec.tooLarge(maxSizeBytes);
            }
            // The native code trusts the size in the block, so exactly that much room must be available.
            target.ensureWritable(sizeBytes);
            if (!Snappy.isValidCompressedBuffer(block)) {
                throw new InvalidBatchException("snappy: invalid block");
            }
            if (sizeBytes > 0) {
                Snappy.uncompress(block, target.nioBuffer(target.writerIndex(), sizeBytes));
            }
            target.writerIndex(target.writerIndex() + sizeBytes);
        } catch (IOException e) {
            throw new InvalidBatchException("snappy: invalid block");
        }
        in.skipBytes(blockBytes);
    }
}
