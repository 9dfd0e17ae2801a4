package io.journalq.bench.scenario;

import io.journalq.bench.option.MessageOptions;
import io.journalq.bench.option.OptionTypes;
import io.journalq.bench.option.SingleBrokerOptions;
import io.journalq.bench.output.OutputOptions;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.peer.PubSubDriver;
import io.journalq.bench.traffic.Traffic;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.HdrHistogram.Histogram;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code journalq-bench pub}: the publishing half of a benchmark as a separate program. */
@Command(
        name = "pub",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Publishes messages to a running broker, for journalq-bench sub to receive and check.",
            "Every message carries its producer, number, time and checksum.",
            "Exit code: 0 if every message was acknowledged, 1 if not, 2 if the command line is wrong."
        },
        footer = {"", "Example:", "  journalq-bench pub --bootstrap localhost:9092 --topic t --count 1000000"})
public final class PubCommand implements Callable<Integer> {
    static final String DEFAULT_TOPIC = "pub-sub-bench";

    private static final long POLL_MS = 100;

    @Option(
            names = "--count",
            defaultValue = "100000",
            paramLabel = "MESSAGES",
            converter = OptionTypes.PositiveLong.class,
            description = "Messages of all publishers together (default: ${DEFAULT-VALUE}).")
    private long count;

    @Option(
            names = "--parallelism",
            defaultValue = "1",
            paramLabel = "COUNT",
            converter = OptionTypes.PositiveInt.class,
            description = "Number of publishers (default: ${DEFAULT-VALUE}).")
    private int parallelism;

    @Option(
            names = "--rate",
            defaultValue = "0",
            paramLabel = "MESSAGES",
            converter = OptionTypes.NonNegativeLong.class,
            description = "Messages per second that are due over all publishers (default: 0, which means as fast as"
                    + " possible).")
    private long rate;

    @Option(
            names = "--unconfirmed",
            defaultValue = "2000",
            paramLabel = "MESSAGES",
            converter = OptionTypes.PositiveInt.class,
            description = "Maximum of unacknowledged messages per publisher (default: ${DEFAULT-VALUE}).")
    private int unconfirmed;

    @Mixin
    private MessageOptions message;

    @Mixin
    private SingleBrokerOptions target;

    @Mixin
    private OutputOptions output;

    @Override
    public Integer call() throws InterruptedException {
        target.requireRunning();
        PayloadPool pool = message.pool();
        Traffic.Settings settings =
                new Traffic.Settings(parallelism, 0, rate, Math.max(1, count / parallelism), unconfirmed, 0, 1);
        try (PubSubDriver driver = target.open()) {
            driver.start();
            String topic = target.topic(DEFAULT_TOPIC);
            driver.createTopic(topic, target.partitions());
            long startNs = System.nanoTime();
            try (Traffic traffic = Traffic.start(driver, topic, settings, pool)) {
                Progress progress = new Progress("published");
                while (!traffic.isPublished()) {
                    Thread.sleep(POLL_MS);
                    progress.tell(traffic.counts().confirmed());
                }
                double seconds = (System.nanoTime() - startNs) / 1e9;
                Traffic.Counts counts = traffic.counts();
                boolean passed = counts.failed() == 0 && traffic.firstError() == null;
                Map<String, Object> row = new LinkedHashMap<>();
                row.put("broker", driver.name());
                row.put("qos", target.delivery().toString());
                row.put("message_size", message.sizeBytes());
                row.put("publishers", parallelism);
                row.put("published", counts.confirmed());
                row.put("throughput_mps", Math.round(counts.confirmed() / seconds));
                Histogram acknowledged = traffic.takeAcknowledged();
                row.put("acknowledged_p50_us", acknowledged.getValueAtPercentile(50) / 1_000);
                row.put("acknowledged_p99_us", acknowledged.getValueAtPercentile(99) / 1_000);
                row.put("check", passed ? "passed" : counts.failed() + " failed, first: " + traffic.firstError());
                output.emit(new LinkedHashMap<>(driver.about()), List.of(row), Map.of());
                return passed ? 0 : 1;
            }
        }
    }
}
