package io.journalq.common.record;

import com.github.luben.zstd.ZstdDecompressCtx;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;

/**
 * Where large batches are decompressed, one after the other, in pieces. What is larger than the allocator keeps in its pool
 * is kept here, as to get, clear and give back so much memory takes several times as long as to fill it. One thread at a time.
 */
public final class DecompressionRoom implements AutoCloseable {
    /** What a pooled allocator makes and frees each time, as it is larger than its chunks. */
    private static final int KEPT_FROM_BYTES = 4 << 20;

    private final ByteBufAllocator allocator;
    private final YieldPoint yieldPoint;
    private ByteBuf kept;
    private ZstdDecompressCtx zstd;

    /** @param yieldPoint passed after each piece */
    public DecompressionRoom(ByteBufAllocator allocator, YieldPoint yieldPoint) {
        this.allocator = allocator;
        this.yieldPoint = yieldPoint;
    }

    /**
     * As {@link CompressionCodec#decompress}, but in pieces.
     *
     * @return the caller's to release, before this is used again
     */
    public ByteBuf decompress(CompressionCodec codec, ByteBuf source, int maxSizeBytes) {
        ByteBuf target = kept != null ? kept.clear() : codec.roomFor(source, maxSizeBytes, allocator);
        kept = null;
        boolean done = false;
        try {
            codec.decompressInPieces(source, target, maxSizeBytes, this);
            done = true;
            return target;
        } finally {
            if (target.capacity() >= KEPT_FROM_BYTES) {
                kept = target.retain();
            }
            if (!done) {
                target.release();
            }
        }
    }

    YieldPoint yieldPoint() {
        return yieldPoint;
    }

    /** For streams: it comes to hold a frame's window, as those of the pool must not. */
    ZstdDecompressCtx zstd() {
        if (zstd == null) {
            zstd = new ZstdDecompressCtx();
        }
        zstd.reset();
        return zstd;
    }

    /** Gives back what is kept. It may be used again. */
    @Override
    public void close() {
        if (kept != null) {
            kept.release();
            kept = null;
        }
        if (zstd != null) {
            zstd.close();
            zstd = null;
        }
    }
}
