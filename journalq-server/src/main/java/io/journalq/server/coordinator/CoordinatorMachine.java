package io.journalq.server.coordinator;

/** Decisions and state of a coordinator. One thread: that of its host. */
public interface CoordinatorMachine {
    /** The time of an event that never comes. */
    long NEVER = Long.MAX_VALUE;

    /**
     * Applies a record to the state. Durable state changes nowhere else. While loading, the newest record of each key
     * comes first, with the keys in any order. Then come the later records in the order of their appends, and some of
     * the first records may be repeated.
     */
    void replay(CoordinatorRecord record);

    /** Called after all stored records are replayed. Requests come from now on, and timers start here. */
    void onLoaded(long nowMs);

    /**
     * Advances the time.
     *
     * @return the latest time for the next call, in the milliseconds of {@code nowMs}; {@link #NEVER} if nothing is due
     */
    long onTick(long nowMs);

    /**
     * The clock of the system was set. Later times are {@code stepMs} ahead of what they would have been, or behind if
     * it is negative. Deadlines that end an interval of a client have to move with it.
     */
    default void onClockStep(long stepMs) {}
}
