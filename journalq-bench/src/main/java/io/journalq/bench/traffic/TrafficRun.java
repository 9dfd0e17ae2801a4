package io.journalq.bench.traffic;

import io.journalq.bench.BenchException;
import io.journalq.bench.measure.BrokerNode;
import io.journalq.bench.measure.ProcessUsage;
import io.journalq.bench.measure.ResourceUse;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.peer.PubSubDriver;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogWriter;

/** Warms traffic up, measures it, and stops it. One thread. */
public final class TrafficRun {
    private static final int DIGITS = 3;
    private static final long SECOND_MS = 1_000;
    private static final long RESPONSE_TIMEOUT_MS = 60_000;
    /** If no message arrives for this time, the missing messages count as lost. */
    private static final long SILENCE_MS = 30_000;

    private static final long SHORT_SILENCE_MS = 3_000;

    private final PubSubDriver driver;
    private final Duration warmup;
    private final Duration duration;
    private final boolean mayLose;

    /** {@code mayLose}: whether the delivery guarantee permits losses; missing messages are then awaited for less time. */
    public TrafficRun(PubSubDriver driver, Duration warmup, Duration duration, boolean mayLose) {
        this.driver = driver;
        this.warmup = warmup;
        this.duration = duration;
        this.mayLose = mayLose;
    }

    /**
     * Runs traffic on an existing topic.
     *
     * @param nodes the processes of the broker
     * @param what description for the progress lines
     * @param log file for a histogram of the end-to-end latency per second; null for none. It is opened when traffic has
     *     started
     */
    public TrafficResult run(
            String topic,
            Traffic.Settings settings,
            PayloadPool pool,
            List<BrokerNode> nodes,
            String what,
            Supplier<Path> log)
            throws InterruptedException {
        Histogram endToEnd = new Histogram(DIGITS);
        try (Traffic traffic = Traffic.start(driver, topic, settings, pool);
                PrintStream out = log == null ? null : open(log.get())) {
            traffic.warmUp(warmup);
            nodes.forEach(node -> ProcessUsage.forgetMaximum(node.pid()));
            // The meter reads the metrics of brokers that have them. The traffic of that time does not count.
            ResourceUse.Meter meter = ResourceUse.start(nodes);
            traffic.takeEndToEnd();
            traffic.takeAcknowledged();
            HistogramLogWriter writer = out == null ? null : begin(out);
            Traffic.Counts before = traffic.counts();
            long startNs = System.nanoTime();
            measure(traffic, what, endToEnd, writer);
            Traffic.Counts measured = traffic.counts().since(before);
            double seconds = (System.nanoTime() - startNs) / 1e9;
            ResourceUse use = meter.stop();
            boolean stopped = traffic.stopPublishing(RESPONSE_TIMEOUT_MS);
            traffic.drain(mayLose ? SHORT_SILENCE_MS : SILENCE_MS);
            // What was under way when the time was over counts as well: after a stall, these are the slowest messages.
            Histogram acknowledged = traffic.takeAcknowledged();
            add(traffic.takeEndToEnd(), endToEnd, writer);
            String error = traffic.firstError();
            return new TrafficResult(
                    measured,
                    seconds,
                    traffic.lost(),
                    traffic.counts().corrupt(),
                    endToEnd,
                    acknowledged,
                    use,
                    error == null && !stopped ? "messages were not acknowledged within a minute" : error);
        }
    }

    private static PrintStream open(Path log) {
        try {
            return new PrintStream(log.toFile(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new BenchException("cannot write " + log, "use --results with a writable directory", e);
        }
    }

    private static HistogramLogWriter begin(PrintStream log) {
        HistogramLogWriter writer = new HistogramLogWriter(log);
        long nowMs = WallClock.nowNs() / 1_000_000;
        writer.outputLogFormatVersion();
        writer.outputStartTime(nowMs);
        writer.setBaseTime(nowMs);
        writer.outputLegend();
        return writer;
    }

    private void measure(Traffic traffic, String what, Histogram endToEnd, HistogramLogWriter writer)
            throws InterruptedException {
        long startNs = System.nanoTime();
        long endNs = startNs + duration.toNanos();
        Traffic.Counts last = traffic.counts();
        long lastNs = startNs;
        while (System.nanoTime() < endNs) {
            Thread.sleep(Math.max(1, Math.min(SECOND_MS, (endNs - System.nanoTime()) / 1_000_000)));
            Traffic.Counts now = traffic.counts();
            Histogram interval = traffic.takeEndToEnd();
            long nowNs = System.nanoTime();
            add(interval, endToEnd, writer);
            Traffic.Counts since = now.since(last);
            double seconds = Math.max(1e-3, (nowNs - lastNs) / 1e9);
            System.err.printf(
                    "%s %s, %.0f of %.0f s: published %,.0f/s, received %,.0f/s%n",
                    driver.name(),
                    what,
                    (nowNs - startNs) / 1e9,
                    duration.toMillis() / 1e3,
                    since.confirmed() / seconds,
                    since.received() / seconds);
            last = now;
            lastNs = nowNs;
        }
    }

    private static void add(Histogram interval, Histogram endToEnd, HistogramLogWriter writer) {
        endToEnd.add(interval);
        if (writer != null) {
            writer.outputIntervalHistogram(interval);
        }
    }
}
