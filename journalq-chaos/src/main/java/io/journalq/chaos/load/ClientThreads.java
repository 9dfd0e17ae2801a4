package io.journalq.chaos.load;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

/** Runs producers and consumers, each on a thread of its own, until it is closed. */
public final class ClientThreads implements AutoCloseable {
    private static final long END_LIMIT_MS = TimeUnit.MINUTES.toMillis(11);
    private static final int LONGEST_STACK = 16;

    private final Ledger ledger;
    private final String servers;
    private final long pauseMs;
    private final Duration requestTimeout;
    private final AtomicLong consumed = new AtomicLong();
    private final List<Thread> threads = new CopyOnWriteArrayList<>();
    private volatile boolean stopping;

    /**
     * Prepares the load, without threads.
     *
     * @param servers addresses of brokers, separated by commas
     * @param pauseMs pause of each producer between two messages or transactions
     * @param requestTimeout after which clients give up a request and repeat it
     */
    public ClientThreads(Ledger ledger, String servers, long pauseMs, Duration requestTimeout) {
        this.ledger = ledger;
        this.servers = servers;
        this.pauseMs = pauseMs;
        this.requestTimeout = requestTimeout;
    }

    /** Work of one thread, which runs until {@link ClientThreads#isStopping}. */
    public interface Work {
        /** Does the work. Throws if it cannot continue. */
        void run() throws Exception;
    }

    /** Starts a thread for {@code work}. An exception or error that it throws is a finding. */
    public void begin(String name, Work work) {
        Thread thread = new Thread(
                () -> {
                    try {
                        // Otherwise, a consumer that an error ended would check nothing, and nobody would notice.
                        ledger.attempt(name, work);
                    } catch (InterruptedException interrupted) {
                        ledger.report(name + " failed: " + interrupted);
                    }
                },
                name);
        thread.setDaemon(true);
        threads.add(thread);
        thread.start();
    }

    public boolean isStopping() {
        return stopping;
    }

    public String servers() {
        return servers;
    }

    /** Pauses between two messages of one producer. */
    public void pause() throws InterruptedException {
        Thread.sleep(pauseMs);
    }

    /** Pause between two messages of one producer. */
    long pauseMs() {
        return pauseMs;
    }

    Duration requestTimeout() {
        return requestTimeout;
    }

    public Ledger ledger() {
        return ledger;
    }

    public void onConsumed(long count) {
        consumed.addAndGet(count);
    }

    /** Number of messages that consumers in groups have received. */
    public long consumedCount() {
        return consumed.get();
    }

    /** Stops the load without waiting for its threads. Without a broker, messages in flight cannot be sent. */
    public void abandon() {
        stopping = true;
        threads.clear();
    }

    /** Stops the load and waits for its threads, which first send the messages in flight. */
    @Override
    public void close() {
        stopping = true;
        try {
            for (Thread thread : threads) {
                thread.join(END_LIMIT_MS);
                StackTraceElement[] stack = thread.getStackTrace();
                if (thread.isAlive()) {
                    ledger.report(thread.getName() + " does not end within " + END_LIMIT_MS + " ms: "
                            + Arrays.stream(stack)
                                    .limit(LONGEST_STACK)
                                    .map(StackTraceElement::toString)
                                    .collect(Collectors.joining(" < ")));
                }
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
