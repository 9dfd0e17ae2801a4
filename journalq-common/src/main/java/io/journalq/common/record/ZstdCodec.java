package io.journalq.common.record;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdCompressCtx;
import com.github.luben.zstd.ZstdDecompressCtx;
import com.github.luben.zstd.ZstdException;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;

/**
 * Zstandard frames, in one call between direct buffers. Not streamed when reading: a stream first allocates the window
 * that the frame's header claims, up to 128 MiB, while one call works in the output alone. Most frames of other clients
 * do not tell their size, so the output grows and the call is repeated until it fits.
 */
final class ZstdCodec {
    private static final int LEVEL = 3;
    private static final int GROWTH = 4;

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
        int sizeBytes = source.readableBytes();
        if (sizeBytes == 0) {
            throw new CorruptBatchException("zstd: no frame");
        }
        ByteBuffer in = source.nioBuffer();
        ZstdDecompressCtx context = DECOMPRESSORS.take();
        try {
            int roomBytes = Math.min(target.writableBytes(), maxSizeBytes);
            while (!decompressInto(context, in, sizeBytes, target, roomBytes)) {
                if (roomBytes >= maxSizeBytes) {
                    throw CompressionCodec.tooLarge(maxSizeBytes);
                }
                roomBytes = (int) Math.min(maxSizeBytes, (long) roomBytes * GROWTH);
                target.ensureWritable(roomBytes);
            }
        } finally {
            // Every call starts by resetting the context, so one that met bad bytes is as good as new.
            DECOMPRESSORS.giveBack(context);
        }
    }

    /** False when the output does not fit. */
    private static boolean decompressInto(
            ZstdDecompressCtx context, ByteBuffer in, int sizeBytes, ByteBuf target, int roomBytes) {
        try {
            int written =
                    context.decompressDirectByteBuffer(target.nioBuffer(0, roomBytes), 0, roomBytes, in, 0, sizeBytes);
            target.writerIndex(written);
            return true;
        } catch (ZstdException e) {
            if (e.getErrorCode() == Zstd.errDstSizeTooSmall()) {
                return false;
            }
            throw new CorruptBatchException("zstd: bad frame");
        }
    }
}
