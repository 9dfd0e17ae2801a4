package io.journalq.bench.traffic;

import io.journalq.bench.payload.Stamp;
import io.journalq.bench.peer.PubSubDriver.Subscriber;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.HdrHistogram.Recorder;

/** One subscriber and its thread. Counters may be read by any thread. */
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

    long received() {
        return received;
    }

    long distinct() {
        return distinct;
    }

    long corrupt() {
        return corrupt;
    }

    /** Of {@link System#nanoTime}. */
    long lastReceivedNs() {
        return lastReceivedNs;
    }

    String firstError() {
        return firstError;
    }

    /** How far this subscriber has come with a publisher; -1 when it had nothing of it. */
    long highestOf(int producer) {
        SequenceTracker tracker = producers.get(producer);
        return tracker == null ? -1 : tracker.highest();
    }

    /** Messages that must have been sent before others that came, and did not come. */
    long gaps() {
        return producers.values().stream()
                .mapToLong(tracker -> tracker.highest() + 1 - tracker.distinct())
                .sum();
    }
}
