package io.journalq.bench.driver;

import java.util.Locale;
import java.util.Map;

/** When topics of JournalQ acknowledge a message, and how the other brokers come closest to that. */
public enum DeliveryMode {
    /** After the fsync. */
    CONSISTENT,
    /** From the page cache. */
    EVENTUAL,
    /** From memory, before it is written. No other broker has this mode. */
    PERFORMANCE;

    /** The names for help texts. */
    public static final String WORDS = "consistent, eventual or performance";

    /** The settings of a JournalQ broker whose topics have this mode. */
    public Map<String, String> journalqSettings() {
        return Map.of("delivery.mode", toString());
    }

    /** The settings of a Kafka broker whose topics come closest to this mode. */
    public Map<String, String> kafkaSettings() {
        return this == CONSISTENT ? Map.of("log.flush.interval.messages", "1") : Map.of();
    }

    /** The name in options and results. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
