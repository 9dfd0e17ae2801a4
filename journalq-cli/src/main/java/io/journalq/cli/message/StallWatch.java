package io.journalq.cli.message;

import io.journalq.client.error.ClientClosedException;
import io.journalq.client.error.JournalQException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Warns while messages wait for acknowledgements, because the producer sends them again silently. One thread. */
final class StallWatch implements AutoCloseable {
    private static final long CHECK_INTERVAL_MS = 1_000;
    private static final long SILENCE_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long WARNING_INTERVAL_NS = TimeUnit.SECONDS.toNanos(30);

    private final Acknowledgements acknowledgements;
    private final Supplier<JournalQException> lastError;
    private final Consumer<String> warn;
    private final Thread thread = new Thread(this::watch, "journalq-stall-watch");
    private long acknowledged = -1;
    private long nextWarningNs;

    /**
     * Creates a watch that {@link #start} starts.
     *
     * @param lastError the last failure that the producer knows of; null if there was none
     */
    StallWatch(Acknowledgements acknowledgements, Supplier<JournalQException> lastError, Consumer<String> warn) {
        this.acknowledgements = acknowledgements;
        this.lastError = lastError;
        this.warn = warn;
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    private void watch() {
        try {
            while (true) {
                check(System.nanoTime());
                Thread.sleep(CHECK_INTERVAL_MS);
            }
        } catch (InterruptedException closed) {
            Thread.currentThread().interrupt();
        } catch (ClientClosedException ended) {
            // The command has ended in the meantime.
        }
    }

    void check(long nowNs) {
        long now = acknowledgements.acknowledged();
        if (now != acknowledged || !acknowledgements.isPending()) {
            acknowledged = now;
            nextWarningNs = nowNs + SILENCE_NS;
        } else if (nowNs - nextWarningNs >= 0) {
            JournalQException error = lastError.get();
            warn.accept("the broker acknowledges no messages; they are sent again for up to 2 minutes: "
                    + (error == null ? "see the log of the broker, and whether its disk is full" : error.getMessage()));
            nextWarningNs = nowNs + WARNING_INTERVAL_NS;
        }
    }

    @Override
    public void close() {
        thread.interrupt();
    }
}
