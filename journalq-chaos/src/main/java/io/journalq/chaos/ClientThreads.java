package io.journalq.chaos;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Producers and consumers at work, each on a thread of its own, until it is closed. */
final class ClientThreads implements AutoCloseable {
    private static final long END_LIMIT_MS = TimeUnit.MINUTES.toMillis(11);

    private final Ledger ledger;
    private final String servers;
    private final int pauseMs;
    private final AtomicLong consumed = new AtomicLong();
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean stopping;

    /**
     * No work yet.
     *
     * @param servers where the broker is
     * @param pauseMs how long each producer waits between two messages, or transactions
     */
    ClientThreads(Ledger ledger, String servers, int pauseMs) {
        this.ledger = ledger;
        this.servers = servers;
        this.pauseMs = pauseMs;
    }

    /** Work that goes on until {@link ClientThreads#isStopping}. */
    interface Work {
        /** Does the work; whoever cannot go on says why. */
        void run() throws Exception;
    }

    /** Begins work on a thread of its own. What it throws is a finding. */
    void begin(String name, Work work) {
        Thread thread = new Thread(
                () -> {
                    try {
                        work.run();
                    } catch (Exception failure) {
                        ledger.report(name + " gave up: " + failure + causes(failure));
                    }
                },
                name);
        thread.setDaemon(true);
        threads.add(thread);
        thread.start();
    }

    private static String causes(Throwable failure) {
        StringBuilder text = new StringBuilder();
        for (Throwable cause = failure.getCause(); cause != null; cause = cause.getCause()) {
            text.append("; caused by ").append(cause);
        }
        return text.toString();
    }

    boolean isStopping() {
        return stopping;
    }

    String servers() {
        return servers;
    }

    /** Between two messages of one producer. */
    void pause() throws InterruptedException {
        Thread.sleep(pauseMs);
    }

    Ledger ledger() {
        return ledger;
    }

    void onConsumed(long count) {
        consumed.addAndGet(count);
    }

    /** Messages that consumers in groups were given. */
    long consumedCount() {
        return consumed.get();
    }

    /** Waits for nobody: without a broker, what is under way cannot be sent. */
    void abandon() {
        stopping = true;
        threads.clear();
    }

    /** Has everybody end in order: what is under way is sent first. */
    @Override
    public void close() {
        stopping = true;
        try {
            for (Thread thread : threads) {
                thread.join(END_LIMIT_MS);
                if (thread.isAlive()) {
                    ledger.report(thread.getName() + " does not end");
                }
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
