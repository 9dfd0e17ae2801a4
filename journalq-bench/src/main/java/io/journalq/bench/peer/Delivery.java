package io.journalq.bench.peer;

import java.util.Locale;

/** The delivery guarantee: what a publisher waits for, and what a subscriber commits. It is the same for every broker. */
public enum Delivery {
    /** No acknowledgements and no commits. */
    AT_MOST_ONCE,
    /** The broker acknowledges from the page cache, and subscribers commit their position. */
    AT_LEAST_ONCE,
    /** The broker acknowledges after an fsync, and subscribers commit their position. */
    SYNCED;

    /** The names for help texts. */
    public static final String WORDS = "at-most-once, at-least-once or synced";

    /** The name in options and results. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
