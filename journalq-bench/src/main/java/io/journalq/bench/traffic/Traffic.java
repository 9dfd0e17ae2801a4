package io.journalq.bench.traffic;

import io.journalq.bench.BenchException;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.peer.Driver;
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

    private final List<Publishing> publishing = new ArrayList<>();
    private final List<Subscribing> subscribing = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private final Recorder endToEnd = new Recorder(HIGHEST_NS, DIGITS);
    private final Recorder answers = new Recorder(HIGHEST_NS, DIGITS);

    private Traffic() {}

    /** Opens subscribers, then publishers, and lets them run. Each subscriber gets what is published from now on. */
    public static Traffic start(Driver driver, String topic, TrafficSettings settings, PayloadPool pool) {
        Traffic traffic = new Traffic();
        try {
            for (int i = 0; i < settings.subscribers(); i++) {
                traffic.subscribing.add(
                        new Subscribing(driver.openSubscriber(topic, i), settings.checkInterval(), traffic.endToEnd));
            }
            for (int i = 0; i < settings.publishers(); i++) {
                int number = i;
                traffic.publishing.add(new Publishing(
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
        for (Subscribing one : subscribing) {
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

    public TrafficCounts counts() {
        // Received before sent: what is received has been sent.
        long received = sum(subscribing, Subscribing::received);
        long distinct = sum(subscribing, Subscribing::distinct);
        long corrupt = sum(subscribing, Subscribing::corrupt);
        long confirmed = sum(publishing, Publishing::confirmed);
        long failed = sum(publishing, Publishing::failed);
        return new TrafficCounts(sum(publishing, Publishing::sent), confirmed, failed, received, distinct, corrupt);
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
        return publishing.stream().allMatch(Publishing::isFinished);
    }

    /** Lets publishers come to an end and waits for their last answers; false when that takes too long. */
    public boolean stopPublishing(long timeoutMs) throws InterruptedException {
        publishing.forEach(Publishing::stop);
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
            TrafficCounts counts = counts();
            long lastNs = subscribing.stream()
                    .mapToLong(Subscribing::lastReceivedNs)
                    .max()
                    .orElse(0);
            boolean silent = System.nanoTime() - lastNs > TimeUnit.MILLISECONDS.toNanos(silenceMs);
            if (counts.distinct() >= expected(counts) || silent || firstError() != null) {
                return lastNs;
            }
            Thread.sleep(POLL_MS);
        }
    }

    private long expected(TrafficCounts counts) {
        return (counts.sent() - counts.failed()) * subscribing.size();
    }

    /** What was sent without failing and no subscriber reported, over all subscribers. Has a meaning after draining. */
    public long lost() {
        TrafficCounts counts = counts();
        return publishing.isEmpty()
                ? sum(subscribing, Subscribing::gaps)
                : Math.max(0, expected(counts) - counts.distinct());
    }

    /** The first thing that went wrong with a publisher or a subscriber; null when nothing did. */
    public String firstError() {
        return first(publishing, Publishing::firstError, first(subscribing, Subscribing::firstError, null));
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
        publishing.forEach(Publishing::stop);
        subscribing.forEach(Subscribing::stop);
        long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(JOIN_MS);
        try {
            for (Thread thread : threads) {
                thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadlineNs - System.nanoTime())));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchException("interrupted", "run it again", e);
        } finally {
            publishing.forEach(Publishing::close);
        }
    }
}
