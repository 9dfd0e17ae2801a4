package io.journalq.sim.world;

/**
 * A running hash of everything that happens in one simulation. Two runs of the same seed have the same, or something
 * outside of the seed has a say.
 */
public final class Trace {
    private static final long PRIME = 0x100000001B3L;

    private long hash = 0xCBF29CE484222325L;
    private long events;

    /** Takes an event in. */
    public void add(int what, long number) {
        hash = (hash ^ what) * PRIME;
        hash = (hash ^ number) * PRIME;
        hash ^= hash >>> 29;
        events++;
    }

    public long hash() {
        return hash;
    }

    public long events() {
        return events;
    }
}
