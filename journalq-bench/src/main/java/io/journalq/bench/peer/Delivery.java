package io.journalq.bench.peer;

import java.util.Locale;

/** What a publisher waits for, and what a subscriber remembers; the same promise from every broker. */
public enum Delivery {
    /** Nothing is acknowledged, nothing is committed. */
    AT_MOST_ONCE,
    /** Acknowledged by the broker, which may still hold it in the page cache; subscribers commit where they are. */
    AT_LEAST_ONCE,
    /** As before, and on the disk (synced) before it is acknowledged. */
    SYNCED;

    /** Names them, for help texts. */
    public static final String WORDS = "at-most-once, at-least-once or synced";

    /** The one that {@link #toString} writes so. */
    public static Delivery of(String text) {
        for (Delivery one : values()) {
            if (one.toString().equalsIgnoreCase(text)) {
                return one;
            }
        }
        throw new IllegalArgumentException("there is no delivery '" + text + "'; use " + WORDS);
    }

    /** As options and results write it. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
