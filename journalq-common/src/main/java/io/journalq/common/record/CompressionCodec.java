package io.journalq.common.record;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;

/**
 * How a batch's records are compressed, with the ids of the batch attributes. Stateless to the caller; any thread.
 *
 * <p>{@link #decompress} is for bytes that nobody vouches for: what it allocates is bounded by the limit given and by
 * what that much input can produce, and whatever is wrong ends in {@link CorruptBatchException}.
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
    /** First guess at the result: so many times the input, or text's larger ratio while the room stays small. */
    private static final int FIRST_GUESS_RATIO = 4;

    private static final int TEXT_RATIO = 64;
    private static final int SMALL_ROOM_BYTES = 256 * 1024;
    private static final int SMALLEST_BUFFER_BYTES = 256;

    private final int id;

    CompressionCodec(int id) {
        this.id = id;
    }

    /** The codec of an id in a batch's attributes; null for one that is not assigned. */
    public static CompressionCodec of(int id) {
        return id >= 0 && id < BY_ID.length ? BY_ID[id] : null;
    }

    /** The id in a batch's attributes. */
    public int id() {
        return id;
    }

    /**
     * Appends the compressed form of the readable bytes of {@code source} to {@code target}, which grows as needed. The
     * indexes of {@code source} stay. Fastest with direct buffers of one piece.
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
     * The decompressed form of the readable bytes of {@code source}, whose indexes stay, in a new direct buffer that
     * the caller releases.
     *
     * @param maxSizeBytes largest result allowed
     * @throws CorruptBatchException when the bytes are bad or the result would be larger
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
     * About how large the result is, as told by the frames of {@code source} when all their blocks but the last are full;
     * enough to decide who decompresses it. 0 where the format tells nothing.
     *
     * @throws CorruptBatchException when the bytes are seen to be bad
     */
    long likelySizeBytes(ByteBuf source) {
        return 0;
    }

    /** A direct buffer for the first guess at the result. */
    ByteBuf roomFor(ByteBuf source, int maxSizeBytes, ByteBufAllocator allocator) {
        return allocator.directBuffer((int) Math.min(firstGuess(source.readableBytes()), Math.max(0, maxSizeBytes)));
    }

    /** Into a direct buffer that is empty. */
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

    static CorruptBatchException tooLarge(int maxSizeBytes) {
        return new DecompressedTooLargeException(maxSizeBytes);
    }

    /** The readable bytes as a direct buffer of one piece, with a reference of its own. */
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
