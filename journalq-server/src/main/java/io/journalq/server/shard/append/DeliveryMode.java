package io.journalq.server.shard.append;

import java.util.Locale;

/** When an append is acknowledged, per topic ({@code delivery.mode}). */
public enum DeliveryMode {
    /** Once it is on disk: survives a loss of power. */
    CONSISTENT,
    /** Once it is in the operating system's page cache; on disk within the flush interval. */
    EVENTUAL,
    /**
     * Once it is in memory; in the page cache, and visible to readers, within the write interval. What belongs to a
     * transaction is treated as in {@link #EVENTUAL}, so that a killed process does not tear it.
     */
    PERFORMANCE;

    /** The mode of a setting's text. */
    public static DeliveryMode of(String text) {
        return valueOf(text.toUpperCase(Locale.ROOT));
    }
}
