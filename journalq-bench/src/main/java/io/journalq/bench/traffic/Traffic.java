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
 * Publishers and subscribers of one topic at work, each on a thread of its own. The order of calls is start,
 * {@link #stopPublishing}, {@link #drain}, {@link #close}; counts and histograms may be asked for at any time. One thread.
 */
public final class Traffic implements AutoCloseable {
    /** Ten minutes: what takes longer counts as that. */
    static final long HIGHEST_NS = 600_000_000_000L;
    /** How long publishers wait for a subscriber that makes no progress before they go on without. */
    static final long LOST_AFTER_NS = 500_000_000L;

    private static final int DIGITS = 3;
    private static final long POLL_MS = 5;
    private static final long JOIN_MS = 30_000;
    private static final long FIRST_MESSAGE_TIMEOUT_MS = 30_000;

    private final List<PublisherTask> publishing = new ArrayList<>();
    private final List<SubscriberTask> subscribing = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private final Recorder endToEnd = new Recorder(HIGHEST_NS, DIGITS);
    private final Recorder answers = new Recorder(HIGHEST_NS, DIGITS);

    private Traffic() {}

    /** Opens subscribers, then publishers, and lets them run. Each subscriber gets what is published from now on. */
    public static Traffic start(PubSubDriver driver, String topic, Settings settings, PayloadPool pool) {
        Traffic traffic = new Traffic();
        try {
            for (int i = 0; i < settings.subscribers(); i++) {
                traffic.subscribing.add(
                        new SubscriberTask(driver.openSubscriber(topic, i), settings.checkInterval(), traffic.endToEnd));
            }
            for (int i = 0; i < settings.publishers(); i++) {
                int number = i;
                traffic.publishing.add(new PublisherTask(
                        i,
                        driver.openPublisher(topic, i),
                        pool,
                        settings,
                        () -> traffic.slowest(number),
                        traffic.answers));
            }
        } catch (RuntimeException e) {
            traffic.close();
            throw e;
        }
        traffic.subscribing.forEach(one -> traffic.startThread("subscriber", one));
        traffic.publishing.forEach(one -> traffic.startThread("publisher", one));
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

    /** Lets {@code time} pass, and then more until messages come out at the other end, if not for too long. */
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
        // Received before sent: what is received has been sent.
        long received = sum(subscribing, SubscriberTask::received);
        long distinct = sum(subscribing, SubscriberTask::distinct);
        long corrupt = sum(subscribing, SubscriberTask::corrupt);
        long confirmed = sum(publishing, PublisherTask::confirmed);
        long failed = sum(publishing, PublisherTask::failed);
        return new Counts(sum(publishing, PublisherTask::sent), confirmed, failed, received, distinct, corrupt);
    }

    /** From when messages were due until they were received, since the last call of this; nanoseconds. */
    public Histogram takeEndToEnd() {
        return endToEnd.getIntervalHistogram();
    }

    /** From when messages were due until they were acknowledged, since the last call of this; nanoseconds. */
    public Histogram takeAnswers() {
        return answers.getIntervalHistogram();
    }

    /** Whether every publisher has sent all that it was to send. */
    public boolean isPublished() {
        return publishing.stream().allMatch(PublisherTask::isFinished);
    }

    /** Lets publishers come to an end and waits for their last answers; false when that takes too long. */
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
     * Waits until every subscriber has what was sent, or nothing has come for {@code silenceMs}. Returns when the last
     * message came, of {@link System#nanoTime}.
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

    /** What was sent without failing and no subscriber reported, over all subscribers. Has a meaning after draining. */
    public long lost() {
        Counts counts = counts();
        return publishing.isEmpty()
                ? sum(subscribing, SubscriberTask::gaps)
                : Math.max(0, expected(counts) - counts.distinct());
    }

    /** The first thing that went wrong with a publisher or a subscriber; null when nothing did. */
    public String firstError() {
        return first(publishing, PublisherTask::firstError, first(subscribing, SubscriberTask::firstError, null));
    }

    private static <T> String first(List<T> from, Function<T, String> error, String otherwise) {
        return from.stream().map(error).filter(Objects::nonNull).findFirst().orElse(otherwise);
    }

    private static <T> long sum(List<T> of, ToLongFunction<T> value) {
        return of.stream().mapToLong(value).sum();
    }

    /** Stops what still runs and closes the connections. */
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
            throw new BenchException("interrupted", "run it again", e);
        } finally {
            publishing.forEach(PublisherTask::close);
        }
    }

    /**
     * How much is sent, and by how many.
     *
     * @param publishers each with a connection of its own; may be 0
     * @param subscribers each with a connection of its own, and each gets every message; may be 0
     * @param messagesPerSecond over all publishers, on a schedule that no stall of the broker moves; 0: as fast as it goes
     * @param messagesPerPublisher after which each stops; 0: goes on until it is told to stop
     * @param unconfirmed most messages of a publisher that are not acknowledged yet
     * @param window most messages that publishers may be ahead of the slowest subscriber, all together; 0: no bound
     * @param checkInterval one message in so many is checked by its checksum
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
     * What has happened so far.
     *
     * @param sent handed to the client library
     * @param confirmed acknowledged, or taken by the library where nothing is acknowledged
     * @param failed sent and not confirmed, for certain
     * @param received by all subscribers together, repetitions included
     * @param distinct received, without repetitions
     * @param corrupt received with a wrong checksum, or without a stamp
     */
    public record Counts(long sent, long confirmed, long failed, long received, long distinct, long corrupt) {
        public long duplicated() {
            return received - distinct - corrupt;
        }

        /** What happened since {@code earlier}. */
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
