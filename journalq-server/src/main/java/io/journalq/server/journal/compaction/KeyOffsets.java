package io.journalq.server.journal.compaction;

import io.netty.buffer.ByteBuf;
import java.util.Arrays;

/**
 * The newest offset of each key, in bounded memory. A key is identified by a 16-byte hash, so that an entry takes 24
 * bytes for any key. The table starts small and doubles up to its limit. Reusable; one thread.
 */
public final class KeyOffsets {
    /** Minimum table size in bytes. */
    public static final int MIN_SIZE_BYTES = 24 * 64;

    public static final long NONE = -1L;

    private static final int ENTRY_LONGS = 3;
    private static final int FIRST_CAPACITY = 64;
    private static final long FREE = 0L;

    private final SipHash hash;
    private final int maxCapacity;
    /** For each slot the two halves of the hash, and the offset plus one: zero marks a free slot. */
    private long[] slots = new long[FIRST_CAPACITY * ENTRY_LONGS];

    private int capacity = FIRST_CAPACITY;
    private int count;

    /**
     * Creates an empty table.
     *
     * @param maxSizeBytes maximum memory of the table, {@link #MIN_SIZE_BYTES} or more; rounded down to a power of two
     *     entries
     * @param secret0 together with {@code secret1}, a random number that nobody else knows
     */
    public KeyOffsets(long maxSizeBytes, long secret0, long secret1) {
        this.hash = new SipHash(secret0, secret1);
        long entries = Math.max(FIRST_CAPACITY, maxSizeBytes / (ENTRY_LONGS * Long.BYTES));
        long most = Math.min(entries, Integer.MAX_VALUE / ENTRY_LONGS - Long.BYTES);
        this.maxCapacity = (int) Long.highestOneBit(most);
    }

    /** Removes every key and keeps the memory. */
    public void clear() {
        Arrays.fill(slots, FREE);
        count = 0;
    }

    public int count() {
        return count;
    }

    /**
     * Records that the key in the readable bytes of {@code key} is at {@code offset}, which must be behind all recorded
     * ones.
     *
     * @return false, without a change, if there is no room for another key
     */
    public boolean put(ByteBuf key, long offset) {
        hash.hash(key);
        int slot = find();
        if (slots[slot + 2] == FREE) {
            if (isFull()) {
                if (capacity == maxCapacity) {
                    return false;
                }
                grow();
                slot = find();
            }
            slots[slot] = hash.first();
            slots[slot + 1] = hash.second();
            count++;
        }
        slots[slot + 2] = offset + 1;
        return true;
    }

    /** The newest offset recorded for a key; {@link #NONE} if there is none. */
    public long offsetOf(ByteBuf key) {
        hash.hash(key);
        return slots[find() + 2] - 1;
    }

    /** The table is full at three quarters, because linear probing becomes slow beyond that. */
    private boolean isFull() {
        return count >= capacity - capacity / 4;
    }

    private void grow() {
        long[] old = slots;
        capacity *= 2;
        slots = new long[capacity * ENTRY_LONGS];
        for (int at = 0; at < old.length; at += ENTRY_LONGS) {
            if (old[at + 2] != FREE) {
                int slot = find(old[at], old[at + 1]);
                System.arraycopy(old, at, slots, slot, ENTRY_LONGS);
            }
        }
    }

    private int find() {
        return find(hash.first(), hash.second());
    }

    /** Index of the slot that holds the hash, or of the free slot where it belongs. */
    private int find(long first, long second) {
        int slot = (int) first & (capacity - 1);
        while (true) {
            int at = slot * ENTRY_LONGS;
            if (slots[at + 2] == FREE || (slots[at] == first && slots[at + 1] == second)) {
                return at;
            }
            slot = (slot + 1) & (capacity - 1);
        }
    }
}
