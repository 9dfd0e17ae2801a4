package io.journalq.server.journal;

/** How a broker's last run on a data directory ended. */
public enum LastEnd {
    /** It closed every journal, or it was the first run. */
    CLEAN,
    /** The process ended, and the system did not: everything written is still in the page cache. */
    KILLED,
    /** The system went down: what was not synced may be gone. */
    SYSTEM_DOWN
}
