package io.journalq.bench.produce;

import io.journalq.bench.driver.BatchProducer;
import io.journalq.bench.driver.SyncProducer;
import io.journalq.bench.measure.Latency;
import io.journalq.bench.payload.PayloadPool;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;

/** What the callers do, and what they count. Bodies run on callers' threads; counters may be read by any thread. */
final class Load {
    private final ProduceSettings settings;
    private final PayloadPool pool;
    private final LongAdder acknowledged = new LongAdder();
    private final LongAdder errors = new LongAdder();
    private final AtomicReference<String> firstError = new AtomicReference<>();
    private final Recorder latencies = new Recorder(Latency.HIGHEST_NS, Latency.DIGITS);
    private volatile boolean running = true;
    private volatile boolean measuring;

    Load(ProduceSettings settings, PayloadPool pool) {
        this.settings = settings;
        this.pool = pool;
    }

    /** One caller of the synchronous cases: sends, waits, sends the next. */
    void sendOneByOne(int caller, SyncProducer producer) {
        long number = firstMessageOf(caller);
        int partition = firstPartitionOf(caller);
        while (running) {
            long startNs = System.nanoTime();
            try {
                producer.send(partition, pool.message(number));
                acknowledged.increment();
                if (measuring) {
                    latencies.recordValue(bounded(System.nanoTime() - startNs));
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            } catch (Exception e) {
                failed(1, e);
            }
            number++;
            partition = partition + 1 == settings.partitions() ? 0 : partition + 1;
        }
    }

    /** One caller of the asynchronous cases: hands batches over while fewer than the bound are unanswered. */
    void sendBatches(int caller, BatchProducer producer) {
        Semaphore room = new Semaphore(settings.inFlightBatches());
        long number = firstMessageOf(caller);
        int partition = firstPartitionOf(caller);
        while (running) {
            room.acquireUninterruptibly();
            List<byte[]> batch = new ArrayList<>(settings.batchSize());
            for (int i = 0; i < settings.batchSize(); i++) {
                batch.add(pool.message(number++));
            }
            long startNs = System.nanoTime();
            try {
                producer.send(partition, batch, failure -> {
                    room.release();
                    onAnswer(startNs, failure);
                });
            } catch (Exception e) {
                room.release();
                failed(settings.batchSize(), e);
            }
            partition = partition + 1 == settings.partitions() ? 0 : partition + 1;
        }
        room.acquireUninterruptibly(settings.inFlightBatches());
    }

    private void onAnswer(long startNs, Throwable failure) {
        if (failure != null) {
            failed(settings.batchSize(), failure);
            return;
        }
        acknowledged.add(settings.batchSize());
        if (measuring) {
            latencies.recordValue(bounded(System.nanoTime() - startNs));
        }
    }

    private static long bounded(long ns) {
        return Math.max(0, Math.min(Latency.HIGHEST_NS, ns));
    }

    private void failed(int messages, Throwable failure) {
        errors.add(messages);
        firstError.compareAndSet(null, failure.toString());
    }

    /** Callers begin at different places of the pool and of the partitions. */
    private long firstMessageOf(int caller) {
        return (long) caller * pool.size() / Math.max(1, settings.threads());
    }

    private int firstPartitionOf(int caller) {
        return (int) ((long) caller * settings.partitions() / Math.max(1, settings.threads())) % settings.partitions();
    }

    /** From now on latencies count. */
    void beginMeasuring() {
        latencies.reset();
        measuring = true;
    }

    Histogram endMeasuring() {
        measuring = false;
        return latencies.getIntervalHistogram();
    }

    void stop() {
        running = false;
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
}
