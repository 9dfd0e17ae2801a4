package io.journalq.sim.disk;

import java.nio.ByteBuffer;
import java.util.Arrays;

/** Bytes that grow at their end, in time that does not depend on how many are there. */
final class Bytes {
    private static final byte[] EMPTY = {};

    /** Zeros behind {@link #size}. */
    private byte[] array = EMPTY;

    private int size;

    int size() {
        return size;
    }

    /** Puts into {@code target} what is there from {@code position} on; returns how many bytes. */
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

    /** Cuts the end off, or adds zeros. */
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

    /** Becomes the same as {@code other}. */
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
