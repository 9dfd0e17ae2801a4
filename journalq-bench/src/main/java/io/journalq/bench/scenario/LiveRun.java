package io.journalq.bench.scenario;

import io.journalq.bench.BenchException;
import io.journalq.bench.measure.BrokerNode;
import io.journalq.bench.measure.BrokerSampler;
import io.journalq.bench.measure.BrokerSampler.BrokerSample;
import io.journalq.bench.measure.Latency;
import io.journalq.bench.measure.ProcessUsage;
import io.journalq.bench.measure.ResourceUse;
import io.journalq.bench.output.ResultDirectory;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.peer.PubSubDriver;
import io.journalq.bench.traffic.Traffic;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.HdrHistogram.Histogram;

/** One run of {@link LiveCommand}. Reports progress every second, and samples all values at each interval. One thread. */
final class LiveRun {
    private static final long SECOND_NS = 1_000_000_000L;
    /** If no message arrives for this time, the missing messages count as lost. */
    private static final long SILENCE_MS = 30_000;

    /** A message that comes again comes soon after the last one. */
    private static final long QUIET_MS = 1_000;

    private static final long RESPONSE_TIMEOUT_MS = 60_000;

    private final PubSubDriver driver;
    private final String topic;
    private final Traffic.Settings settings;
    private final PayloadPool pool;
    private final Consumer<String> progress;
    private final List<LiveSample> samples = new ArrayList<>();
    private final Histogram endToEnd = new Histogram(3);
    private final Histogram acknowledged = new Histogram(3);

    LiveRun(PubSubDriver driver, String topic, Traffic.Settings settings, PayloadPool pool, Consumer<String> progress) {
        this.driver = driver;
        this.topic = topic;
        this.settings = settings;
        this.pool = pool;
        this.progress = progress;
    }

    LiveResult run(
            Duration warmup, Duration duration, Duration interval, List<BrokerNode> nodes, ResultDirectory results)
            throws InterruptedException {
        try (Traffic traffic = Traffic.start(driver, topic, settings, pool);
                Writer out = Files.newBufferedWriter(results.file("samples.csv"))) {
            out.write(LiveSample.HEADER);
            traffic.warmUp(warmup);
            List<BrokerSampler> samplers =
                    nodes.stream().map(BrokerSampler::new).toList();
            nodes.forEach(node -> ProcessUsage.forgetMaximum(node.pid()));
            // The meter reads the metrics of brokers that have them. The traffic of that time does not count.
            ResourceUse.Meter meter = ResourceUse.start(nodes);
            traffic.takeEndToEnd();
            traffic.takeAcknowledged();
            Traffic.Counts before = traffic.counts();
            long startNs = System.nanoTime();
            watch(traffic, startNs, duration, interval, samplers, out);
            double seconds = (System.nanoTime() - startNs) / 1e9;
            Traffic.Counts measured = traffic.counts().since(before);
            ResourceUse use = meter.stop();
            boolean stopped = traffic.stopPublishing(RESPONSE_TIMEOUT_MS);
            traffic.drain(SILENCE_MS);
            Thread.sleep(QUIET_MS);
            // What was under way when the time was over counts as well: after a stall, these are the slowest messages.
            endToEnd.add(traffic.takeEndToEnd());
            acknowledged.add(traffic.takeAcknowledged());
            String error = traffic.firstError();
            return new LiveResult(
                    seconds,
                    measured,
                    traffic.counts(),
                    traffic.lost(),
                    Latency.of(Latency.FROM_SCHEDULE, endToEnd),
                    Latency.of(Latency.FROM_SCHEDULE, acknowledged),
                    error == null && !stopped ? "messages were not acknowledged within a minute" : error,
                    List.copyOf(samples),
                    use,
                    samplers.stream().map(BrokerSampler::sample).toList());
        } catch (IOException e) {
            throw new BenchException("cannot write samples.csv", "use --results with a writable directory", e);
        }
    }

    private void watch(
            Traffic traffic,
            long startNs,
            Duration duration,
            Duration interval,
            List<BrokerSampler> samplers,
            Writer out)
            throws InterruptedException, IOException {
        long endNs = startNs + duration.toNanos();
        Traffic.Counts last = traffic.counts();
        Traffic.Counts lastSampled = last;
        long lastNs = startNs;
        long lastSampleNs = startNs;
        long nextNs = startNs;
        while (System.nanoTime() < endNs) {
            nextNs += SECOND_NS;
            long leftMs = (Math.min(nextNs, endNs) - System.nanoTime()) / 1_000_000L;
            if (leftMs > 0) {
                Thread.sleep(leftMs);
            }
            Traffic.Counts now = traffic.counts();
            long nowNs = System.nanoTime();
            if (nowNs - lastSampleNs >= interval.toNanos() - SECOND_NS / 10 || nowNs >= endNs) {
                LiveSample sample =
                        sample(traffic, nowNs - startNs, now.since(lastSampled), nowNs - lastSampleNs, samplers);
                samples.add(sample);
                out.write(sample.csv());
                out.flush();
                lastSampled = now;
                lastSampleNs = nowNs;
            }
            tell(now, now.since(last), (nowNs - startNs) / 1e9, duration, (nowNs - lastNs) / 1e9, traffic);
            last = now;
            lastNs = nowNs;
        }
    }

    private LiveSample sample(
            Traffic traffic, long atNs, Traffic.Counts stretch, long stretchNs, List<BrokerSampler> samplers) {
        Histogram received = traffic.takeEndToEnd();
        endToEnd.add(received);
        acknowledged.add(traffic.takeAcknowledged());
        return new LiveSample(
                atNs / 1e9,
                stretch.confirmed() * 1e9 / stretchNs,
                stretch.received() * 1e9 / stretchNs,
                Latency.of(Latency.FROM_SCHEDULE, received),
                BrokerSample.sum(samplers.stream().map(BrokerSampler::sample).toList()));
    }

    private void tell(
            Traffic.Counts now,
            Traffic.Counts since,
            double atSeconds,
            Duration duration,
            double seconds,
            Traffic traffic) {
        String line = "%s live, %.0f of %d s: published %,.0f/s, received %,.0f/s"
                .formatted(
                        driver.name(),
                        atSeconds,
                        duration.toSeconds(),
                        since.confirmed() / Math.max(0.001, seconds),
                        since.received() / Math.max(0.001, seconds));
        if (now.duplicated() + now.corrupt() + now.failed() > 0) {
            line += ", %,d repeated, %,d damaged, %,d failed".formatted(now.duplicated(), now.corrupt(), now.failed());
        }
        progress.accept(traffic.firstError() == null ? line : line + ", first problem: " + traffic.firstError());
    }
}
