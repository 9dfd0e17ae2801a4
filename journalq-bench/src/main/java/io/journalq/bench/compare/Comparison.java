package io.journalq.bench.compare;

import io.journalq.bench.BenchException;
import io.journalq.bench.compare.Presets.Preset;
import io.journalq.bench.load.BatchWork;
import io.journalq.bench.load.BrokerLoad;
import io.journalq.bench.measure.Machine;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.produce.ProduceCase;
import io.journalq.bench.produce.ProduceResult;
import io.journalq.bench.produce.ProduceSettings;
import io.journalq.bench.produce.ProduceSettings.Workload;
import io.journalq.bench.produce.Tuning;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Sweeps and alternating runs of one workload. One thread. */
public final class Comparison {
    private final Workload workload;
    private final PayloadPool pool;
    private final Duration warmup;
    private final Duration duration;

    public Comparison(Workload workload, PayloadPool pool, Duration warmup, Duration duration) {
        this.workload = workload;
        this.pool = pool;
        this.warmup = warmup;
        this.duration = duration;
    }

    /**
     * The results of both sides, in the order of the runs.
     *
     * @param built messages per second of {@link BatchWork} after each repetition; case 3 only
     * @param checked the same with the broker's validation
     * @param failure the reason why the case ended early, or null; if it is set, a side may have no results
     */
    public record Pair(
            List<ProduceResult> own,
            List<ProduceResult> peer,
            List<Double> built,
            List<Double> checked,
            String failure) {}

    /** Runs one case {@code repetitions} times on each side in turn: A B A B. The first failed run ends the case. */
    public Pair alternate(
            ProduceCase produceCase, Side own, Tuning ownTuning, Side peer, Tuning peerTuning, int repetitions)
            throws InterruptedException {
        List<ProduceResult> ours = new ArrayList<>();
        List<ProduceResult> theirs = new ArrayList<>();
        List<Double> built = new ArrayList<>();
        List<Double> checked = new ArrayList<>();
        String failure = null;
        try {
            for (int i = 0; i < repetitions; i++) {
                ours.add(own.run(settings(produceCase, ownTuning), pool));
                theirs.add(peer.run(settings(produceCase, peerTuning), pool));
                if (produceCase.batched() && !produceCase.consumed()) {
                    built.add(batchWork(false));
                    checked.add(batchWork(true));
                }
            }
        } catch (RuntimeException failed) {
            failure = failure(ours.size() + theirs.size() + 1, failed);
            System.err.println("case " + produceCase.number() + ", " + failure);
        }
        return new Pair(ours, theirs, built, checked, failure);
    }

    /**
     * The results of both sides without a client library, in the order of the runs.
     *
     * @param failure the reason why the runs ended early, or null; if it is set, a side may have no results
     */
    public record Loads(List<BrokerLoad.Result> own, List<BrokerLoad.Result> peer, String failure) {}

    /** Runs {@link Side#load} {@code repetitions} times on each side in turn. The first failed run ends this. */
    public Loads alternateLoads(Side own, Side peer, int repetitions) {
        List<BrokerLoad.Result> ours = new ArrayList<>();
        List<BrokerLoad.Result> theirs = new ArrayList<>();
        String failure = null;
        try {
            for (int i = 0; i < repetitions; i++) {
                ours.add(own.load(workload.partitions(), pool, warmup, duration));
                theirs.add(peer.load(workload.partitions(), pool, warmup, duration));
            }
        } catch (IOException | RuntimeException failed) {
            failure = failure(ours.size() + theirs.size() + 1, failed);
            System.err.println("without a client library, " + failure);
        }
        return new Loads(ours, theirs, failure);
    }

    /** A client library or a broker that has died can fail with any exception. */
    private static String failure(int run, Exception failed) {
        return "run " + run + " failed: " + (failed instanceof BenchException ? failed.getMessage() : failed);
    }

    /** Called while both brokers are frozen. */
    private double batchWork(boolean checked) throws InterruptedException {
        double rate = new BatchWork(pool, workload.batchSize(), checked).run(warmup, duration);
        System.err.printf(
                Locale.ROOT, "batches %s, no broker: %,.0f msg/s%n", checked ? "built and checked" : "built", rate);
        return rate;
    }

    /** Searches for the best settings of one side, with threads of one kind. */
    public Preset sweep(ProduceCase produceCase, Side side, boolean virtualThreads) throws InterruptedException {
        SearchSpace space = SearchSpace.of(side.name(), produceCase, virtualThreads);
        Sweep sweep = new Sweep(
                tuning -> score(side.run(settings(produceCase, tuning), pool)),
                trial -> System.err.println(side.name() + " case " + produceCase.number() + " tried " + trial));
        Tuning best = sweep.search(space.start(), space.knobs());
        return new Preset(
                side.name(),
                produceCase.number(),
                best,
                Math.round(sweep.bestScore()),
                Machine.here().inWords(),
                sweep.trials());
    }

    /** The lower of the rates of producers and consumers; 0 if the run failed a check. */
    private static double score(ProduceResult result) {
        if (result.problem() != null) {
            return 0;
        }
        double produced = result.measured().qps();
        return result.settings().produceCase().consumed()
                ? Math.min(produced, result.measured().consumedPerSecond())
                : produced;
    }

    private ProduceSettings settings(ProduceCase produceCase, Tuning tuning) {
        return new ProduceSettings(produceCase, workload, tuning, 0, warmup, duration);
    }
}
