package io.journalq.bench.produce;

import io.journalq.bench.BenchException;
import io.journalq.bench.driver.BrokerDriver;
import io.journalq.bench.driver.ClientDriver;
import io.journalq.bench.driver.ClientDriver.BatchProducer;
import io.journalq.bench.driver.ClientDriver.ProducerSettings;
import io.journalq.bench.driver.ClientDriver.SyncProducer;
import io.journalq.bench.measure.ResourceUse;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.produce.ProduceResult.Checks;
import io.journalq.bench.produce.ProduceResult.Measured;
import io.journalq.bench.produce.ProduceSettings.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Runs one case against one broker: the warm-up, the measured interval, and then {@link Verification}. One thread. */
public final class ProduceRun {
    private static final long STOP_TIMEOUT_MS = 60_000;
    private static final long PROGRESS_INTERVAL_MS = 1_000;
    private static final Duration WARM_UP_INTERVAL = Duration.ofSeconds(1);
    private static final double SHORTEST_RATE_SECONDS = 0.5;
    /** The run fails if the broker acknowledges nothing for this time. */
    private static final long STALL_TIMEOUT_NS = 30_000_000_000L;

    private final BrokerDriver broker;
    private final ClientDriver client;
    private final ClientDriver reader;
    private final ProduceSettings settings;
    private final PayloadPool pool;
    private final Consumer<String> progress;

    /**
     * Prepares a run.
     *
     * @param reader client that reads a sample back; should differ from the client under test
     * @param progress receives a line per second
     */
    public ProduceRun(
            BrokerDriver broker,
            ClientDriver client,
            ClientDriver reader,
            ProduceSettings settings,
            PayloadPool pool,
            Consumer<String> progress) {
        this.broker = broker;
        this.client = client;
        this.reader = reader;
        this.settings = settings;
        this.pool = pool;
        this.progress = progress;
    }

    /** Runs the case. Creates the topic if it does not exist. */
    public ProduceResult run() throws InterruptedException {
        Workload workload = settings.workload();
        broker.createTopic(workload.topic(), workload.partitions());
        Verification verification = new Verification(broker, reader, workload, pool);
        Consumption consumption = new Consumption(pool, verification.startOffsets(), Consumption.SAMPLE_INTERVAL);
        try {
            return run(verification, consumption);
        } finally {
            // After a failure, they would read on beside what is measured next.
            consumption.abandon();
        }
    }

    private ProduceResult run(Verification verification, Consumption consumption) throws InterruptedException {
        if (settings.produceCase().consumed()) {
            startConsumers(consumption);
        }
        ProduceLoad load = new ProduceLoad(settings, pool);
        Measured measured = drive(load, consumption);
        Checks checks = verification.check(load, settings.produceCase().consumed() ? consumption : null);
        return new ProduceResult(
                settings,
                broker.name() + " " + broker.version(),
                client.name() + " " + client.version(),
                measured,
                load.errors(),
                checks);
    }

    private void startConsumers(Consumption consumption) throws InterruptedException {
        Workload workload = settings.workload();
        var own = settings.tuning().consumerSettings();
        if (workload.groups() == 0) {
            consumption.start(client, broker.bootstrap(), workload.topic(), workload.consumers(), own);
        } else {
            consumption.startGroups(
                    client, broker.bootstrap(), workload.topic(), workload.groups(), workload.consumers(), own);
        }
    }

    /** Leaves producers open after a failure, because closing them may take minutes if the broker is gone. */
    private Measured drive(ProduceLoad load, Consumption consumption) throws InterruptedException {
        List<AutoCloseable> producers = openProducers();
        warmUp(load, producers, consumption);
        broker.writeBack();
        Callers callers = startCallers(load, producers);
        Rates rates;
        try {
            rates = measure(load, consumption);
        } finally {
            load.stop();
        }
        join(callers);
        // Calls that were under way when the time was over count as well: in a stall, these are the slowest.
        ProduceLoad.Latencies latencies = load.endMeasuring();
        closeAll(producers);
        return new Measured(
                rates.acknowledged() / rates.seconds(),
                rates.consumed() / rates.seconds(),
                latencies.latency(),
                latencies.serviceTime(),
                rates.use());
    }

    /**
     * Warms up in intervals of one second with new callers each, as the measured interval has new callers. A virtual thread
     * that started in the interpreter keeps frames that are slow to park for its whole life, and the end of the first caller
     * makes the JVM compile the loop of all callers again.
     */
    private void warmUp(ProduceLoad load, List<AutoCloseable> producers, Consumption consumption)
            throws InterruptedException {
        Stage stage = new Stage("warm-up", settings.warmup(), System.nanoTime());
        int intervals = (int) Math.max(1, settings.warmup().dividedBy(WARM_UP_INTERVAL));
        for (int i = 1; i <= intervals; i++) {
            Callers callers = startCallers(load, producers);
            try {
                pass(stage, settings.warmup().multipliedBy(i).dividedBy(intervals), load, consumption);
            } finally {
                load.stop();
            }
            join(callers);
            load.goOn();
        }
    }

    private static void join(Callers callers) throws InterruptedException {
        if (!callers.join(STOP_TIMEOUT_MS)) {
            throw new BenchException("a sender does not stop", "check the broker's log");
        }
    }

    private List<AutoCloseable> openProducers() {
        ProducerSettings producerSettings = new ProducerSettings(
                broker.bootstrap(),
                settings.workload().topic(),
                settings.produceCase().compression(),
                settings.tuning().producerSettings());
        List<AutoCloseable> producers = new ArrayList<>();
        for (int i = 0; i < settings.tuning().producers(); i++) {
            producers.add(
                    settings.produceCase().batched()
                            ? client.openBatchProducer(producerSettings)
                            : client.openSyncProducer(producerSettings));
        }
        return producers;
    }

    private Callers startCallers(ProduceLoad load, List<AutoCloseable> producers) {
        Callers callers = new Callers(settings.tuning().virtualThreads());
        for (int i = 0; i < settings.tuning().threads(); i++) {
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

    /** What happened in the measured time. */
    private record Rates(long acknowledged, long consumed, double seconds, ResourceUse use) {}

    /** Counts and takes the time within those of the meter, which reads the metrics of brokers that have them. */
    private Rates measure(ProduceLoad load, Consumption consumption) throws InterruptedException {
        ResourceUse.Meter meter = ResourceUse.start(broker.nodes());
        load.beginMeasuring();
        long acknowledgedBefore = load.acknowledged();
        long consumedBefore = consumption.consumed();
        long startNs = System.nanoTime();
        String what = "case " + settings.produceCase().number();
        pass(new Stage(what, settings.duration(), startNs), settings.duration(), load, consumption);
        long acknowledged = load.acknowledged() - acknowledgedBefore;
        long consumed = consumption.consumed() - consumedBefore;
        double seconds = (System.nanoTime() - startNs) / 1e9;
        return new Rates(acknowledged, consumed, seconds, meter.stop());
    }

    /** The part of the run that progress lines show. */
    private record Stage(String what, Duration time, long startNs) {}

    /** Reports progress until {@code end} after the start of the stage. */
    private void pass(Stage stage, Duration end, ProduceLoad load, Consumption consumption)
            throws InterruptedException {
        long endNs = stage.startNs + end.toNanos();
        long last = load.acknowledged();
        long lastConsumed = consumption.consumed();
        long lastNs = System.nanoTime();
        long movedNs = lastNs;
        while (System.nanoTime() < endNs) {
            Thread.sleep(Math.max(1, Math.min(PROGRESS_INTERVAL_MS, (endNs - System.nanoTime()) / 1_000_000)));
            long nowNs = System.nanoTime();
            double seconds = (nowNs - lastNs) / 1e9;
            if (seconds < SHORTEST_RATE_SECONDS) {
                continue; // The rest of the interval is too short for a rate.
            }
            long now = load.acknowledged();
            long nowConsumed = consumption.consumed();
            String line = "%s %s, %d of %d s: %,.0f msg/s"
                    .formatted(
                            broker.name(),
                            stage.what,
                            Math.round((nowNs - stage.startNs) / 1e9),
                            stage.time.toSeconds(),
                            (now - last) / seconds);
            if (settings.produceCase().consumed()) {
                line += ", consumed %,.0f msg/s".formatted((nowConsumed - lastConsumed) / seconds);
            }
            progress.accept(load.errors() == 0 ? line : line + ", %,d errors".formatted(load.errors()));
            movedNs = now == last ? movedNs : nowNs;
            giveUpWhenStalled(load, nowNs - movedNs);
            last = now;
            lastConsumed = nowConsumed;
            lastNs = nowNs;
        }
    }

    private void giveUpWhenStalled(ProduceLoad load, long stalledNs) {
        if (stalledNs > STALL_TIMEOUT_NS) {
            String why = load.firstError() == null ? "" : ", the first error was: " + load.firstError();
            throw new BenchException(
                    "nothing was acknowledged for " + stalledNs / 1_000_000_000L + " s" + why,
                    "check that the broker runs, and its log");
        }
    }

    private static void closeAll(List<AutoCloseable> producers) {
        for (AutoCloseable producer : producers) {
            try {
                producer.close();
            } catch (Exception failure) {
                System.err.println("journalq-bench: cannot close a producer: " + failure);
            }
        }
    }
}
