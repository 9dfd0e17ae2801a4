package io.journalq.bench.produce;

import io.journalq.bench.driver.ClientDriver.BatchProducer;
import io.journalq.bench.driver.ClientDriver.SyncProducer;
import io.journalq.bench.measure.Latency;
import io.journalq.bench.payload.PayloadPool;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;

/** The loops of the threads that send, and their counters. Any thread may read the counters. */
final class ProduceLoad {
    /** A caller waits after a failed call: 1 ms after the first, then twice as long each time, 9 times. */
    private static final long FIRST_PAUSE_MS = 1;

    private static final int MAX_DOUBLINGS = 9;

    private final ProduceSettings settings;
    private final PayloadPool pool;
    private final LongAdder acknowledged = new LongAdder();
    private final LongAdder errors = new LongAdder();
    private final AtomicReference<String> firstError = new AtomicReference<>();
    private final Recorder serviceTimes = new Recorder(Latency.HIGHEST_NS, Latency.DIGITS);
    private final Recorder fromSchedule = new Recorder(Latency.HIGHEST_NS, Latency.DIGITS);
    /** When the callers were stopped. Written before {@code running}. */
    private long stoppedNs;

    private volatile boolean running = true;

    ProduceLoad(ProduceSettings settings, PayloadPool pool) {
        this.settings = settings;
        this.pool = pool;
    }

    /** The loop of a caller in the synchronous cases: sends a message, and waits for its acknowledgement. */
    void sendOneByOne(int caller, SyncProducer producer) {
        SendSchedule pace = pace(caller, 1);
        long number = firstMessageOf(caller);
        int partition = firstPartitionOf(caller);
        int failuresInARow = 0;
        while (running) {
            long dueNs = pace.awaitNext(this::isRunning);
            if (!running) {
                countUnsent(pace, dueNs);
                return;
            }
            long startNs = pace.hasSchedule() ? System.nanoTime() : dueNs;
            try {
                producer.send(partition, pool.message(number));
                acknowledge(1, pace, dueNs, startNs);
                failuresInARow = 0;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            } catch (Exception e) {
                failed(1, e);
                if (!pause(++failuresInARow)) {
                    return;
                }
            }
            number++;
            partition = partition + 1 == settings.workload().partitions() ? 0 : partition + 1;
        }
        countUnsent(pace, pace.awaitNext(this::isRunning));
    }

    /** The loop of a caller in the asynchronous cases: sends batches while fewer than the limit are unacknowledged. */
    void sendBatches(int caller, BatchProducer producer) {
        int batchSize = settings.workload().batchSize();
        SendSchedule pace = pace(caller, batchSize);
        Semaphore room = new Semaphore(settings.tuning().inFlightBatches());
        AtomicInteger failuresInARow = new AtomicInteger();
        long number = firstMessageOf(caller);
        int partition = firstPartitionOf(caller);
        long dueNs = pace.awaitNext(this::isRunning);
        while (running) {
            room.acquireUninterruptibly();
            if (!running || !pause(failuresInARow.get())) {
                room.release();
                break;
            }
            long callNs = dueNs;
            List<byte[]> batch = new ArrayList<>(batchSize);
            for (int i = 0; i < batchSize; i++) {
                batch.add(pool.message(number++));
            }
            long startNs = System.nanoTime();
            try {
                producer.send(partition, batch, failure -> {
                    if (failure == null) {
                        failuresInARow.setPlain(0);
                        acknowledge(batchSize, pace, callNs, startNs);
                    } else {
                        failuresInARow.incrementAndGet();
                        failed(batchSize, failure);
                    }
                    room.release();
                });
            } catch (Exception e) {
                failuresInARow.incrementAndGet();
                failed(batchSize, e);
                room.release();
            }
            partition = partition + 1 == settings.workload().partitions() ? 0 : partition + 1;
            dueNs = pace.awaitNext(this::isRunning);
        }
        room.acquireUninterruptibly(settings.tuning().inFlightBatches());
        countUnsent(pace, dueNs);
    }

    /**
     * Counts the time that calls have waited which were due before the stop and could not be made any more. Otherwise, a
     * stall at the end would count only for the one call that each caller was making.
     */
    private void countUnsent(SendSchedule pace, long firstDueNs) {
        if (running || !pace.hasSchedule()) {
            return;
        }
        long nowNs = System.nanoTime();
        for (long dueNs = firstDueNs; dueNs - stoppedNs < 0; dueNs = pace.awaitNext(() -> false)) {
            fromSchedule.recordValue(bounded(nowNs - dueNs));
        }
    }

    private SendSchedule pace(int caller, int messagesPerCall) {
        return SendSchedule.of(
                settings.messagesPerSecond(),
                messagesPerCall,
                caller,
                settings.tuning().threads());
    }

    private void acknowledge(int messages, SendSchedule pace, long dueNs, long startNs) {
        acknowledged.add(messages);
        long nowNs = System.nanoTime();
        serviceTimes.recordValue(bounded(nowNs - startNs));
        if (pace.hasSchedule()) {
            fromSchedule.recordValue(bounded(nowNs - dueNs));
        }
    }

    private static long bounded(long ns) {
        return Math.max(0, Math.min(Latency.HIGHEST_NS, ns));
    }

    private void failed(int messages, Throwable failure) {
        errors.add(messages);
        firstError.compareAndSet(null, failure.toString());
    }

    /** Waits after failed calls, so that a broker that refuses everything is not flooded. False if the caller is to end. */
    private boolean pause(int failuresInARow) {
        if (failuresInARow == 0) {
            return true;
        }
        try {
            Thread.sleep(FIRST_PAUSE_MS << Math.min(MAX_DOUBLINGS, failuresInARow - 1));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
        return true;
    }

    /** Callers start at different positions of the pool and at different partitions. */
    private long firstMessageOf(int caller) {
        return (long) caller * pool.size() / Math.max(1, settings.tuning().threads());
    }

    private int firstPartitionOf(int caller) {
        int partitions = settings.workload().partitions();
        return (int) ((long) caller * partitions / Math.max(1, settings.tuning().threads())) % partitions;
    }

    /** Discards the latencies of the warm-up. They were recorded too, so that the same code always runs. */
    void beginMeasuring() {
        serviceTimes.reset();
        fromSchedule.reset();
    }

    /** The latencies since {@link #beginMeasuring}. Called once. */
    Latencies endMeasuring() {
        return Latencies.of(
                settings.messagesPerSecond() > 0,
                serviceTimes.getIntervalHistogram(),
                fromSchedule.getIntervalHistogram());
    }

    /** Stops the callers after their current calls. */
    void stop() {
        stoppedNs = System.nanoTime();
        running = false;
    }

    /** Callers that start from now on run until the next stop. */
    void goOn() {
        running = true;
    }

    private boolean isRunning() {
        return running;
    }

    long acknowledged() {
        return acknowledged.sum();
    }

    long errors() {
        return errors.sum();
    }

    /** The first failure; null if there was none. */
    String firstError() {
        return firstError.get();
    }

    /**
     * The latency of a run in two forms.
     *
     * @param latency latency without coordinated omission: from the schedule if there is one, otherwise corrected
     * @param serviceTime duration of the calls that were made
     */
    record Latencies(Latency latency, Latency serviceTime) {

        /**
         * Without a schedule, each caller (and each slot for a batch in flight) waits for a response before it continues.
         * The calls that it would have made at its mean rate during a late response are added.
         */
        static Latencies of(boolean scheduled, Histogram serviceTimes, Histogram fromSchedule) {
            Latency serviceTime = Latency.of(Latency.SERVICE_TIME, serviceTimes);
            if (scheduled) {
                return new Latencies(Latency.of(Latency.FROM_SCHEDULE, fromSchedule), serviceTime);
            }
            long meanIntervalNs = (long) Math.max(1, serviceTimes.getMean());
            return new Latencies(
                    Latency.of(Latency.CORRECTED, serviceTimes.copyCorrectedForCoordinatedOmission(meanIntervalNs)),
                    serviceTime);
        }
    }
}
