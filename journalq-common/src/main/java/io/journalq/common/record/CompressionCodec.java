package io.journalq.common.record;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;

/**
 * A compression codec for the records of a batch, with its id in the batch attributes. Stateless for callers; any
 * thread.
 *
 * <p>{@link #decompress} is safe for untrusted bytes: its allocation is bounded by the given limit and by the maximum
 * output for the size of the input, and all errors result in {@link InvalidBatchException}.
 */
public enum CompressionCodec {
    NONE(0) {
        @Override
        void compressDirect(ByteBuf source, ByteBuf target) {
            target.writeBytes(source, source.readerIndex(), source.readableBytes());
        }

        @Override
        void decompressDirect(ByteBuf source, ByteBuf target, int maxSizeBytes, YieldPoint yieldPoint) {
            if (source.readableBytes() > maxSizeBytes) {
                throw tooLarge(maxSizeBytes);
            }
            target.writeBytes(source, source.readerIndex(), source.readableBytes());
        }
    },
    GZIP(1) {
        @Override
        void compressDirect(ByteBuf source, ByteBuf target) {
            GzipCodec.compress(source, target);
        }

        @Override
        void decompressDirect(ByteBuf source, ByteBuf target, int maxSizeBytes, YieldPoint yieldPoint) {
            GzipCodec.decompress(source, target, maxSizeBytes, yieldPoint);
        }
    },
    SNAPPY(2) {
        @Override
        void compressDirect(ByteBuf source, ByteBuf target) {
            SnappyCodec.compress(source, target);
        }

        @Override
        void decompressDirect(ByteBuf source, ByteBuf target, int maxSizeBytes, YieldPoint yieldPoint) {
            SnappyCodec.decompress(source, target, maxSizeBytes, yieldPoint);
        }
    },
    LZ4(3) {
        @Override
        void compressDirect(ByteBuf source, ByteBuf target) {
            Lz4Codec.compress(source, target);
        }

        @Override
        long likelySizeBytes(ByteBuf source) {
            return Lz4Codec.likelySizeBytes(source);
        }

        @Override
        void decompressDirect(ByteBuf source, ByteBuf target, int maxSizeBytes, YieldPoint yieldPoint) {
            Lz4Codec.decompress(source, target, maxSizeBytes, yieldPoint);
        }
    },
    ZSTD(4) {
        @Override
        void compressDirect(ByteBuf source, ByteBuf target) {
            ZstdCodec.compress(source, target);
        }

        @Override
        long likelySizeBytes(ByteBuf source) {
            return ZstdCodec.likelySizeBytes(source);
        }

        @Override
        void decompressDirect(ByteBuf source, ByteBuf target, int maxSizeBytes, YieldPoint yieldPoint) {
            ZstdCodec.decompress(source, target, maxSizeBytes);
        }

        @Override
        void decompressDirect(ByteBuf source, ByteBuf target, int maxSizeBytes, DecompressionRoom room) {
            if (room.isInPieces()) {
                ZstdCodec.decompressInPieces(source, target, maxSizeBytes, room);
            } else {
                ZstdCodec.decompress(source, target, maxSizeBytes);
            }
        }
    };

    private static final CompressionCodec[] BY_ID = values();
    /**
     * The first estimate of the decompressed size, as a multiple of the input. The higher ratio of text is used while
     * that is small.
     */
    private static final int FIRST_GUESS_RATIO = 4;

    private static final int TEXT_RATIO = 64;
    private static final int SMALL_ROOM_BYTES = 256 * 1024;
    private static final int SMALLEST_BUFFER_BYTES = 256;

    private final int id;

    CompressionCodec(int id) {
        this.id = id;
    }

    /** Returns the codec with this id in the batch attributes, or null if there is none. */
    public static CompressionCodec of(int id) {
        return id >= 0 && id < BY_ID.length ? BY_ID[id] : null;
    }

    /** The id in the batch attributes. */
    public int id() {
        return id;
    }

    /**
     * Appends the compressed form of the readable bytes of {@code source} to {@code target}, which grows as needed.
     * Does not change the indexes of {@code source}. Contiguous direct buffers are fastest.
     */
    public void compress(ByteBuf source, ByteBuf target) {
        ByteBuf input = asDirect(source);
        try {
            if (isDirectPiece(target)) {
                compressDirect(input, target);
                return;
            }
            ByteBuf output = target.alloc().directBuffer();
            try {
                compressDirect(input, output);
                target.writeBytes(output);
            } finally {
                output.release();
            }
        } finally {
            input.release();
        }
    }

    /**
     * Decompresses the readable bytes of {@code source} to a new direct buffer, which the caller releases. Does not
     * change the indexes of {@code source}.
     *
     * @param maxSizeBytes the maximum size of the result
     * @throws InvalidBatchException if the bytes are invalid or the result would be larger
     */
    public ByteBuf decompress(ByteBuf source, int maxSizeBytes, ByteBufAllocator allocator) {
        ByteBuf input = asDirect(source);
        ByteBuf output = null;
        try {
            output = roomFor(input, maxSizeBytes, allocator);
            decompressDirect(input, output, maxSizeBytes, YieldPoint.NONE);
            ByteBuf result = output;
            output = null;
            return result;
        } finally {
            input.release();
            if (output != null) {
                output.release();
            }
        }
    }

    /**
     * Returns the approximate size of the result, computed from the frames of {@code source} under the assumption that
     * all blocks but the last are full. Returns 0 if the format does not tell. It is used to decide which thread
     * decompresses.
     *
     * @throws InvalidBatchException if the bytes are recognized as invalid
     */
    long likelySizeBytes(ByteBuf source) {
        return 0;
    }

    /** Returns a direct buffer of the estimated size of the result. */
    ByteBuf roomFor(ByteBuf source, int maxSizeBytes, ByteBufAllocator allocator) {
        return allocator.directBuffer((int) Math.min(firstGuess(source.readableBytes()), Math.max(0, maxSizeBytes)));
    }

    /** Decompresses into an empty direct buffer. */
    void decompress(ByteBuf source, ByteBuf target, int maxSizeBytes, DecompressionRoom room) {
        ByteBuf input = asDirect(source);
        try {
            decompressDirect(input, target, maxSizeBytes, room);
        } finally {
            input.release();
        }
    }

    abstract void compressDirect(ByteBuf source, ByteBuf target);

    abstract void decompressDirect(ByteBuf source, ByteBuf target, int maxSizeBytes, YieldPoint yieldPoint);

    void decompressDirect(ByteBuf source, ByteBuf target, int maxSizeBytes, DecompressionRoom room) {
        decompressDirect(source, target, maxSizeBytes, room.yieldPoint());
    }

    private static long firstGuess(long inputBytes) {
        long text = Math.min(inputBytes * TEXT_RATIO, SMALL_ROOM_BYTES);
        return Math.max(SMALLEST_BUFFER_BYTES, Math.max(inputBytes * FIRST_GUESS_RATIO, text));
    }

    static InvalidBatchException tooLarge(int maxSizeBytes) {
        return new InvalidBatchException.DecompressedTooLargeException(maxSizeBytes);
    }

    /** Returns the readable bytes as a contiguous direct buffer with its own reference. */
    private static ByteBuf asDirect(ByteBuf source) {
        if (isDirectPiece(source)) {
            return source.retain();
        }
        int sizeBytes = source.readableBytes();
        return source.alloc().directBuffer(sizeBytes).writeBytes(source, source.readerIndex(), sizeBytes);
    }

    private static boolean isDirectPiece(ByteBuf buffer) {
        return buffer.isDirect() && buffer.nioBufferCount() == 1;
    }
}
