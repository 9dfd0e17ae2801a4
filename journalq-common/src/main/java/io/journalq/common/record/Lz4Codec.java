package io.journalq.common.record;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import net.jpountz.lz4.LZ4Compressor;
import net.jpountz.lz4.LZ4Exception;
import net.jpountz.lz4.LZ4Factory;
import net.jpountz.lz4.LZ4SafeDecompressor;
import net.jpountz.xxhash.XXHash32;
import net.jpountz.xxhash.XXHashFactory;

/**
 * The LZ4 frame format, implemented with the block functions of the library on direct buffers. This is two to five
 * times as fast as the library's streams. Writes independent blocks of 64 KiB without checksums, because the batch has
 * a CRC. Reads all valid frames except those with dependent blocks or dictionaries, which Kafka does not support
 * either.
 *
 * <p>Source: LZ4 Frame Format Description 1.6.
 */
final class Lz4Codec {
    private static final int FRAME_MAGIC = 0x184D2204;
    private static final int SKIPPABLE_MAGIC = 0x184D2A50;
    private static final int SKIPPABLE_MASK = 0xFFFFFFF0;
    private static final int VERSION_MASK = 0xC0;
    private static final int VERSION = 0x40;
    private static final int INDEPENDENT = 0x20;
    private static final int BLOCK_CHECKSUM = 0x10;
    private static final int CONTENT_SIZE = 0x08;
    private static final int CONTENT_CHECKSUM = 0x04;
    private static final int RESERVED_FLAGS = 0x02;
    private static final int DICTIONARY = 0x01;
    private static final int RESERVED_BLOCK_BITS = 0x8F;
    private static final int BLOCK_64_KIB = 0x40;
    private static final int STORED = 0x80000000;
    private static final int BLOCK_SIZE_BYTES = 64 * 1024;
    private static final int FRAME_HEADER_BYTES = 7;

    /** The maximum number of bytes that one byte of a sequence can produce. */
    private static final int MAX_RATIO = 255;

    private static final LZ4Factory LZ4 = LZ4Factory.fastestInstance();
    private static final LZ4Compressor COMPRESSOR = LZ4.fastCompressor();
    private static final LZ4SafeDecompressor DECOMPRESSOR = LZ4.safeDecompressor();
    private static final XXHash32 XXHASH = XXHashFactory.fastestInstance().hash32();
    private static final int WRITTEN_FLAGS = VERSION | INDEPENDENT;
    private static final int WRITTEN_HEADER_CHECKSUM =
            headerChecksum(XXHASH.hash(new byte[] {WRITTEN_FLAGS, BLOCK_64_KIB}, 0, 2, 0));

    private Lz4Codec() {}

    static void compress(ByteBuf source, ByteBuf target) {
        int left = source.readableBytes();
        int blocks = left / BLOCK_SIZE_BYTES + 1;
        int blockBoundBytes = COMPRESSOR.maxCompressedLength(BLOCK_SIZE_BYTES) - BLOCK_SIZE_BYTES;
        target.ensureWritable(FRAME_HEADER_BYTES + left + blocks * (blockBoundBytes + 4) + 4);
        target.writeIntLE(FRAME_MAGIC);
        target.writeByte(WRITTEN_FLAGS).writeByte(BLOCK_64_KIB).writeByte(WRITTEN_HEADER_CHECKSUM);
        ByteBuffer in = source.nioBuffer();
        ByteBuffer out = target.nioBuffer(target.writerIndex(), target.writableBytes());
        int from = 0;
        int to = 0;
        while (left > 0) {
            int sizeBytes = Math.min(left, BLOCK_SIZE_BYTES);
            int compressed = COMPRESSOR.compress(in, from, sizeBytes, out, to + 4, out.capacity() - to - 4);
            if (compressed >= sizeBytes) {
                out.put(to + 4, in, from, sizeBytes);
                putIntLittleEndian(out, to, sizeBytes | STORED);
                compressed = sizeBytes;
            } else {
                putIntLittleEndian(out, to, compressed);
            }
            to += 4 + compressed;
            from += sizeBytes;
            left -= sizeBytes;
        }
        target.writerIndex(target.writerIndex() + to).writeIntLE(0);
    }

    /** Reads the headers of the first frame without decoding it. Writers produce one frame. */
    static long likelySizeBytes(ByteBuf source) {
        ByteBuf in = source.slice();
        if (in.readableBytes() < FRAME_HEADER_BYTES || in.readIntLE() != FRAME_MAGIC) {
            return 0;
        }
        int flags = in.readUnsignedByte();
        int maxBlockBytes = maxBlockBytes(in.readUnsignedByte());
        skip(in, (flags & CONTENT_SIZE) != 0 ? 9 : 1);
        int blocks = 0;
        for (int block = readInt(in); block != 0; block = readInt(in)) {
            skip(in, block & ~STORED);
            skip(in, (flags & BLOCK_CHECKSUM) != 0 ? 4 : 0);
            blocks++;
        }
        return Math.max(0, blocks - 1) * (long) maxBlockBytes;
    }

    static void decompress(ByteBuf source, ByteBuf target, int maxSizeBytes, YieldPoint yieldPoint) {
        ByteBuf in = source.slice();
        if (!in.isReadable()) {
            throw new InvalidBatchException("lz4: no frame");
        }
        ByteBuffer bytes = in.nioBuffer(0, in.capacity());
        while (in.isReadable()) {
            int magic = readInt(in);
            if ((magic & SKIPPABLE_MASK) == SKIPPABLE_MAGIC) {
                skip(in, readInt(in));
            } else if (magic == FRAME_MAGIC) {
                readFrame(in, bytes, target, maxSizeBytes, yieldPoint);
            } else {
                throw new InvalidBatchException("lz4: wrong frame magic");
            }
        }
    }

    private static void readFrame(
            ByteBuf in, ByteBuffer bytes, ByteBuf target, int maxSizeBytes, YieldPoint yieldPoint) {
        int descriptor = in.readerIndex();
        need(in, 2);
        int flags = in.readUnsignedByte();
        int block = in.readUnsignedByte();
        if ((flags & VERSION_MASK) != VERSION || (flags & RESERVED_FLAGS) != 0 || (block & RESERVED_BLOCK_BITS) != 0) {
            throw new InvalidBatchException("lz4: frame descriptor of an unknown version");
        }
        if ((flags & INDEPENDENT) == 0 || (flags & DICTIONARY) != 0) {
            throw new InvalidBatchException("lz4: dependent blocks and dictionaries are not supported");
        }
        int maxBlockBytes = maxBlockBytes(block);
        long contentSizeBytes = -1;
        if ((flags & CONTENT_SIZE) != 0) {
            need(in, 8);
            contentSizeBytes = in.readLongLE();
        }
        need(in, 1);
        int hash = XXHASH.hash(bytes, descriptor, in.readerIndex() - descriptor, 0);
        if (in.readUnsignedByte() != headerChecksum(hash)) {
            throw new InvalidBatchException("lz4: wrong header checksum");
        }
        int contentStart = target.writerIndex();
        int blockBytes = readInt(in);
        while (blockBytes != 0) {
            readBlock(in, bytes, blockBytes, maxBlockBytes, target, maxSizeBytes);
            if ((flags & BLOCK_CHECKSUM) != 0) {
                int sizeBytes = blockBytes & ~STORED;
                hash = XXHASH.hash(bytes, in.readerIndex() - sizeBytes, sizeBytes, 0);
                if (readInt(in) != hash) {
                    throw new InvalidBatchException("lz4: wrong block checksum");
                }
            }
            blockBytes = readInt(in);
            yieldPoint.pass();
        }
        int writtenBytes = target.writerIndex() - contentStart;
        if (contentSizeBytes != -1 && contentSizeBytes != writtenBytes) {
            throw new InvalidBatchException("lz4: wrong content size");
        }
        if ((flags & CONTENT_CHECKSUM) != 0) {
            hash = XXHASH.hash(target.nioBuffer(contentStart, writtenBytes), 0, writtenBytes, 0);
            if (readInt(in) != hash) {
                throw new InvalidBatchException("lz4: wrong content checksum");
            }
        }
    }

    private static void readBlock(
            ByteBuf in, ByteBuffer bytes, int blockBytes, int maxBlockBytes, ByteBuf target, int maxSizeBytes) {
        int sizeBytes = blockBytes & ~STORED;
        need(in, sizeBytes);
        int roomBytes = maxSizeBytes - target.writerIndex();
        if ((blockBytes & STORED) != 0) {
            if (sizeBytes > maxBlockBytes || sizeBytes > roomBytes) {
                throw CompressionCodec.tooLarge(maxSizeBytes);
            }
            target.writeBytes(in, sizeBytes);
            return;
        }
        int limitBytes = (int) Math.min(Math.min(maxBlockBytes, roomBytes), (long) sizeBytes * MAX_RATIO);
        target.ensureWritable(limitBytes);
        try {
            int written = DECOMPRESSOR.decompress(
                    bytes,
                    in.readerIndex(),
                    sizeBytes,
                    target.nioBuffer(target.writerIndex(), limitBytes),
                    0,
                    limitBytes);
            target.writerIndex(target.writerIndex() + written);
        } catch (LZ4Exception e) {
            // The library does not report the reason. If there was less room than a block can need, the result is
            // assumed to be too large.
            throw roomBytes == limitBytes && roomBytes < maxBlockBytes
                    ? CompressionCodec.tooLarge(maxSizeBytes)
                    : new InvalidBatchException("lz4: invalid block");
        }
        in.skipBytes(sizeBytes);
    }

    private static int maxBlockBytes(int blockDescriptor) {
        int id = blockDescriptor >> 4 & 7;
        if (id < 4) {
            throw new InvalidBatchException("lz4: unknown block size");
        }
        return 1 << (8 + 2 * id);
    }

    private static int headerChecksum(int hash) {
        return (hash >> 8) & 0xFF;
    }

    private static int readInt(ByteBuf in) {
        need(in, 4);
        return in.readIntLE();
    }

    private static void skip(ByteBuf in, int sizeBytes) {
        need(in, sizeBytes);
        in.skipBytes(sizeBytes);
    }

    private static void need(ByteBuf in, int sizeBytes) {
        if (sizeBytes < 0 || in.readableBytes() < sizeBytes) {
            throw new InvalidBatchException("lz4: the frame is truncated");
        }
    }

    private static void putIntLittleEndian(ByteBuffer out, int index, int value) {
        out.putInt(index, Integer.reverseBytes(value));
    }
}
