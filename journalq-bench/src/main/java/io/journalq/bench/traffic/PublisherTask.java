package io.journalq.bench.traffic;

import io.journalq.bench.driver.ClientDriver.Publisher;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.payload.Stamp;
import io.journalq.bench.produce.SendSchedule;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.HdrHistogram.Recorder;

/** A publisher and the loop of its thread. Any thread may read the counters. */
final class PublisherTask implements Runnable {
    private static final long WAIT_MS = 50;
    private static final long FIRST_PAUSE_MS = 1;
    private static final int MAX_DOUBLINGS = 9;

    private final int number;
    private final Publisher publisher;
    private final PayloadPool pool;
    private final Traffic.Settings settings;
    private final SendSchedule pace;
    private final Semaphore room;
    private final LongSupplier slowest;
    private final AtomicLong sent = new AtomicLong();
    private final LongAdder confirmed = new LongAdder();
    private final LongAdder failed = new LongAdder();
    private final Recorder acknowledged;
    private volatile String firstError;
    private volatile boolean running = true;
    private volatile boolean finished;
    private int failuresInARow;

    /**
     * Prepares a publisher.
     *
     * @param slowest the highest sequence of this publisher that the slowest subscriber has received
     * @param acknowledged records the time from when a message was due until it was acknowledged, in nanoseconds
     */
    PublisherTask(
            int number,
            Publisher publisher,
            PayloadPool pool,
            Traffic.Settings settings,
            LongSupplier slowest,
            Recorder acknowledged) {
        this.number = number;
        this.publisher = publisher;
        this.pool = pool;
        this.settings = settings;
        this.slowest = slowest;
        this.acknowledged = acknowledged;
        this.room = new Semaphore(settings.unconfirmed());
        this.pace = SendSchedule.of(settings.messagesPerSecond(), 1, number, settings.publishers());
    }

    @Override
    public void run() {
        try {
            while (running && (settings.messagesPerPublisher() == 0 || sent.get() < settings.messagesPerPublisher())) {
                long dueNs = pace.awaitNext(() -> running);
                if (!running || !awaitWindow() || !awaitRoom()) {
                    break;
                }
                publishOne(pace.hasSchedule() ? dueNs : System.nanoTime());
            }
            publisher.flush();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (Exception e) {
            note(e);
        } finally {
            finished = true;
        }
    }

    private void publishOne(long dueNs) throws InterruptedException {
        long sequence = sent.getAndIncrement();
        byte[] value = pool.message(sequence).clone();
        new Stamp(number, sequence, WallClock.of(dueNs)).write(value);
        try {
            publisher.publish(value, failure -> {
                room.release();
                if (failure == null) {
                    confirmed.increment();
                    acknowledged.recordValue(Math.max(0, Math.min(Traffic.HIGHEST_NS, System.nanoTime() - dueNs)));
                } else {
                    failed.increment();
                    note(failure);
                }
            });
            failuresInARow = 0;
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            room.release();
            failed.increment();
            note(e);
            TimeUnit.MILLISECONDS.sleep(FIRST_PAUSE_MS << Math.min(MAX_DOUBLINGS, failuresInARow++));
        }
    }

    private boolean awaitRoom() throws InterruptedException {
        while (running) {
            if (room.tryAcquire(WAIT_MS, TimeUnit.MILLISECONDS)) {
                return true;
            }
        }
        return false;
    }

    /** Waits for the window. Continues after {@link Traffic#LOST_AFTER_NS} without progress, because messages may be lost. */
    private boolean awaitWindow() throws InterruptedException {
        if (settings.window() == 0) {
            return true;
        }
        long own = Math.max(1, settings.window() / settings.publishers());
        long seen = slowest.getAsLong();
        long lastChangeNs = System.nanoTime();
        while (running && sent.get() - 1 - seen >= own) {
            TimeUnit.MICROSECONDS.sleep(WAIT_MS);
            long now = slowest.getAsLong();
            if (now != seen) {
                lastChangeNs = System.nanoTime();
            } else if (System.nanoTime() - lastChangeNs > Traffic.LOST_AFTER_NS) {
                return true;
            }
            seen = now;
        }
        return running;
    }

    private void note(Throwable failure) {
        if (firstError == null) {
            firstError = failure.toString();
        }
    }

    void stop() {
        running = false;
    }

    /** Whether everything was sent and has received its response. */
    boolean isFinished() {
        return finished;
    }

    void close() {
        publisher.close();
    }

    long sent() {
        return sent.get();
    }

    long confirmed() {
        return confirmed.sum();
    }

    long failed() {
        return failed.sum();
    }

    String firstError() {
        return firstError;
    }
}
