package io.journalq.bench.traffic;

import io.journalq.bench.measure.ProcessUsage;
import io.journalq.bench.measure.ResourceUse;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.peer.PubSubDriver;
import java.io.PrintStream;
import java.time.Duration;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogWriter;

/** Traffic that is warmed up, measured for a while, and brought to an end. One thread. */
public final class TrafficRun {
    private static final int DIGITS = 3;
    private static final long SECOND_MS = 1_000;
    private static final long ANSWER_TIMEOUT_MS = 60_000;
    /** After so long without a message, those that are missing count as lost. */
    private static final long SILENCE_MS = 30_000;

    private static final long SHORT_SILENCE_MS = 3_000;

    private final PubSubDriver driver;
    private final Duration warmup;
    private final Duration duration;
    private final boolean mayLose;

    /** {@code mayLose}: whether losses are within the promise; those that are missing are then not waited for as long. */
    public TrafficRun(PubSubDriver driver, Duration warmup, Duration duration, boolean mayLose) {
        this.driver = driver;
        this.warmup = warmup;
        this.duration = duration;
        this.mayLose = mayLose;
    }

    /**
     * Runs traffic on a topic that exists.
     *
     * @param pid of the broker, to watch; below 1 when it is not known
     * @param what for the lines of progress
     * @param log takes a histogram of the latency from end to end every second; null for none
     */
    public TrafficResult run(
            String topic, Traffic.Settings settings, PayloadPool pool, long pid, String what, PrintStream log)
            throws InterruptedException {
        Histogram endToEnd = new Histogram(DIGITS);
        try (Traffic traffic = Traffic.start(driver, topic, settings, pool)) {
            traffic.warmUp(warmup);
            traffic.takeEndToEnd();
            traffic.takeAnswers();
            ProcessUsage.forgetMaximum(pid);
            HistogramLogWriter writer = log == null ? null : begin(log);
            Traffic.Counts before = traffic.counts();
            ResourceUse.Meter meter = ResourceUse.start(pid);
            measure(traffic, what, endToEnd, writer);
            ResourceUse use = meter.stop();
            Traffic.Counts measured = traffic.counts().since(before);
            Histogram answers = traffic.takeAnswers();
            boolean stopped = traffic.stopPublishing(ANSWER_TIMEOUT_MS);
            traffic.drain(mayLose ? SHORT_SILENCE_MS : SILENCE_MS);
            String error = traffic.firstError();
            return new TrafficResult(
                    measured,
                    traffic.lost(),
                    traffic.counts().corrupt(),
                    endToEnd,
                    answers,
                    use,
                    error == null && !stopped ? "messages were not answered within a minute" : error);
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
            Histogram stretch = traffic.takeEndToEnd();
            long nowNs = System.nanoTime();
            endToEnd.add(stretch);
            if (writer != null) {
                writer.outputIntervalHistogram(stretch);
            }
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
}
