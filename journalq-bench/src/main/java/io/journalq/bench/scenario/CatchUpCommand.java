package io.journalq.bench.scenario;

import io.journalq.bench.BenchException;
import io.journalq.bench.measure.BrokerSampler;
import io.journalq.bench.measure.Latency;
import io.journalq.bench.measure.Statistics;
import io.journalq.bench.option.ClusterOptions;
import io.journalq.bench.option.MessageOptions;
import io.journalq.bench.option.OptionTypes;
import io.journalq.bench.option.SingleBrokerOptions;
import io.journalq.bench.output.OutputOptions;
import io.journalq.bench.output.ResultDirectory;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.peer.PubSubDriver;
import io.journalq.bench.traffic.Traffic;
import io.journalq.common.commandline.DurationOption;
import io.journalq.common.commandline.SizeOption;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code journalq-bench catch-up}: a broker of a cluster is killed, and started again when it has missed something. */
@Command(
        name = "catch-up",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Measures how fast a killed broker of a cluster catches up.",
            "Publishes at --rate, kills one of the brokers (kill -9), starts it again when the others have stored --size"
                    + " more, and waits until all replicas are in sync. Publishers never stop.",
            "Exit code: 0 if the broker caught up and no message failed, 1 if not, 2 if the command line is wrong."
        },
        footer = {
            "",
            "Examples:",
            "  journalq-bench catch-up --brokers 3 --size 4GiB --rate 20000",
            "  journalq-bench catch-up --brokers 3 --mode consistent",
            "  journalq-bench catch-up --brokers 3 --broker kafka"
        })
public final class CatchUpCommand implements Callable<Integer> {
    private static final String DEFAULT_TOPIC = "catch-up-bench";
    /** The default. A killed broker must not lead for as long as a frozen one may be away in other scenarios. */
    private static final Map<String, String> KAFKA_SETTINGS = Map.of("broker.session.timeout.ms", "9000");

    private static final double MIB = 1 << 20;
    private static final int KILLED = 1;
    private static final long POLL_MS = 20;
    private static final long RESPONSE_TIMEOUT_MS = 60_000;
    private static final long CATCH_UP_TIMEOUT_NS = TimeUnit.MINUTES.toNanos(30);
    private static final long STALL_TIMEOUT_NS = TimeUnit.MINUTES.toNanos(1);

    @Option(
            names = "--size",
            defaultValue = "1GiB",
            paramLabel = "SIZE",
            converter = SizeOption.class,
            description = "What the broker misses (default: ${DEFAULT-VALUE}).")
    private long sizeBytes;

    @Option(
            names = "--rate",
            defaultValue = "20000",
            paramLabel = "MESSAGES",
            converter = OptionTypes.PositiveLong.class,
            description = "Messages per second that publishers send (default: ${DEFAULT-VALUE}).")
    private long rate;

    @Option(
            names = "--publishers",
            defaultValue = "2",
            paramLabel = "COUNT",
            converter = OptionTypes.PositiveInt.class,
            description = "Number of publishers (default: ${DEFAULT-VALUE}).")
    private int publishers;

    @Option(
            names = "--warmup",
            defaultValue = "5s",
            paramLabel = "DURATION",
            converter = DurationOption.class,
            description = "Time before the broker is killed (default: ${DEFAULT-VALUE}).")
    private Duration warmup;

    @Mixin
    private MessageOptions message;

    @Mixin
    private SingleBrokerOptions target;

    @Mixin
    private ClusterOptions cluster;

    @Mixin
    private ResultDirectory results;

    @Mixin
    private OutputOptions output;

    @Override
    public Integer call() throws InterruptedException {
        PayloadPool pool = message.pool();
        if (cluster.shape().replicas() < 3) {
            throw BenchException.wrongUsage(
                    "without three replicas, nobody could acknowledge while one is away", "use --brokers 3");
        }
        try (PubSubDriver driver = target.open(cluster, KAFKA_SETTINGS)) {
            driver.start();
            String topic = target.topic(DEFAULT_TOPIC);
            driver.createTopic(topic, target.partitions());
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("broker", driver.name());
            row.put("delivery", target.delivery(cluster).toString());
            String problem = measure(driver, topic, pool, row);
            row.put("check", problem == null ? "passed" : problem);
            Map<String, Object> about = new LinkedHashMap<>(driver.about());
            about.put("brokers", driver.nodes().size());
            about.put("publishers", publishers);
            about.put("partitions", target.partitions());
            about.put("rate", rate + "/s");
            about.put("message_size_bytes", message.sizeBytes());
            about.put("payload", message.payload());
            output.emit(about, List.of(row), Map.of(), results);
            return problem == null ? 0 : 1;
        }
    }

    /** Returns the first problem; null if there was none. */
    private String measure(PubSubDriver driver, String topic, PayloadPool pool, Map<String, Object> row)
            throws InterruptedException {
        Traffic.Settings settings = new Traffic.Settings(publishers, 0, rate, 0, Integer.MAX_VALUE, 0, 1);
        try (Traffic traffic = Traffic.start(driver, topic, settings, pool)) {
            traffic.warmUp(warmup);
            driver.kill(KILLED);
            long heldBytes = disk(driver, KILLED);
            awaitMissed(driver, topic, traffic);
            traffic.takeAcknowledged();
            Traffic.Counts before = traffic.counts();
            long startNs = System.nanoTime();
            driver.startAgain(KILLED);
            long respondedBytes = disk(driver, KILLED);
            long respondedNs = System.nanoTime();
            boolean inSync = awaitInSync(driver, topic, traffic);
            long inSyncNs = System.nanoTime();
            long endBytes = disk(driver, KILLED);
            double copySeconds = (inSyncNs - respondedNs) / 1e9;
            row.put("start_s", Statistics.thousandths((respondedNs - startNs) / 1e9));
            row.put("catch_up_s", Statistics.thousandths(copySeconds));
            row.put("copied_mib", Math.round((endBytes - heldBytes) / MIB));
            row.put("catch_up_mib_per_s", Statistics.tenths((endBytes - respondedBytes) / MIB / copySeconds));
            Traffic.Counts since = traffic.counts().since(before);
            row.put("published_per_s", Math.round(since.confirmed() * 1e9 / (inSyncNs - startNs)));
            Histogram acknowledged = traffic.takeAcknowledged();
            Latency latency = Latency.of(Latency.FROM_SCHEDULE, acknowledged);
            row.put("acknowledged_p50_us", latency.p50Us());
            row.put("acknowledged_p99_us", latency.p99Us());
            row.put("acknowledged_max_us", latency.maxUs());
            boolean stopped = traffic.stopPublishing(RESPONSE_TIMEOUT_MS);
            row.put("published", traffic.counts().confirmed());
            row.put("failed", traffic.counts().failed());
            if (traffic.firstError() != null) {
                return "a publisher failed: " + traffic.firstError();
            }
            if (!stopped) {
                return "messages were not acknowledged within a minute";
            }
            return inSync ? null : "the broker did not catch up within 30 minutes";
        }
    }

    private void awaitMissed(PubSubDriver driver, String topic, Traffic traffic) throws InterruptedException {
        Progress progress = new Progress(driver.name() + " published without one broker");
        long missed = sizeBytes / message.sizeBytes();
        long start = traffic.counts().confirmed();
        long last = start;
        long movedNs = System.nanoTime();
        while (last - start < missed || driver.isInSync(topic)) {
            Thread.sleep(POLL_MS);
            long now = traffic.counts().confirmed();
            movedNs = now == last ? movedNs : System.nanoTime();
            last = now;
            if (traffic.firstError() != null || System.nanoTime() - movedNs > STALL_TIMEOUT_NS) {
                throw new BenchException(
                        "the other brokers do not go on: " + traffic.firstError(), "check whether the disk is full");
            }
            progress.tell(last - start);
        }
    }

    private static boolean awaitInSync(PubSubDriver driver, String topic, Traffic traffic) throws InterruptedException {
        long endNs = System.nanoTime() + CATCH_UP_TIMEOUT_NS;
        while (!driver.isInSync(topic)) {
            if (System.nanoTime() > endNs || traffic.firstError() != null) {
                return false;
            }
            Thread.sleep(POLL_MS);
        }
        return true;
    }

    private static long disk(PubSubDriver driver, int node) {
        try {
            return BrokerSampler.allocatedBytes(driver.nodes().get(node).dataDirectory());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
