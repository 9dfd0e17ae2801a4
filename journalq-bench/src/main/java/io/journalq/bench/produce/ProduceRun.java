package io.journalq.bench.produce;

import io.journalq.bench.BenchException;
import io.journalq.bench.driver.ClientDriver.BatchProducer;
import io.journalq.bench.driver.BrokerDriver;
import io.journalq.bench.driver.ClientDriver;
import io.journalq.bench.driver.ClientDriver.ProducerSettings;
import io.journalq.bench.driver.ClientDriver.SyncProducer;
import io.journalq.bench.measure.ResourceUse;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.produce.ProduceResult.Checks;
import io.journalq.bench.produce.ProduceResult.Measured;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import io.journalq.bench.produce.ProduceSettings.Workload;

/**
 * Runs one case against one broker: warm-up, the measured stretch, then the checks of {@link Verification}. One thread
 * calls it.
 */
public final class ProduceRun {
    private static final long STOP_TIMEOUT_MS = 60_000;
    private static final long PROGRESS_INTERVAL_MS = 1_000;
    private static final Duration WARM_UP_STRETCH = Duration.ofSeconds(1);
    private static final double SHORTEST_RATE_SECONDS = 0.5;
    /** A broker that acknowledges nothing for so long is given up. */
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
     * @param reader reads the sample back; better not the client under test
     * @param progress gets a line a second
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

    /** Runs it; the topic is created when it is missing. */
    public ProduceResult run() throws InterruptedException {
        Workload workload = settings.workload();
        if (!broker.topics().contains(workload.topic())) {
            broker.createTopic(workload.topic(), workload.partitions());
        }
        Verification verification = new Verification(broker, reader, workload, pool);
        Consumption consumption = new Consumption(pool, verification.startOffsets(), Consumption.SAMPLE_INTERVAL);
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

    /** After a failure producers stay open: closing one whose broker is gone may take minutes, and the program ends. */
    private Measured drive(ProduceLoad load, Consumption consumption) throws InterruptedException {
        List<AutoCloseable> producers = openProducers();
        warmUp(load, producers, consumption);
        broker.writeBack();
        Callers callers = startCallers(load, producers);
        Measured measured;
        try {
            measured = measure(load, consumption);
        } finally {
            load.stop();
        }
        join(callers);
        closeAll(producers);
        return measured;
    }

    /**
     * In short stretches with callers of their own, as those of the measured one are. Whoever begins in the interpreter keeps its
     * frames as long as he lives, and a virtual thread with such frames is slow to park; and a caller's code is compiled anew
     * once the first of them ends.
     */
    private void warmUp(ProduceLoad load, List<AutoCloseable> producers, Consumption consumption) throws InterruptedException {
        Stage stage = new Stage("warm-up", settings.warmup(), System.nanoTime());
        int stretches = (int) Math.max(1, settings.warmup().dividedBy(WARM_UP_STRETCH));
        for (int i = 1; i <= stretches; i++) {
            Callers callers = startCallers(load, producers);
            try {
                pass(stage, settings.warmup().multipliedBy(i).dividedBy(stretches), load, consumption);
            } finally {
                load.stop();
            }
            join(callers);
            load.goOn();
        }
    }

    private static void join(Callers callers) throws InterruptedException {
        if (!callers.join(STOP_TIMEOUT_MS)) {
            throw new BenchException("a sender does not stop", "look at the broker's log");
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

    private Measured measure(ProduceLoad load, Consumption consumption) throws InterruptedException {
        long acknowledgedBefore = load.acknowledged();
        long consumedBefore = consumption.consumed();
        ResourceUse.Meter meter = ResourceUse.start(broker.pid());
        load.beginMeasuring();
        String what = "case " + settings.produceCase().number();
        pass(new Stage(what, settings.duration(), System.nanoTime()), settings.duration(), load, consumption);
        ProduceLoad.Latencies latencies = load.endMeasuring();
        ResourceUse use = meter.stop();
        long acknowledged = load.acknowledged() - acknowledgedBefore;
        long consumed = consumption.consumed() - consumedBefore;
        return new Measured(
                acknowledged / use.seconds(),
                consumed / use.seconds(),
                latencies.latency(),
                latencies.serviceTime(),
                use);
    }

    /** What progress lines say of the time that passes. */
    private record Stage(String what, Duration time, long startNs) {}

    /** Lets the time pass until {@code end} after the stage's start. */
    private void pass(Stage stage, Duration end, ProduceLoad load, Consumption consumption) throws InterruptedException {
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
                continue; // The rest of the stretch, too short for a rate.
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
                    "check that the broker runs and its log");
        }
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
