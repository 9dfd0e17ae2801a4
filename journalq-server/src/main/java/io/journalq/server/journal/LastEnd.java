package io.journalq.server.journal;

/** How a broker's last run on a data directory ended. */
public enum LastEnd {
    /** It closed every journal. */
    CLEAN,
    /** The process ended, and the system has not gone down since the last clean stop: everything written is still there. */
    KILLED,
    /** The system went down after the last clean stop, or may have: what was not synced may be gone. */
    SYSTEM_DOWN
}
