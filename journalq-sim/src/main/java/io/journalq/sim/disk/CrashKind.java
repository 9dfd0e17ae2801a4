package io.journalq.sim.disk;

/** What is left after a crash. */
public enum CrashKind {
    /** The process is killed: the system's page cache, and so everything that was written, stays. */
    KILL,
    /** The machine loses power: of what was not synced, any part may be left. */
    POWER_LOSS
}
