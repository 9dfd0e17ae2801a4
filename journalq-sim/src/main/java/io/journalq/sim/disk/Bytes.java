package io.journalq.sim.disk;

import java.nio.ByteBuffer;
import java.util.Arrays;

/** A byte sequence that grows at its end in amortized constant time per byte. */
final class Bytes {
    private static final byte[] EMPTY = {};

    /** Zero from {@link #size} on. */
    private byte[] array = EMPTY;

    private int size;

    int size() {
        return size;
    }

    /** Copies bytes from {@code position} on into {@code target}. Returns how many. */
    int read(ByteBuffer target, long position) {
        int count = (int) Math.max(0, Math.min(target.remaining(), size - position));
        target.put(array, (int) Math.min(position, size), count);
        return count;
    }

    byte[] toArray() {
        return Arrays.copyOf(array, size);
    }

    void write(byte[] data, int position) {
        ensure(position + data.length);
        System.arraycopy(data, 0, array, position, data.length);
        size = Math.max(size, position + data.length);
    }

    /** Cuts off the end, or appends zeros. */
    void resize(int newSize) {
        ensure(newSize);
        if (newSize < size) {
            Arrays.fill(array, newSize, size, (byte) 0);
        }
        size = newSize;
    }

    void flipBit(int position, int bit) {
        array[position] ^= (byte) (1 << bit);
    }

    /** Replaces the content with that of {@code other}. */
    void copy(Bytes other) {
        array = other.toArray();
        size = array.length;
    }

    private void ensure(int wanted) {
        if (wanted > array.length) {
            array = Arrays.copyOf(array, Math.max(wanted, 2 * array.length));
        }
    }
}
