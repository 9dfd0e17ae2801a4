package io.journalq.server.shard;

/** How the broker's last run ended, and so what it may have lost. */
public enum LastEnd {
    /** It closed every journal, or there was none. */
    CLEAN,
    /** Its process ended, and the page cache outlived it. */
    KILLED,
    /** The system went down with it: what was not synced may be gone. */
    SYSTEM_DOWN;

    /** Whether batches that were acknowledged in {@code mode} may be missing at the end of a partition's log. */
    boolean mayHaveLost(DeliveryMode mode) {
        return switch (mode) {
            case CONSISTENT -> false;
            case EVENTUAL -> this == SYSTEM_DOWN;
            case PERFORMANCE -> this != CLEAN;
        };
    }
}
