package io.journalq.common.record;

import com.github.luben.zstd.ZstdDecompressCtx;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;

/**
 * Decompresses batches one after the other, and keeps the memory that the allocator would not keep in its pool.
 * Allocating, clearing and freeing that memory takes several times as long as filling it. One thread at a time.
 */
public final class DecompressionRoom implements AutoCloseable {
    /**
     * A pooled allocator allocates and frees buffers of this size each time, because they are larger than its chunks.
     */
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
     * Creates a room for batches of any size, which are decompressed in pieces.
     *
     * @param yieldPoint called after each piece
     */
    public static DecompressionRoom ofLarge(ByteBufAllocator allocator, YieldPoint yieldPoint) {
        return new DecompressionRoom(allocator, yieldPoint, LARGE_BYTES, Integer.MAX_VALUE);
    }

    /**
     * Creates a room for batches of a few MiB, each decompressed in one call. Keeps up to 4 MiB: otherwise 1 MiB can
     * occupy a whole chunk of the allocator, which is allocated and cleared for each batch.
     */
    public static DecompressionRoom ofSmall(ByteBufAllocator allocator) {
        return new DecompressionRoom(allocator, YieldPoint.NONE, 0, LARGE_BYTES);
    }

    /**
     * See {@link CompressionCodec#decompress}.
     *
     * @return the decompressed bytes; the caller releases them before the next call
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

    /** The context for streams. It keeps the window of a frame, which contexts in the pool must not. */
    ZstdDecompressCtx zstd() {
        if (zstd == null) {
            zstd = new ZstdDecompressCtx();
        }
        zstd.reset();
        return zstd;
    }

    /** Releases the memory. The room can be used again. */
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
