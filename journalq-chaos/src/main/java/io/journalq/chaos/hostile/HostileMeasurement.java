package io.journalq.chaos.hostile;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/**
 * Measures the latency of the healthy client, alone and beside a load in alternation, so that other activity of the
 * machine affects both. One thread.
 */
public final class HostileMeasurement {
    /** The columns of {@link Outcome#line}. */
    public static final String HEADING =
            "load | connections or threads | work of the load, per second | alone p50/p99/max ms | beside p50/p99/max"
                    + " ms | p99 factor | processors of broker, of load | resident MiB before, beside | heap MB | direct"
                    + " MB | open connections | counters that grew";

    private static final double SETTLE_SECONDS = 1;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double P99 = 0.99;

    private final LatencyProbe plainProbe;
    private final LatencyProbe tlsProbe;
    private final MetricsSampler metrics;
    private final long brokerPid;
    private final Map<HostileTarget, Integer> ports;
    private final boolean lowestPriority;
    private final double seconds;
    private final int rate;

    /**
     * Prepares the measurement of one broker.
     *
     * @param plainProbe the healthy client beside loads on the plain listener
     * @param tlsProbe the healthy client beside loads on listeners that require a login
     * @param brokerPid process id of the broker, on this machine
     * @param ports of the listeners
     * @param lowestPriority whether loads run with the lowest priority, except {@link HostileLoad#BUSY_PROCESSOR}
     * @param seconds duration of each measurement
     * @param rate messages per second of the healthy client
     */
    public HostileMeasurement(
            LatencyProbe plainProbe,
            LatencyProbe tlsProbe,
            MetricsSampler metrics,
            long brokerPid,
            Map<HostileTarget, Integer> ports,
            boolean lowestPriority,
            double seconds,
            int rate) {
        this.plainProbe = plainProbe;
        this.tlsProbe = tlsProbe;
        this.metrics = metrics;
        this.brokerPid = brokerPid;
        this.ports = Map.copyOf(ports);
        this.lowestPriority = lowestPriority;
        this.seconds = seconds;
        this.rate = rate;
    }

    /** The results of one round. */
    private record Round(
            LatencyProbe.Latencies alone,
            LatencyProbe.Latencies beside,
            long done,
            double donePerSecond,
            double brokerProcessors,
            double loadProcessors,
            MetricsSampler.Sample before,
            MetricsSampler.Sample during,
            long residentBeforeKib,
            long residentKib) {}

    /** The results of all rounds beside one load. */
    public record Outcome(List<Object> columns, double factor) {
        /** A table row with the columns of {@link #HEADING}. */
        public String line() {
            return String.format(
                    Locale.ROOT,
                    "%s | %d | %d %s, %.0f/s | %s | %s | %.1f | %.2f, %.2f | %.0f, %.0f | %d | %d | %d | %s",
                    columns.toArray());
        }
    }

    /**
     * Measures the latency beside a load.
     *
     * @param count number of connections or threads of the load
     * @param unreported rounds before those that are reported
     */
    public Outcome measure(HostileLoad load, int count, int unreported, int rounds)
            throws IOException, InterruptedException {
        for (int i = 0; i < unreported; i++) {
            round(load, count);
        }
        List<Round> all = new ArrayList<>();
        for (int i = 0; i < rounds; i++) {
            all.add(round(load, count));
        }
        Round last = all.get(rounds - 1);
        double factor = median(all, round -> round.beside().percentile(P99))
                / Math.max(1.0, median(all, round -> round.alone().percentile(P99)));
        List<Object> columns = List.of(
                load.name().toLowerCase(Locale.ROOT),
                count,
                last.done(),
                load.unit(),
                last.donePerSecond(),
                text(all, Round::alone),
                text(all, Round::beside),
                factor,
                last.brokerProcessors(),
                last.loadProcessors(),
                last.residentBeforeKib() / 1024.0,
                last.residentKib() / 1024.0,
                last.during().heapMegabytes(),
                last.during().directMegabytes(),
                last.during().openConnections(),
                last.during().growthSince(last.before()));
        return new Outcome(columns, factor);
    }

    private Round round(HostileLoad load, int count) throws IOException, InterruptedException {
        LatencyProbe probe = load.target() == HostileTarget.PLAINTEXT ? plainProbe : tlsProbe;
        // Meanwhile, the broker finishes the requests of the previous round and closes their connections.
        probe.run(SETTLE_SECONDS, rate);
        LatencyProbe.Latencies alone = probe.run(seconds, rate);
        MetricsSampler.Sample before = metrics.sample();
        long residentBeforeKib = ProcessUse.of(brokerPid).residentKib();
        boolean lowest = lowestPriority && load != HostileLoad.BUSY_PROCESSOR;
        try (HostileProcess hostile = HostileProcess.start(load, ports.get(load.target()), count, lowest)) {
            probe.run(SETTLE_SECONDS, rate);
            long beganNanos = System.nanoTime();
            long doneBefore = hostile.done();
            double brokerBefore = ProcessUse.of(brokerPid).processorSeconds();
            double loadBefore = ProcessUse.of(hostile.pid()).processorSeconds();
            LatencyProbe.Latencies beside = probe.run(seconds, rate);
            double elapsed = (System.nanoTime() - beganNanos) / NANOS_PER_SECOND;
            ProcessUse broker = ProcessUse.of(brokerPid);
            return new Round(
                    alone,
                    beside,
                    hostile.done(),
                    (hostile.done() - doneBefore) / elapsed,
                    (broker.processorSeconds() - brokerBefore) / elapsed,
                    (ProcessUse.of(hostile.pid()).processorSeconds() - loadBefore) / elapsed,
                    before,
                    metrics.sample(),
                    residentBeforeKib,
                    broker.residentKib());
        }
    }

    private static String text(List<Round> rounds, Function<Round, LatencyProbe.Latencies> which) {
        double toMillis = TimeUnit.MILLISECONDS.toMicros(1);
        return String.format(
                Locale.ROOT,
                "%.2f / %.2f / %.1f",
                median(rounds, round -> which.apply(round).percentile(0.5)) / toMillis,
                median(rounds, round -> which.apply(round).percentile(P99)) / toMillis,
                median(rounds, round -> which.apply(round).max()) / toMillis);
    }

    private static double median(List<Round> rounds, ToLongFunction<Round> value) {
        long[] sorted = rounds.stream().mapToLong(value).sorted().toArray();
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2.0;
    }
}
