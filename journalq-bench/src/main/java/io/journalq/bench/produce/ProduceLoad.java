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
import org.HdrHistogram.Recorder;
import org.HdrHistogram.Histogram;

/** What the callers do, and what they count. Bodies run on callers' threads; counters may be read by any thread. */
final class ProduceLoad {
    /** A caller whose calls fail waits before the next, twice as long each time, up to the second of these. */
    private static final long FIRST_PAUSE_MS = 1;

    private static final int MOST_DOUBLINGS = 9;

    private final ProduceSettings settings;
    private final PayloadPool pool;
    private final LongAdder acknowledged = new LongAdder();
    private final LongAdder errors = new LongAdder();
    private final AtomicReference<String> firstError = new AtomicReference<>();
    private final Recorder serviceTimes = new Recorder(Latency.HIGHEST_NS, Latency.DIGITS);
    private final Recorder fromSchedule = new Recorder(Latency.HIGHEST_NS, Latency.DIGITS);
    private volatile boolean running = true;

    ProduceLoad(ProduceSettings settings, PayloadPool pool) {
        this.settings = settings;
        this.pool = pool;
    }

    /** One caller of the synchronous cases: sends, waits, sends the next. */
    void sendOneByOne(int caller, SyncProducer producer) {
        SendSchedule pace = pace(caller, 1);
        long number = firstMessageOf(caller);
        int partition = firstPartitionOf(caller);
        int failuresInARow = 0;
        while (running) {
            long dueNs = pace.awaitNext(this::isRunning);
            if (!running) {
                return;
            }
            long startNs = pace.hasSchedule() ? System.nanoTime() : dueNs;
            try {
                producer.send(partition, pool.message(number));
                answered(1, pace, dueNs, startNs);
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
    }

    /** One caller of the asynchronous cases: hands batches over while fewer than the bound are unanswered. */
    void sendBatches(int caller, BatchProducer producer) {
        int batchSize = settings.workload().batchSize();
        SendSchedule pace = pace(caller, batchSize);
        Semaphore room = new Semaphore(settings.tuning().inFlightBatches());
        AtomicInteger failuresInARow = new AtomicInteger();
        long number = firstMessageOf(caller);
        int partition = firstPartitionOf(caller);
        while (running) {
            long dueNs = pace.awaitNext(this::isRunning);
            room.acquireUninterruptibly();
            if (!running || !pause(failuresInARow.get())) {
                room.release();
                break;
            }
            List<byte[]> batch = new ArrayList<>(batchSize);
            for (int i = 0; i < batchSize; i++) {
                batch.add(pool.message(number++));
            }
            long startNs = System.nanoTime();
            try {
                producer.send(partition, batch, failure -> {
                    if (failure == null) {
                        failuresInARow.setPlain(0);
                        answered(batchSize, pace, dueNs, startNs);
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
        }
        room.acquireUninterruptibly(settings.tuning().inFlightBatches());
    }

    private SendSchedule pace(int caller, int messagesPerCall) {
        return SendSchedule.of(
                settings.messagesPerSecond(),
                messagesPerCall,
                caller,
                settings.tuning().threads());
    }

    private void answered(int messages, SendSchedule pace, long dueNs, long startNs) {
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

    /** Leaves a broker that refuses everything some air; false when the caller is to end. */
    private boolean pause(int failuresInARow) {
        if (failuresInARow == 0) {
            return true;
        }
        try {
            Thread.sleep(FIRST_PAUSE_MS << Math.min(MOST_DOUBLINGS, failuresInARow - 1));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
        return true;
    }

    /** Callers begin at different places of the pool and of the partitions. */
    private long firstMessageOf(int caller) {
        return (long) caller * pool.size() / Math.max(1, settings.tuning().threads());
    }

    private int firstPartitionOf(int caller) {
        int partitions = settings.workload().partitions();
        return (int) ((long) caller * partitions / Math.max(1, settings.tuning().threads())) % partitions;
    }

    /** Only latencies from here on count; those of the warm-up were taken too, so that the same code ran all the time. */
    void beginMeasuring() {
        serviceTimes.reset();
        fromSchedule.reset();
    }

    /** The latencies since {@link #beginMeasuring}, once. */
    Latencies endMeasuring() {
        return Latencies.of(
                settings.messagesPerSecond() > 0,
                serviceTimes.getIntervalHistogram(),
                fromSchedule.getIntervalHistogram());
    }

    /** Callers end after what they have under way. */
    void stop() {
        running = false;
    }

    /** Callers that begin now go on until the next stop. */
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

    /** The first failure in its own words; null when there was none. */
    String firstError() {
        return firstError.get();
    }

    /**
     * The two views of a run's latency.
     *
     * @param latency without coordinated omission: from schedule where there is one, corrected where there is none
     * @param serviceTime of the calls that were made
     */
    record Latencies(Latency latency, Latency serviceTime) {

        /**
         * Without a schedule each caller, and each place for a batch in flight, waits for an answer before it goes on: what
         * it would have sent at its mean pace while one answer was late is filled in.
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
