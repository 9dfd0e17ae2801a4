package io.journalq.server.shard.append;

import java.util.Locale;

/** When an append is acknowledged, per topic ({@code delivery.mode}). */
public enum DeliveryMode {
    /** When it is on disk: survives a power loss. */
    CONSISTENT,
    /** When it is in the operating system's page cache; on disk within the flush interval. */
    EVENTUAL,
    /**
     * When it is in memory; in the page cache, and visible to readers, within the write interval. Transactional records
     * are treated as in {@link #EVENTUAL}, so that a killed process leaves no incomplete transaction.
     */
    PERFORMANCE;

    /** The mode with this name in settings. */
    public static DeliveryMode of(String text) {
        return valueOf(text.toUpperCase(Locale.ROOT));
    }
}
