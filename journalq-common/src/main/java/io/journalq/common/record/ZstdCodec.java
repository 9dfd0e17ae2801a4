package io.journalq.common.record;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdCompressCtx;
import com.github.luben.zstd.ZstdDecompressCtx;
import com.github.luben.zstd.ZstdException;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;

/**
 * Zstandard frames, compressed and decompressed in one call on direct buffers. Only large data is decompressed as a
 * stream, because a stream first allocates the window that the frame claims, up to 128 MiB. Most frames of other
 * clients do not contain their size, so the output grows and the call is repeated until the result fits.
 */
final class ZstdCodec {
    private static final int LEVEL = 3;
    private static final int GROWTH = 4;
    private static final int PIECE_BYTES = 128 * 1024;
    private static final int MAX_BLOCK_BYTES = 128 * 1024;

    /** The streaming readers of other clients reject larger windows, so such a batch would block their consumers. */
    private static final int MAX_WINDOW_BYTES = 1 << 27;

    private static final int FRAME_MAGIC = 0xFD2FB528;
    private static final int SKIPPABLE_MAGIC = 0x184D2A50;
    private static final int SKIPPABLE_MASK = 0xFFFFFFF0;
    private static final int BLOCK_HEADER_BYTES = 3;
    private static final int BLOCK_TYPE_REPEAT = 1;
    private static final int[] DICTIONARY_ID_BYTES = {0, 1, 2, 4};
    private static final int[] CONTENT_SIZE_BYTES = {0, 2, 4, 8};

    private static final CodecPool<ZstdCompressCtx> COMPRESSORS =
            new CodecPool<>(() -> new ZstdCompressCtx().setLevel(LEVEL), ZstdCompressCtx::close);
    private static final CodecPool<ZstdDecompressCtx> DECOMPRESSORS =
            new CodecPool<>(ZstdDecompressCtx::new, ZstdDecompressCtx::close);

    private ZstdCodec() {}

    static void compress(ByteBuf source, ByteBuf target) {
        int sizeBytes = source.readableBytes();
        int boundBytes = Math.toIntExact(Zstd.compressBound(sizeBytes));
        target.ensureWritable(boundBytes);
        int at = target.writerIndex();
        ZstdCompressCtx context = COMPRESSORS.take();
        int compressed;
        try {
            compressed = context.compressDirectByteBuffer(
                    target.nioBuffer(at, boundBytes), 0, boundBytes, source.nioBuffer(), 0, sizeBytes);
        } catch (ZstdException e) {
            COMPRESSORS.discard(context);
            throw e;
        }
        COMPRESSORS.giveBack(context);
        target.writerIndex(at + compressed);
    }

    static void decompress(ByteBuf source, ByteBuf target, int maxSizeBytes) {
        ByteBuffer in = checked(source);
        int roomBytes = Math.min(target.writableBytes(), maxSizeBytes);
        while (!decompressInto(in, target, roomBytes)) {
            if (roomBytes >= maxSizeBytes) {
                throw CompressionCodec.tooLarge(maxSizeBytes);
            }
            roomBytes = (int) Math.min(maxSizeBytes, (long) roomBytes * GROWTH);
            target.ensureWritable(roomBytes);
        }
    }

    /** Decompresses in one call if the result is small, otherwise in pieces. */
    static void decompressInPieces(ByteBuf source, ByteBuf target, int maxSizeBytes, DecompressionRoom room) {
        ByteBuffer in = checked(source);
        int pieceBytes = Math.min(PIECE_BYTES, maxSizeBytes);
        target.ensureWritable(pieceBytes);
        if (!decompressInto(in, target, pieceBytes)) {
            stream(in, target, maxSizeBytes, room);
        }
    }

    private static void stream(ByteBuffer in, ByteBuf target, int maxSizeBytes, DecompressionRoom room) {
        ZstdDecompressCtx context = room.zstd();
        try {
            boolean frameEnds = false;
            while (in.hasRemaining() || !frameEnds) {
                int roomBytes = maxSizeBytes - target.writerIndex();
                // One byte more than the limit distinguishes "too large" from "exactly full and about to end".
                int pieceBytes = (int) Math.min((long) roomBytes + 1, PIECE_BYTES);
                target.ensureWritable(pieceBytes);
                ByteBuffer out = target.nioBuffer(target.writerIndex(), pieceBytes);
                int from = in.position();
                frameEnds = context.decompressDirectByteBufferStream(out, in);
                if (out.position() > roomBytes) {
                    throw CompressionCodec.tooLarge(maxSizeBytes);
                }
                if (out.position() == 0 && in.position() == from) {
                    throw new InvalidBatchException("zstd: the frame is truncated");
                }
                target.writerIndex(target.writerIndex() + out.position());
                room.yieldPoint().pass();
            }
        } catch (ZstdException e) {
            throw new InvalidBatchException("zstd: invalid frame");
        }
    }

    /** Returns the frames, after checking that their windows are not too large. */
    private static ByteBuffer checked(ByteBuf source) {
        if (!source.isReadable()) {
            throw new InvalidBatchException("zstd: no frame");
        }
        likelySizeBytes(source);
        return source.nioBuffer();
    }

    /** Returns false if the output does not fit. */
    private static boolean decompressInto(ByteBuffer in, ByteBuf target, int roomBytes) {
        ZstdDecompressCtx context = DECOMPRESSORS.take();
        try {
            int written = context.decompressDirectByteBuffer(
                    target.nioBuffer(0, roomBytes), 0, roomBytes, in, 0, in.remaining());
            target.writerIndex(written);
            return true;
        } catch (ZstdException e) {
            if (e.getErrorCode() == Zstd.errDstSizeTooSmall()) {
                return false;
            }
            throw new InvalidBatchException("zstd: invalid frame");
        } finally {
            // Each call first resets the context, so a context that has processed invalid bytes can be reused.
            DECOMPRESSORS.giveBack(context);
        }
    }

    /**
     * Reads the headers of the frames (RFC 8878) without decoding them, and checks that their windows are not too
     * large.
     */
    static long likelySizeBytes(ByteBuf source) {
        ByteBuf in = source.slice();
        long sizeBytes = 0;
        while (in.isReadable()) {
            need(in, 4);
            int magic = in.readIntLE();
            if ((magic & SKIPPABLE_MASK) == SKIPPABLE_MAGIC) {
                need(in, 4);
                skip(in, in.readIntLE());
            } else if (magic == FRAME_MAGIC) {
                sizeBytes += likelyFrameSizeBytes(in);
            } else {
                throw new InvalidBatchException("zstd: wrong frame magic");
            }
        }
        return sizeBytes;
    }

    private static long likelyFrameSizeBytes(ByteBuf in) {
        need(in, 2);
        int descriptor = in.readUnsignedByte();
        boolean singleSegment = (descriptor & 0x20) != 0;
        boolean checksum = (descriptor & 0x04) != 0;
        if (!singleSegment) {
            int window = in.readUnsignedByte();
            long baseBytes = 1L << (10 + (window >> 3));
            if (baseBytes + baseBytes / 8 * (window & 7) > MAX_WINDOW_BYTES) {
                throw new InvalidBatchException("zstd: window larger than " + MAX_WINDOW_BYTES + " bytes");
            }
        }
        int contentSizeBytes = descriptor >> 6 == 0 && singleSegment ? 1 : CONTENT_SIZE_BYTES[descriptor >> 6];
        skip(in, DICTIONARY_ID_BYTES[descriptor & 3] + contentSizeBytes);
        int blocks = 0;
        boolean last = false;
        while (!last) {
            need(in, BLOCK_HEADER_BYTES);
            int block = in.readUnsignedMediumLE();
            last = (block & 1) != 0;
            int sizeBytes = block >> 3;
            skip(in, (block >> 1 & 3) == BLOCK_TYPE_REPEAT ? 1 : sizeBytes);
            // Streaming writers end with an empty block.
            blocks += sizeBytes == 0 ? 0 : 1;
        }
        skip(in, checksum ? 4 : 0);
        return Math.max(0, blocks - 1) * (long) MAX_BLOCK_BYTES;
    }

    private static void skip(ByteBuf in, int sizeBytes) {
        need(in, sizeBytes);
        in.skipBytes(sizeBytes);
    }

    private static void need(ByteBuf in, int sizeBytes) {
        if (sizeBytes < 0 || in.readableBytes() < sizeBytes) {
            throw new InvalidBatchException("zstd: the frame is truncated");
        }
    }
}
