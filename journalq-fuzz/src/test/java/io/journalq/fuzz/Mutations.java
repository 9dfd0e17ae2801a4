package io.journalq.fuzz;

import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** Changes inputs as a fuzzer does, but without looking at what they do: the same for the same seed. */
final class Mutations {
    private static final int MOST_CHANGES = 4;

    /** What a count, a length or a variable-length number may claim. */
    private static final byte[][] LIES = {
        {0x7F, -1, -1, -1},
        {-1, -1, -1, -1},
        {-1, -1, -1, -2},
        {(byte) 0x80, 0, 0, 0},
        {0, 0, 0x10, 0},
        {0x7F, -1, -1, -1, -1, -1, -1, -1},
        {(byte) 0x80, 0, 0, 0, 0, 0, 0, 0},
        {-1, -1, -1, -1, 0x07},
        {0x7F, -1},
        {-1, 0x7F},
        {0, 0},
        {0x7F},
        {1},
    };

    private final Random random;
    private final List<byte[]> inputs;

    Mutations(long seed, List<byte[]> inputs) {
        this.random = new Random(seed);
        this.inputs = inputs;
    }

    /** The next input. */
    byte[] next() {
        byte[] input = any().clone();
        for (int left = 1 + random.nextInt(MOST_CHANGES); left > 0; left--) {
            input = change(input);
        }
        return input;
    }

    private byte[] any() {
        return inputs.get(random.nextInt(inputs.size()));
    }

    private byte[] change(byte[] input) {
        int at = random.nextInt(input.length + 1);
        return switch (random.nextInt(6)) {
            case 0 -> Arrays.copyOf(input, at);
            case 1 -> join(Arrays.copyOf(input, at), any());
            case 2 -> without(input, random.nextInt(at + 1), at);
            case 3 -> lie(input, at);
            default -> flip(input, at);
        };
    }

    private static byte[] without(byte[] input, int from, int to) {
        return join(Arrays.copyOf(input, from), Arrays.copyOfRange(input, to, input.length));
    }

    private byte[] lie(byte[] input, int at) {
        byte[] lie = LIES[random.nextInt(LIES.length)];
        System.arraycopy(lie, 0, input, at, Math.min(lie.length, input.length - at));
        return input;
    }

    private byte[] flip(byte[] input, int at) {
        if (at < input.length) {
            input[at] = (byte) (random.nextBoolean() ? random.nextInt() : input[at] ^ 1 << random.nextInt(Byte.SIZE));
        }
        return input;
    }

    private static byte[] join(byte[] first, byte[] second) {
        byte[] joined = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, joined, first.length, second.length);
        return joined;
    }
}
