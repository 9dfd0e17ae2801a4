package io.journalq.bench.traffic;

/**
 * Which of one producer's messages one subscriber has had. They may come in any order, as partitions are read side by
 * side; what is out of order is kept in a window of bits that grows as far as it must. One thread writes.
 */
final class SequenceTracker {
    /** 16 Mi messages out of order take 2 MiB. What falls out of the window behind is given up as missing. */
    static final long MAX_WINDOW = 1L << 24;

    private static final int FIRST_WORDS = 64;

    private long[] bits = new long[FIRST_WORDS];
    /** Everything below was seen, or has fallen out of the window. A multiple of 64. */
    private long base;

    private volatile long highest = -1;
    private long distinct;

    /** Notes a message; false when it was there before, or is so late that it was given up. */
    boolean add(long sequence) {
        if (sequence < base) {
            return false;
        }
        while (sequence - base >= capacity()) {
            makeRoom(sequence);
        }
        int word = wordOf(sequence);
        long bit = 1L << (sequence & 63);
        if ((bits[word] & bit) != 0) {
            return false;
        }
        bits[word] |= bit;
        distinct++;
        highest = Math.max(highest, sequence);
        slide();
        return true;
    }

    /** How many different messages there were. */
    long distinct() {
        return distinct;
    }

    /** The highest number so far; -1 when there was none. */
    long highest() {
        return highest;
    }

    private long capacity() {
        return (long) bits.length << 6;
    }

    private int wordOf(long sequence) {
        return (int) (sequence >>> 6) & (bits.length - 1);
    }

    /** Forgets full words at the low end. */
    private void slide() {
        int word = wordOf(base);
        while (bits[word] == -1L) {
            bits[word] = 0;
            base += Long.SIZE;
            word = wordOf(base);
        }
    }

    private void makeRoom(long sequence) {
        if (capacity() < MAX_WINDOW) {
            long[] wider = new long[bits.length * 2];
            for (long at = base; at < base + capacity(); at += Long.SIZE) {
                wider[(int) (at >>> 6) & (wider.length - 1)] = bits[wordOf(at)];
            }
            bits = wider;
            return;
        }
        if (sequence - base >= 2 * capacity()) {
            java.util.Arrays.fill(bits, 0);
            base = (sequence - capacity() + Long.SIZE) & -Long.SIZE;
            return;
        }
        while (sequence - base >= capacity()) {
            bits[wordOf(base)] = 0;
            base += Long.SIZE;
        }
    }
}
