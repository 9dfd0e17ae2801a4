package io.journalq.bench.traffic;

import io.journalq.bench.BenchException;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.peer.PubSubDriver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;

/**
 * Running publishers and subscribers of one topic, each on its own thread. The order of calls is start, {@link
 * #stopPublishing}, {@link #drain}, {@link #close}. Counts and histograms can be read at any time. One thread.
 */
public final class Traffic implements AutoCloseable {
    /** The highest recorded latency, ten minutes. Longer latencies count as that. */
    static final long HIGHEST_NS = 600_000_000_000L;
    /** The time for which publishers wait for a subscriber without progress. */
    static final long LOST_AFTER_NS = 500_000_000L;

    private static final int DIGITS = 3;
    private static final long POLL_MS = 5;
    private static final long JOIN_MS = 30_000;
    private static final long FIRST_MESSAGE_TIMEOUT_MS = 30_000;

    private final List<PublisherTask> publishing = new ArrayList<>();
    private final List<SubscriberTask> subscribing = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private final Recorder endToEnd = new Recorder(HIGHEST_NS, DIGITS);
    private final Recorder acknowledged = new Recorder(HIGHEST_NS, DIGITS);

    private Traffic() {}

    /** Opens and starts subscribers, then publishers. Each subscriber receives the messages that are published from now on. */
    public static Traffic start(PubSubDriver driver, String topic, Settings settings, PayloadPool pool) {
        Traffic traffic = new Traffic();
        try {
            for (int i = 0; i < settings.subscribers(); i++) {
                traffic.subscribing.add(new SubscriberTask(
                        driver.openSubscriber(topic, i), settings.checkInterval(), traffic.endToEnd));
            }
            for (int i = 0; i < settings.publishers(); i++) {
                int number = i;
                traffic.publishing.add(new PublisherTask(
                        i,
                        driver.openPublisher(topic, i),
                        pool,
                        settings,
                        () -> traffic.slowest(number),
                        traffic.acknowledged));
            }
            traffic.subscribing.forEach(one -> traffic.startThread("subscriber", one));
            traffic.publishing.forEach(one -> traffic.startThread("publisher", one));
        } catch (RuntimeException | Error failure) {
            try {
                traffic.close();
            } catch (RuntimeException | Error second) {
                failure.addSuppressed(second);
            }
            throw failure;
        }
        return traffic;
    }

    private void startThread(String role, Runnable body) {
        Thread thread = new Thread(body, role + "-" + threads.size());
        thread.setDaemon(true);
        thread.start();
        threads.add(thread);
    }

    private long slowest(int publisher) {
        long slowest = Long.MAX_VALUE;
        for (SubscriberTask one : subscribing) {
            slowest = Math.min(slowest, one.highestOf(publisher));
        }
        return slowest;
    }

    /** Waits for {@code time}, and then until every subscriber has received a message, for at most 30 s. */
    public void warmUp(Duration time) throws InterruptedException {
        Thread.sleep(time.toMillis());
        long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(FIRST_MESSAGE_TIMEOUT_MS);
        while (!flows() && firstError() == null && System.nanoTime() < deadlineNs) {
            Thread.sleep(POLL_MS);
        }
    }

    private boolean flows() {
        return subscribing.stream().allMatch(one -> one.received() > 0) && counts().sent() > 0;
    }

    public Counts counts() {
        // Read before the sent messages, so that no message counts as received but not as sent.
        long received = sum(subscribing, SubscriberTask::received);
        long distinct = sum(subscribing, SubscriberTask::distinct);
        long corrupt = sum(subscribing, SubscriberTask::corrupt);
        long confirmed = sum(publishing, PublisherTask::confirmed);
        long failed = sum(publishing, PublisherTask::failed);
        return new Counts(sum(publishing, PublisherTask::sent), confirmed, failed, received, distinct, corrupt);
    }

    /** The time from when messages were due until they were received, in nanoseconds, since the last call of this method. */
    public Histogram takeEndToEnd() {
        return endToEnd.getIntervalHistogram();
    }

    /** The time from when messages were due until they were acknowledged, in nanoseconds, since the last call of this method. */
    public Histogram takeAcknowledged() {
        return acknowledged.getIntervalHistogram();
    }

    /** Whether every publisher has finished. */
    public boolean isPublished() {
        return publishing.stream().allMatch(PublisherTask::isFinished);
    }

    /** Stops the publishers and waits for their last responses. Returns false if that takes longer than {@code timeoutMs}. */
    public boolean stopPublishing(long timeoutMs) throws InterruptedException {
        publishing.forEach(PublisherTask::stop);
        long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        while (!isPublished()) {
            if (System.nanoTime() > deadlineNs) {
                return false;
            }
            Thread.sleep(POLL_MS);
        }
        return true;
    }

    /**
     * Waits until every subscriber has received every message, or no message has arrived for {@code silenceMs}. Returns the
     * time of the last message, of {@link System#nanoTime}.
     */
    public long drain(long silenceMs) throws InterruptedException {
        while (true) {
            Counts counts = counts();
            long lastNs = subscribing.stream()
                    .mapToLong(SubscriberTask::lastReceivedNs)
                    .max()
                    .orElse(0);
            boolean silent = System.nanoTime() - lastNs > TimeUnit.MILLISECONDS.toNanos(silenceMs);
            if (counts.distinct() >= expected(counts) || silent || firstError() != null) {
                return lastNs;
            }
            Thread.sleep(POLL_MS);
        }
    }

    private long expected(Counts counts) {
        return (counts.sent() - counts.failed()) * subscribing.size();
    }

    /** The number of messages that did not fail and were not received, over all subscribers. Valid after {@link #drain}. */
    public long lost() {
        Counts counts = counts();
        return publishing.isEmpty()
                ? sum(subscribing, SubscriberTask::gaps)
                : Math.max(0, expected(counts) - counts.distinct());
    }

    /** The first problem of a publisher or a subscriber; null if there was none. */
    public String firstError() {
        return first(publishing, PublisherTask::firstError, first(subscribing, SubscriberTask::firstError, null));
    }

    private static <T> String first(List<T> from, Function<T, String> error, String otherwise) {
        return from.stream().map(error).filter(Objects::nonNull).findFirst().orElse(otherwise);
    }

    private static <T> long sum(List<T> of, ToLongFunction<T> value) {
        return of.stream().mapToLong(value).sum();
    }

    /** Stops all threads and closes all connections. */
    @Override
    public void close() {
        publishing.forEach(PublisherTask::stop);
        subscribing.forEach(SubscriberTask::stop);
        long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(JOIN_MS);
        try {
            for (Thread thread : threads) {
                thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadlineNs - System.nanoTime())));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchException("interrupted", "run the benchmark again", e);
        } finally {
            closeAll();
        }
    }

    /** Closes all that no thread closes, also if one of them throws. */
    private void closeAll() {
        List<Runnable> closes = new ArrayList<>();
        // Their threads close the others. Those of the subscribers are started first.
        subscribing.stream().skip(threads.size()).forEach(one -> closes.add(one::close));
        publishing.forEach(one -> closes.add(one::close));
        RuntimeException first = null;
        for (Runnable close : closes) {
            try {
                close.run();
            } catch (RuntimeException failure) {
                if (first == null) {
                    first = failure;
                } else {
                    first.addSuppressed(failure);
                }
            }
        }
        if (first != null) {
            throw first;
        }
    }

    /**
     * The amount of traffic.
     *
     * @param publishers number of publishers, each with its own connection; may be 0
     * @param subscribers number of subscribers, each with its own connection, which all receive every message; may be 0
     * @param messagesPerSecond rate of all publishers together, on a schedule that does not depend on the broker; 0 for as
     *     fast as possible
     * @param messagesPerPublisher number of messages after which each publisher stops; 0 to publish until stopped
     * @param unconfirmed maximum of unacknowledged messages per publisher
     * @param window maximum of messages that all publishers together run ahead of the slowest subscriber; 0 for no limit
     * @param checkInterval the checksum of one message in this number is verified
     */
    public record Settings(
            int publishers,
            int subscribers,
            long messagesPerSecond,
            long messagesPerPublisher,
            int unconfirmed,
            int window,
            int checkInterval) {}

    /**
     * Numbers of messages.
     *
     * @param sent messages passed to the client library
     * @param confirmed acknowledged messages; without acknowledgements, messages that the library has accepted
     * @param failed messages that certainly failed
     * @param received messages that all subscribers together received, including repetitions
     * @param distinct received messages without repetitions
     * @param corrupt received messages with a wrong checksum or without a stamp
     */
    public record Counts(long sent, long confirmed, long failed, long received, long distinct, long corrupt) {
        public long duplicated() {
            return received - distinct - corrupt;
        }

        /** The difference to earlier counts. */
        public Counts since(Counts earlier) {
            return new Counts(
                    sent - earlier.sent,
                    confirmed - earlier.confirmed,
                    failed - earlier.failed,
                    received - earlier.received,
                    distinct - earlier.distinct,
                    corrupt - earlier.corrupt);
        }
    }
}
