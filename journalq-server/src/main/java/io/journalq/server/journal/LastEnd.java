package io.journalq.server.journal;

/** How the last run of a broker on a data directory ended. */
public enum LastEnd {
    /** The broker closed every journal. */
    CLEAN,
    /**
     * The process ended, and the system has not gone down since the last clean stop: all written data is still there.
     */
    KILLED,
    /** The system went down, or may have gone down, after the last clean stop: data that was not synced may be lost. */
    SYSTEM_DOWN
}
