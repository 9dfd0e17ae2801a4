package io.journalq.sim.metadata;

/** Measures what the real code costs in this process. The simulation does not depend on it. */
public interface CostMeter {
    /** The time in nanoseconds, from any origin. */
    long nanos();

    /** Number of bytes that the calling thread has allocated. */
    long allocatedBytes();

    /** Number of bytes that are reachable now. */
    long heapBytes();
}
