package io.journalq.bench.traffic;

/**
 * The messages of one producer that one subscriber has received. They may arrive in any order, because partitions are read
 * concurrently. A growing window of bits records the messages that are out of order. One thread writes.
 */
final class SequenceTracker {
    /** Maximum of messages in the window, which take 2 MiB. A message that is older than the window counts as missing. */
    static final long MAX_WINDOW = 1L << 24;

    private static final int FIRST_WORDS = 64;

    private long[] bits = new long[FIRST_WORDS];
    /** All messages below were received or are older than the window. A multiple of 64. */
    private long base;

    private volatile long highest = -1;
    private long distinct;

    /** Records a message. Returns false if it was received before or is older than the window. */
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

    /** The number of distinct messages. */
    long distinct() {
        return distinct;
    }

    /** The highest sequence so far; -1 if there is none. */
    long highest() {
        return highest;
    }

    private long capacity() {
        return (long) bits.length << 6;
    }

    private int wordOf(long sequence) {
        return (int) (sequence >>> 6) & (bits.length - 1);
    }

    /** Removes full words at the low end. */
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
