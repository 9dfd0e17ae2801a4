package io.journalq.bench.cli;

import java.util.Locale;
import java.util.Map;

/** When acknowledged messages are synced to the disk, in addition to what the operating system does. */
enum DurabilityOption {
    /** Neither broker calls fsync; this is Kafka's default. */
    PAGE_CACHE("both leave syncing to the operating system"),
    /** Each broker has its own default. */
    DEFAULT("JournalQ syncs within a second, Kafka leaves it to the operating system");

    private static final String LONGER_THAN_ANY_RUN_MS = "3600000";

    private final String words;

    DurabilityOption(String words) {
        this.words = words;
    }

    /** The settings with which JournalQ does this. Kafka does either by default. */
    Map<String, String> journalqSettings() {
        return this == PAGE_CACHE ? Map.of("flush.interval.ms", LONGER_THAN_ANY_RUN_MS) : Map.of();
    }

    String inWords() {
        return words;
    }

    /** The name in options. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
