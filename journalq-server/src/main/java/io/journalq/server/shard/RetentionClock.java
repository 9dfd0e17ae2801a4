package io.journalq.server.shard;

import io.journalq.server.journal.file.FileStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The time of day for retention: a clock that was set wrong must not delete everything. The time at which a broker last
 * ran is stored in a file. If the clock is ahead of that time, plus the time that has passed since, by more than a
 * limit, retention continues from the last known time. The clock is trusted again when it is corrected, or when the
 * broker has run for as long as the limit. Any thread.
 */
public final class RetentionClock {
    /** In the first data directory. */
    static final String FILE_NAME = "journalq.clock";

    /** How often the file is written, in milliseconds of the known time. */
    private static final long SAVE_INTERVAL_MS = 60_000;

    private static final int MAX_FILE_BYTES = 1_024;
    private static final Pattern CONTENT = Pattern.compile("knownMs=(\\d{1,18})\nwaitedMs=(\\d{1,18})\n");
    /** Used instead of a time if none is stored. */
    static final long UNKNOWN = -1;

    private static final Logger log = LoggerFactory.getLogger(RetentionClock.class);

    private final FileStore store;
    private final Path file;
    private final Clock clock;
    private final LongSupplier nanoTime;
    private final long maxJumpMs;
    private long knownMs = UNKNOWN;
    private boolean started;
    private long waitedMs;
    private long lastNanos;
    private boolean waits;
    private long savedMs;

    /**
     * Reads the stored time.
     *
     * @param nanoTime elapsed time, independent of the clock
     * @param maxJumpMs how far the clock may be ahead, in milliseconds; -1 for no limit
     */
    RetentionClock(FileStore store, Path dataDirectory, Clock clock, LongSupplier nanoTime, long maxJumpMs) {
        this.store = store;
        this.file = dataDirectory.resolve(FILE_NAME);
        this.clock = clock;
        this.nanoTime = nanoTime;
        this.maxJumpMs = maxJumpMs;
        this.lastNanos = nanoTime.getAsLong();
        load();
    }

    private void load() {
        try {
            String text = new String(store.read(file, MAX_FILE_BYTES), StandardCharsets.UTF_8);
            Matcher content = CONTENT.matcher(text);
            if (content.matches()) {
                knownMs = Long.parseLong(content.group(1));
                waitedMs = Long.parseLong(content.group(2));
                started = true;
            }
        } catch (NoSuchFileException neverKept) {
            log.debug("{}: no time is stored", file);
        } catch (IOException unreadable) {
            log.warn("cannot read the time at which the broker last ran: reason=\"{}\"", unreadable.toString());
        }
    }

    /** Whether no time was stored, so that {@link #startFrom} must be called with the newest record's time. */
    synchronized boolean isUnknown() {
        return !started;
    }

    /** Uses the time of the newest record as the last known one. */
    synchronized void startFrom(long recordMs) {
        knownMs = Math.max(knownMs, recordMs);
        started = true;
    }

    /**
     * Milliseconds since 1970 UTC: the clock's time, or an earlier one; 0, at which nothing expires, until it is
     * started.
     */
    synchronized long nowMs() {
        if (!started) {
            return 0;
        }
        long nowMs = clock.millis();
        long nowNanos = nanoTime.getAsLong();
        long passedMs = TimeUnit.NANOSECONDS.toMillis(nowNanos - lastNanos);
        lastNanos += TimeUnit.MILLISECONDS.toNanos(passedMs);
        long expectedMs = knownMs == UNKNOWN ? nowMs : knownMs + passedMs;
        if (maxJumpMs < 0 || nowMs - expectedMs <= maxJumpMs) {
            believe(nowMs);
        } else {
            waitedMs += passedMs;
            if (!waits) {
                waits = true;
                log.warn(
                        "the clock is far ahead of the time at which the broker last ran, retention by time waits:"
                                + " clock={} lastKnown={} maxJumpMs={} remedy=\"correct the clock; if it is correct,"
                                + " retention continues after the broker has run for that long, or after a start with"
                                + " retention.clock.jump.max.ms=-1\"",
                        Instant.ofEpochMilli(nowMs),
                        Instant.ofEpochMilli(expectedMs),
                        maxJumpMs);
            }
            if (waitedMs >= maxJumpMs) {
                believe(nowMs);
            } else {
                knownMs = expectedMs;
            }
        }
        return knownMs;
    }

    private void believe(long nowMs) {
        if (waits) {
            log.info("retention by time continues: clock={}", Instant.ofEpochMilli(nowMs));
        }
        waits = false;
        waitedMs = 0;
        knownMs = nowMs;
    }

    /** Whether retention waits because of the clock. */
    synchronized boolean isWaiting() {
        return waits;
    }

    /** Stores the time for the next start, unless it was stored in the last minute. One thread at a time; blocks. */
    void saveIfDue() {
        if (isSaveDue()) {
            save();
        }
    }

    private synchronized boolean isSaveDue() {
        return Math.abs(knownMs - savedMs) >= SAVE_INTERVAL_MS;
    }

    /**
     * Stores the time for the next start. Not synced: after a power loss an earlier time may be stored, which is safe
     * too. One thread at a time; blocks.
     */
    void save() {
        String text;
        synchronized (this) {
            savedMs = knownMs;
            text = "knownMs=" + knownMs + "\nwaitedMs=" + waitedMs + "\n";
        }
        try {
            store.replace(file, ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)), false);
        } catch (IOException failure) {
            log.warn("cannot store the time at which the broker ran: reason=\"{}\"", failure.toString());
        }
    }
}
