package io.journalq.common.record;

import com.github.luben.zstd.ZstdDecompressCtx;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;

/**
 * Where batches are decompressed, one after the other. Memory that the allocator would not keep in its pool is kept here, as to
 * get, clear and give it back takes several times as long as to fill it. One thread at a time.
 */
public final class DecompressionRoom implements AutoCloseable {
    /** What a pooled allocator makes and frees each time, as it is larger than its chunks. */
    private static final int LARGE_BYTES = 4 << 20;

    private final ByteBufAllocator allocator;
    private final YieldPoint yieldPoint;
    private final int keptFromBytes;
    private final int keptToBytes;
    private ByteBuf kept;
    private ZstdDecompressCtx zstd;

    private DecompressionRoom(ByteBufAllocator allocator, YieldPoint yieldPoint, int keptFromBytes, int keptToBytes) {
        this.allocator = allocator;
        this.yieldPoint = yieldPoint;
        this.keptFromBytes = keptFromBytes;
        this.keptToBytes = keptToBytes;
    }

    /**
     * For batches of which any may be large: they are decompressed in pieces.
     *
     * @param yieldPoint passed after each piece
     */
    public static DecompressionRoom ofLarge(ByteBufAllocator allocator, YieldPoint yieldPoint) {
        return new DecompressionRoom(allocator, yieldPoint, LARGE_BYTES, Integer.MAX_VALUE);
    }

    /**
     * For one batch after the other of a few MiB at most: they are decompressed in one go. Memory of up to 4 MiB is kept: a
     * single MiB may be all that holds a chunk of the allocator's, which is else made and cleared for each batch.
     */
    public static DecompressionRoom ofSmall(ByteBufAllocator allocator) {
        return new DecompressionRoom(allocator, YieldPoint.NONE, 0, LARGE_BYTES);
    }

    /**
     * As {@link CompressionCodec#decompress}.
     *
     * @return the caller's to release, before this is used again
     */
    public ByteBuf decompress(CompressionCodec codec, ByteBuf source, int maxSizeBytes) {
        ByteBuf target = kept != null ? kept.clear() : codec.roomFor(source, maxSizeBytes, allocator);
        kept = null;
        boolean done = false;
        try {
            codec.decompress(source, target, maxSizeBytes, this);
            done = true;
            return target;
        } finally {
            if (target.capacity() >= keptFromBytes && target.capacity() <= keptToBytes) {
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

    boolean isInPieces() {
        return yieldPoint != YieldPoint.NONE;
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
