package io.journalq.common.record;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/** The gzip format (RFC 1952), with reused deflaters and inflaters that work directly on direct buffers. */
final class GzipCodec {
    private static final int MAGIC = 0x1F8B;
    private static final int METHOD_DEFLATE = 8;
    private static final int FLAG_HEADER_CRC = 0x02;
    private static final int FLAG_EXTRA = 0x04;
    private static final int FLAG_NAME = 0x08;
    private static final int FLAG_COMMENT = 0x10;
    private static final int RESERVED_FLAGS = 0xE0;
    private static final int OPERATING_SYSTEM_UNKNOWN = 0xFF;
    private static final int TRAILER_BYTES = 8;
    private static final int STEP_BYTES = 16 * 1024;
    private static final int LARGEST_STEP_BYTES = 64 * 1024;

    private static final CodecPool<Deflater> DEFLATERS =
            new CodecPool<>(() -> new Deflater(Deflater.DEFAULT_COMPRESSION, true), Deflater::end);
    private static final CodecPool<Inflater> INFLATERS = new CodecPool<>(() -> new Inflater(true), Inflater::end);

    private GzipCodec() {}

    static void compress(ByteBuf source, ByteBuf target) {
        target.writeShort(MAGIC).writeByte(METHOD_DEFLATE).writeZero(6).writeByte(OPERATING_SYSTEM_UNKNOWN);
        CRC32 crc = new CRC32();
        crc.update(source.nioBuffer());
        Deflater deflater = DEFLATERS.take();
        deflater.setInput(source.nioBuffer());
        deflater.finish();
        while (!deflater.finished()) {
            target.ensureWritable(STEP_BYTES);
            int written = deflater.deflate(target.nioBuffer(target.writerIndex(), target.writableBytes()));
            target.writerIndex(target.writerIndex() + written);
        }
        deflater.reset();
        DEFLATERS.giveBack(deflater);
        target.writeIntLE((int) crc.getValue()).writeIntLE(source.readableBytes());
    }

    static void decompress(ByteBuf source, ByteBuf target, int maxSizeBytes, YieldPoint yieldPoint) {
        ByteBuf in = source.slice();
        Inflater inflater = INFLATERS.take();
        try {
            do {
                skipHeader(in);
                inflater.reset();
                inflate(inflater, in, target, maxSizeBytes, yieldPoint);
            } while (in.isReadable());
        } finally {
            inflater.reset();
            INFLATERS.giveBack(inflater);
        }
    }

    private static void inflate(
            Inflater inflater, ByteBuf in, ByteBuf target, int maxSizeBytes, YieldPoint yieldPoint) {
        int start = target.writerIndex();
        CRC32 crc = new CRC32();
        inflater.setInput(in.nioBuffer());
        try {
            while (!inflater.finished()) {
                int roomBytes = maxSizeBytes - target.writerIndex();
                // One byte more than the limit distinguishes "too large" from "exactly full and about to end".
                int stepBytes = (int) Math.min(
                        (long) roomBytes + 1,
                        Math.min(LARGEST_STEP_BYTES, Math.max(STEP_BYTES, target.writableBytes())));
                target.ensureWritable(stepBytes);
                ByteBuffer out = target.nioBuffer(target.writerIndex(), stepBytes);
                int written = inflater.inflate(out);
                if (written > roomBytes) {
                    throw CompressionCodec.tooLarge(maxSizeBytes);
                }
                if (written == 0 && !inflater.finished()) {
                    throw new InvalidBatchException("gzip: the data is truncated");
                }
                crc.update(out.flip());
                target.writerIndex(target.writerIndex() + written);
                yieldPoint.pass();
            }
        } catch (DataFormatException e) {
            throw new InvalidBatchException("gzip: invalid data");
        }
        in.readerIndex(in.writerIndex() - inflater.getRemaining());
        need(in, TRAILER_BYTES);
        if (in.readIntLE() != (int) crc.getValue() || in.readIntLE() != target.writerIndex() - start) {
            throw new InvalidBatchException("gzip: wrong checksum or size");
        }
    }

    private static void skipHeader(ByteBuf in) {
        need(in, 10);
        int magic = in.readUnsignedShort();
        int method = in.readUnsignedByte();
        int flags = in.readUnsignedByte();
        if (magic != MAGIC || method != METHOD_DEFLATE || (flags & RESERVED_FLAGS) != 0) {
            throw new InvalidBatchException("gzip: invalid header");
        }
        in.skipBytes(6);
        if ((flags & FLAG_EXTRA) != 0) {
            need(in, 2);
            int extraBytes = in.readUnsignedShortLE();
            need(in, extraBytes);
            in.skipBytes(extraBytes);
        }
        if ((flags & FLAG_NAME) != 0) {
            skipText(in);
        }
        if ((flags & FLAG_COMMENT) != 0) {
            skipText(in);
        }
        if ((flags & FLAG_HEADER_CRC) != 0) {
            need(in, 2);
            in.skipBytes(2);
        }
    }

    private static void skipText(ByteBuf in) {
        int sizeBytes = in.bytesBefore((byte) 0);
        need(in, sizeBytes < 0 ? Integer.MAX_VALUE : sizeBytes + 1);
        in.skipBytes(sizeBytes + 1);
    }

    private static void need(ByteBuf in, int sizeBytes) {
        if (in.readableBytes() < sizeBytes) {
            throw new InvalidBatchException("gzip: the data is truncated");
        }
    }
}
