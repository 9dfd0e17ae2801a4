package io.journalq.bench.scenario;

import io.journalq.bench.option.BrokerOptions;
import io.journalq.bench.option.MessageOptions;
import io.journalq.bench.option.Options;
import io.journalq.bench.output.OutputOptions;
import io.journalq.bench.peer.Delivery;
import io.journalq.bench.peer.PubSubDriver;
import io.journalq.bench.peer.PubSubDrivers;
import io.journalq.bench.traffic.Traffic;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.HdrHistogram.Histogram;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code journalq-bench pub}: the publishing half of a benchmark as a program of its own. */
@Command(
        name = "pub",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Publishes stamped messages to a broker that runs, for journalq-bench sub to receive and check.",
            "Exits with 0 when every message was acknowledged, 1 when not, 2 on a wrong command line."
        },
        footer = {
            "",
            "Example:",
            "  journalq-bench pub --bootstrap localhost:9092 --topic t --count 1000000 --parallelism 4"
        })
public final class PubCommand implements Callable<Integer> {
    private static final long POLL_MS = 100;

    @Option(names = "--broker", defaultValue = "journalq", description = PubSubDrivers.WORDS + ". Default: journalq.")
    private String broker;

    @Option(names = "--delivery", defaultValue = "at-least-once", description = Delivery.WORDS + ".")
    private Delivery delivery;

    @Option(
            names = "--count",
            defaultValue = "100000",
            paramLabel = "MESSAGES",
            description = "Over all publishers. Default: 100000.")
    private long count;

    @Option(names = "--parallelism", defaultValue = "1", description = "Publishers. Default: 1.")
    private int parallelism;

    @Option(names = "--topic", defaultValue = "pub-sub-bench", description = "Created when missing.")
    private String topic;

    @Option(names = "--partitions", defaultValue = "16", description = "Of the topic when it is made. Default: 16.")
    private int partitions;

    @Option(
            names = "--rate",
            defaultValue = "0",
            paramLabel = "MESSAGES",
            description = "Messages due a second over all publishers. Default: as fast as it goes.")
    private long rate;

    @Option(
            names = "--unconfirmed",
            defaultValue = "2000",
            paramLabel = "MESSAGES",
            description = "Most unacknowledged messages of one publisher. Default: 2000.")
    private int unconfirmed;

    @Mixin
    private MessageOptions message;

    @Mixin
    private BrokerOptions brokers;

    @Mixin
    private OutputOptions output;

    @Override
    public Integer call() throws InterruptedException {
        Options.requirePositive("--count", count);
        Options.requirePositive("--parallelism", parallelism);
        Options.requirePositive("--unconfirmed", unconfirmed);
        Options.requireNotNegative("--rate", rate);
        Traffic.Settings settings =
                new Traffic.Settings(parallelism, 0, rate, Math.max(1, count / parallelism), unconfirmed, 0, 1);
        brokers.requireRunning();
        try (PubSubDriver driver = brokers.open(broker, delivery)) {
            driver.start();
            driver.createTopic(topic, partitions);
            long startNs = System.nanoTime();
            try (Traffic traffic = Traffic.start(driver, topic, settings, message.pool())) {
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
                row.put("qos", delivery.toString());
                row.put("message_size", message.sizeBytes());
                row.put("publishers", parallelism);
                row.put("published", counts.confirmed());
                row.put("throughput_mps", Math.round(counts.confirmed() / seconds));
                Histogram answers = traffic.takeAnswers();
                row.put("acknowledged_p50_us", answers.getValueAtPercentile(50) / 1_000);
                row.put("acknowledged_p99_us", answers.getValueAtPercentile(99) / 1_000);
                row.put("check", passed ? "passed" : counts.failed() + " failed, first: " + traffic.firstError());
                output.emit(new LinkedHashMap<>(driver.about()), List.of(row), Map.of());
                return passed ? 0 : 1;
            }
        }
    }
}
