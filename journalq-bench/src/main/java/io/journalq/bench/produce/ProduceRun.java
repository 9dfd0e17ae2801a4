package io.journalq.bench.produce;

import io.journalq.bench.BenchException;
import io.journalq.bench.driver.BatchProducer;
import io.journalq.bench.driver.BrokerDriver;
import io.journalq.bench.driver.ClientDriver;
import io.journalq.bench.driver.ClientDriver.ProducerSettings;
import io.journalq.bench.driver.SyncProducer;
import io.journalq.bench.measure.Latency;
import io.journalq.bench.measure.ResourceUse;
import io.journalq.bench.payload.PayloadPool;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.HdrHistogram.Histogram;

/**
 * Runs one case against one broker: warm-up, the measured stretch, then the checks. Messages acknowledged must be as many
 * as the partitions grew by, and a sample is read back and compared. One thread calls it.
 */
public final class ProduceRun {
    private static final long STOP_TIMEOUT_MS = 60_000;
    private static final long PROGRESS_INTERVAL_MS = 1_000;
    private static final double SHORTEST_RATE_SECONDS = 0.5;
    /** Partitions of which the newest messages are read back when no consumers read along, and how many of each. */
    private static final int SAMPLED_PARTITIONS = 5;

    private static final int SAMPLED_MESSAGES = 1_000;

    private final BrokerDriver broker;
    private final ClientDriver client;
    private final ProduceSettings settings;
    private final PayloadPool pool;
    private final Consumer<String> progress;

    /** @param progress gets a line a second */
    public ProduceRun(
            BrokerDriver broker,
            ClientDriver client,
            ProduceSettings settings,
            PayloadPool pool,
            Consumer<String> progress) {
        this.broker = broker;
        this.client = client;
        this.settings = settings;
        this.pool = pool;
        this.progress = progress;
    }

    /** Runs it; the topic is created when it is missing. */
    public ProduceResult run() throws InterruptedException {
        if (!broker.topics().contains(settings.topic())) {
            broker.createTopic(settings.topic(), settings.partitions());
        }
        List<Long> startOffsets = broker.endOffsets(settings.topic(), settings.partitions());
        long storedBefore = broker.storedBytes(settings.topic());
        Consumption consumption = new Consumption(pool, startOffsets);
        if (settings.produceCase().consumed()) {
            consumption.start(client, broker.bootstrap(), settings.topic(), settings.consumers());
        }
        Load load = new Load(settings, pool);
        List<AutoCloseable> producers = new ArrayList<>();
        Callers callers = startCallers(load, producers);
        Stretch measured = null;
        InterruptedException interruption = null;
        try {
            pass(settings.warmup(), "warm-up", load, consumption);
            measured = measure(load, consumption);
        } catch (InterruptedException interrupted) {
            interruption = interrupted;
        }
        load.stop();
        boolean stopped = callers.join(STOP_TIMEOUT_MS);
        closeAll(producers);
        if (interruption != null) {
            throw interruption;
        }
        if (!stopped) {
            throw new BenchException("a sender does not stop", "look at the broker's log");
        }
        return check(load, consumption, startOffsets, storedBefore, measured);
    }

    private Callers startCallers(Load load, List<AutoCloseable> producers) {
        ProducerSettings producerSettings = new ProducerSettings(
                broker.bootstrap(), settings.topic(), settings.produceCase().compression(), settings.clientSettings());
        Callers callers = new Callers(settings.virtualThreads());
        for (int i = 0; i < settings.producers(); i++) {
            producers.add(
                    settings.produceCase().batched()
                            ? client.openBatchProducer(producerSettings)
                            : client.openSyncProducer(producerSettings));
        }
        for (int i = 0; i < settings.threads(); i++) {
            int caller = i;
            AutoCloseable producer = producers.get(i % producers.size());
            callers.start("sender-" + caller, () -> {
                if (producer instanceof SyncProducer sync) {
                    load.sendOneByOne(caller, sync);
                } else if (producer instanceof BatchProducer batches) {
                    load.sendBatches(caller, batches);
                }
            });
        }
        return callers;
    }

    /** What the measured stretch gave. */
    private record Stretch(double qps, double consumedPerSecond, Histogram latencies, ResourceUse use) {}

    private Stretch measure(Load load, Consumption consumption) throws InterruptedException {
        long acknowledgedBefore = load.acknowledged();
        long consumedBefore = consumption.consumed();
        ResourceUse.Meter meter = ResourceUse.start(broker.pid());
        load.beginMeasuring();
        pass(settings.duration(), "case " + settings.produceCase().number(), load, consumption);
        ResourceUse use = meter.stop();
        long acknowledged = load.acknowledged() - acknowledgedBefore;
        long consumed = consumption.consumed() - consumedBefore;
        return new Stretch(acknowledged / use.seconds(), consumed / use.seconds(), load.endMeasuring(), use);
    }

    private void pass(Duration time, String what, Load load, Consumption consumption) throws InterruptedException {
        long endNs = System.nanoTime() + time.toNanos();
        long last = load.acknowledged();
        long lastConsumed = consumption.consumed();
        long lastNs = System.nanoTime();
        while (System.nanoTime() < endNs) {
            Thread.sleep(Math.max(1, Math.min(PROGRESS_INTERVAL_MS, (endNs - System.nanoTime()) / 1_000_000)));
            long nowNs = System.nanoTime();
            long now = load.acknowledged();
            long nowConsumed = consumption.consumed();
            double seconds = (nowNs - lastNs) / 1e9;
            if (seconds < SHORTEST_RATE_SECONDS) {
                continue; // The rest of the stretch, too short for a rate.
            }
            String line = "%s %s: %,.0f msg/s".formatted(broker.name(), what, (now - last) / seconds);
            if (settings.produceCase().consumed()) {
                line += ", consumed %,.0f msg/s".formatted((nowConsumed - lastConsumed) / seconds);
            }
            progress.accept(load.errors() == 0 ? line : line + ", %,d errors".formatted(load.errors()));
            last = now;
            lastConsumed = nowConsumed;
            lastNs = nowNs;
        }
    }

    private ProduceResult check(
            Load load, Consumption consumption, List<Long> startOffsets, long storedBefore, Stretch measured)
            throws InterruptedException {
        List<Long> endOffsets = broker.endOffsets(settings.topic(), settings.partitions());
        long inJournal = 0;
        for (int partition = 0; partition < settings.partitions(); partition++) {
            inJournal += endOffsets.get(partition) - startOffsets.get(partition);
        }
        Consumption reader = consumption;
        long expected = inJournal;
        if (!settings.produceCase().consumed()) {
            List<Long> sampleStarts = new ArrayList<>(endOffsets);
            expected = 0;
            int step = Math.max(1, settings.partitions() / SAMPLED_PARTITIONS);
            for (int partition = 0; partition < settings.partitions(); partition += step) {
                long from = Math.max(startOffsets.get(partition), endOffsets.get(partition) - SAMPLED_MESSAGES);
                sampleStarts.set(partition, from);
                expected += endOffsets.get(partition) - from;
            }
            reader = new Consumption(pool, sampleStarts);
            reader.start(client, broker.bootstrap(), settings.topic(), 1);
        }
        reader.finish(expected, STOP_TIMEOUT_MS);
        String problem = problem(load, inJournal, expected, reader);
        long storedBytes = broker.storedBytes(settings.topic());
        double bytesPerMessage =
                storedBytes < 0 || inJournal == 0 ? -1 : (storedBytes - storedBefore) / (double) inJournal;
        Latency latency = Latency.of(Latency.SERVICE_TIME, measured.latencies());
        return new ProduceResult(
                settings,
                broker.name() + " " + broker.version(),
                client.name() + " " + client.version(),
                measured.qps(),
                measured.consumedPerSecond(),
                load.errors(),
                load.acknowledged(),
                inJournal,
                reader.verified(),
                problem,
                bytesPerMessage,
                latency,
                corrected(measured, latency),
                measured.use());
    }

    /** A caller that waits cannot send meanwhile: those calls are filled in at its mean pace. */
    private Latency corrected(Stretch measured, Latency latency) {
        if (settings.produceCase().batched() || latency.count() == 0) {
            return null;
        }
        long meanIntervalNs = (long) Math.max(1, measured.latencies().getMean());
        return Latency.of(Latency.CORRECTED, measured.latencies().copyCorrectedForCoordinatedOmission(meanIntervalNs));
    }

    private static String problem(Load load, long inJournal, long expected, Consumption reader) {
        if (load.errors() > 0) {
            return load.errors() + " messages failed, the first with: " + load.firstError();
        }
        if (load.acknowledged() != inJournal) {
            return load.acknowledged() + " messages were acknowledged, but the journal grew by " + inJournal;
        }
        if (reader.problem() != null) {
            return reader.problem();
        }
        if (reader.consumed() != expected) {
            return reader.consumed() + " messages were read back of " + expected;
        }
        return null;
    }

    private static void closeAll(List<AutoCloseable> producers) {
        for (AutoCloseable producer : producers) {
            try {
                producer.close();
            } catch (Exception failure) {
                System.err.println("journalq-bench: a producer does not close: " + failure);
            }
        }
    }
}
