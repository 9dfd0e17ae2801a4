package io.journalq.bench.traffic;

import io.journalq.bench.payload.Stamp;
import io.journalq.bench.peer.PubSubDriver.Subscriber;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.HdrHistogram.Recorder;

/** A subscriber and the loop of its thread. Any thread may read the counters. */
final class SubscriberTask implements Runnable {
    private static final Duration POLL_TIMEOUT = Duration.ofMillis(100);

    private final Subscriber subscriber;
    private final int checkInterval;
    private final Recorder endToEnd;
    private final Map<Integer, SequenceTracker> producers = new ConcurrentHashMap<>();
    private volatile long received;
    private volatile long distinct;
    private volatile long corrupt;
    private volatile long lastReceivedNs = System.nanoTime();
    private volatile String firstError;
    private volatile boolean running = true;

    SubscriberTask(Subscriber subscriber, int checkInterval, Recorder endToEnd) {
        this.subscriber = subscriber;
        this.checkInterval = checkInterval;
        this.endToEnd = endToEnd;
    }

    @Override
    public void run() {
        try (subscriber) {
            while (running) {
                subscriber.poll(POLL_TIMEOUT, this::onMessage);
            }
        } catch (Exception e) {
            if (running) {
                firstError = e.toString();
            }
        }
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // One thread writes.
    private void onMessage(byte[] value) {
        long nowNs = System.nanoTime();
        lastReceivedNs = nowNs;
        received++;
        Stamp stamp = Stamp.read(value);
        if (stamp == null || (stamp.sequence() % checkInterval == 0 && !Stamp.isIntact(value))) {
            corrupt++;
            return;
        }
        SequenceTracker tracker = producers.get(stamp.producer());
        if (tracker == null) {
            tracker = new SequenceTracker();
            producers.put(stamp.producer(), tracker);
        }
        if (tracker.add(stamp.sequence())) {
            distinct++;
            endToEnd.recordValue(Math.max(0, Math.min(Traffic.HIGHEST_NS, WallClock.of(nowNs) - stamp.sentNs())));
        }
    }

    void stop() {
        running = false;
    }

    /** Closes a subscriber that never ran. */
    void close() {
        subscriber.close();
    }

    long received() {
        return received;
    }

    long distinct() {
        return distinct;
    }

    long corrupt() {
        return corrupt;
    }

    /** The time of the last message, of {@link System#nanoTime}. */
    long lastReceivedNs() {
        return lastReceivedNs;
    }

    String firstError() {
        return firstError;
    }

    /** The highest sequence received from a producer; -1 if there is none. */
    long highestOf(int producer) {
        SequenceTracker tracker = producers.get(producer);
        return tracker == null ? -1 : tracker.highest();
    }

    /** The number of missing messages below the highest received sequence of each producer. */
    long gaps() {
        return producers.values().stream()
                .mapToLong(tracker -> tracker.highest() + 1 - tracker.distinct())
                .sum();
    }
}
