package io.journalq.fuzz;

import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.DecompressionRoom;
import io.journalq.common.record.InvalidBatchException;
import io.journalq.common.record.YieldPoint;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.UnaryOperator;

/** Decompression of every codec, and that it gives back what was compressed. First byte: the codec; then the bytes. */
final class CodecTarget implements FuzzTarget {
    private static final int LIMIT_BYTES = 1 << 20;

    private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true, true);

    @Override
    public String name() {
        return "codecs";
    }

    @Override
    public List<byte[]> seeds() {
        List<byte[]> seeds = new ArrayList<>();
        for (CompressionCodec codec : CompressionCodec.values()) {
            for (int sizeBytes : new int[] {0, 10, 300, 200_000}) {
                byte[] text = new byte[sizeBytes];
                for (int i = 0; i < sizeBytes; i++) {
                    text[i] = (byte) (i % 7 * (i % 11));
                }
                byte[] compressed = compress(codec, text);
                byte[] seed = new byte[1 + compressed.length];
                seed[0] = (byte) codec.id();
                System.arraycopy(compressed, 0, seed, 1, compressed.length);
                if (seed.length < maxInputSizeBytes()) {
                    seeds.add(seed);
                }
            }
        }
        return seeds;
    }

    @Override
    public void run(byte[] input) {
        if (input.length == 0) {
            return;
        }
        CompressionCodec codec = CompressionCodec.of(input[0]);
        if (codec == null) {
            return;
        }
        byte[] rest = Arrays.copyOfRange(input, 1, input.length);
        if (!Arrays.equals(decompress(codec, rest), decompressInPieces(codec, rest))) {
            throw new AssertionError(codec + " reads in pieces what it does not in one go, or the other way round");
        }
        if (!Arrays.equals(rest, decompress(codec, compress(codec, rest)))) {
            throw new AssertionError(codec + " does not give back what it was given");
        }
        long leakedBytes =
                allocator.metric().usedDirectMemory() + allocator.metric().usedHeapMemory();
        if (leakedBytes != 0) {
            throw new AssertionError(leakedBytes + " bytes are not given back");
        }
    }

    private byte[] compress(CompressionCodec codec, byte[] bytes) {
        ByteBuf out = allocator.directBuffer();
        ByteBuf in = allocator.directBuffer().writeBytes(bytes);
        try {
            codec.compress(in, out);
            return copy(out);
        } finally {
            in.release();
            out.release();
        }
    }

    private byte[] decompress(CompressionCodec codec, byte[] bytes) {
        return decompress(bytes, in -> codec.decompress(in, LIMIT_BYTES, allocator));
    }

    private byte[] decompressInPieces(CompressionCodec codec, byte[] bytes) {
        try (DecompressionRoom room = DecompressionRoom.ofLarge(allocator, YieldPoint.PROCESSOR)) {
            return decompress(bytes, in -> room.decompress(codec, in, LIMIT_BYTES));
        }
    }

    /** Null when the bytes are bad. */
    private byte[] decompress(byte[] bytes, UnaryOperator<ByteBuf> decompression) {
        ByteBuf in = allocator.heapBuffer().writeBytes(bytes);
        try {
            ByteBuf out = decompression.apply(in);
            try {
                if (out.readableBytes() > LIMIT_BYTES) {
                    throw new AssertionError("more than the limit");
                }
                return copy(out);
            } finally {
                out.release();
            }
        } catch (InvalidBatchException bad) {
            return null;
        } finally {
            in.release();
        }
    }

    private static byte[] copy(ByteBuf bytes) {
        byte[] copy = new byte[bytes.readableBytes()];
        bytes.getBytes(bytes.readerIndex(), copy);
        return copy;
    }

    /** The copies here, which may be as large as the limit; the direct memory is bounded by the process. */
    @Override
    public long maxAllocatedBytes(int inputSizeBytes) {
        return 3L * LIMIT_BYTES + 20L * inputSizeBytes;
    }
}
