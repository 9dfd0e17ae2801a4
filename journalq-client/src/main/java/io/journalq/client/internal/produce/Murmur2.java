package io.journalq.client.internal.produce;

/**
 * The 32-bit MurmurHash2 with which Kafka's Java client chooses partitions. A key goes to the same partition whichever
 * client sends it. Stateless.
 */
final class Murmur2 {
    private static final int SEED = 0x9747b28c;
    private static final int MULTIPLIER = 0x5bd1e995;
    private static final int SHIFT = 24;

    private Murmur2() {}

    /** Returns the partition of a key. */
    static int partition(byte[] key, int partitionCount) {
        return (hash(key) & Integer.MAX_VALUE) % partitionCount;
    }

    static int hash(byte[] data) {
        int length = data.length;
        int hash = SEED ^ length;
        int at = 0;
        for (; at + Integer.BYTES <= length; at += Integer.BYTES) {
            int word = (data[at] & 0xFF)
                    | (data[at + 1] & 0xFF) << 8
                    | (data[at + 2] & 0xFF) << 16
                    | (data[at + 3] & 0xFF) << 24;
            word *= MULTIPLIER;
            word ^= word >>> SHIFT;
            hash = hash * MULTIPLIER ^ word * MULTIPLIER;
        }
        int left = length - at;
        if (left > 0) {
            for (int i = left - 1; i >= 0; i--) {
                hash ^= (data[at + i] & 0xFF) << (i * Byte.SIZE);
            }
            hash *= MULTIPLIER;
        }
        hash ^= hash >>> 13;
        hash *= MULTIPLIER;
        return hash ^ hash >>> 15;
    }
}
