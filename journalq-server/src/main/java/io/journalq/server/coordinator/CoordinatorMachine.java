package io.journalq.server.coordinator;

/** A coordinator's decisions and state. One thread: that of its host. */
public interface CoordinatorMachine {
    /** No time at which anything is due. */
    long NEVER = Long.MAX_VALUE;

    /**
     * Takes a record into the state; the only place where durable state changes. While loading, the newest record of each
     * key comes in any order of keys, then the records since in the order in which they were appended, some of them again.
     */
    void replay(CoordinatorRecord record);

    /** Everything there was is replayed; from now on requests come. Timers begin here. */
    void onLoaded(long nowMs);

    /**
     * Time has passed.
     *
     * @return when to call again at the latest, in the milliseconds of {@code nowMs}; {@link #NEVER} when nothing is due
     */
    long onTick(long nowMs);
}
