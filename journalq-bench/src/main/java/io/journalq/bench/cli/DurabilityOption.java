package io.journalq.bench.cli;

import io.journalq.bench.BenchException;
import java.util.Map;

/** When what was acknowledged reaches the disk, beyond what the operating system does by itself. */
enum DurabilityOption {
    /** Kafka's default. */
    PAGE_CACHE("page-cache", "both leave syncing to the operating system"),
    /** What a user gets who sets nothing. */
    DEFAULT("default", "JournalQ syncs within a second, Kafka leaves it to the operating system");

    private static final String LONGER_THAN_ANY_RUN_MS = "3600000";

    private final String option;
    private final String words;

    DurabilityOption(String option, String words) {
        this.option = option;
        this.words = words;
    }

    /** What makes JournalQ do so; Kafka does either by default. */
    Map<String, String> journalqSettings() {
        return this == PAGE_CACHE ? Map.of("flush.interval.ms", LONGER_THAN_ANY_RUN_MS) : Map.of();
    }

    String inWords() {
        return words;
    }

    static DurabilityOption named(String name) {
        for (DurabilityOption one : values()) {
            if (one.option.equals(name)) {
                return one;
            }
        }
        throw new BenchException("there is no durability '" + name + "'", "use page-cache or default");
    }
}
