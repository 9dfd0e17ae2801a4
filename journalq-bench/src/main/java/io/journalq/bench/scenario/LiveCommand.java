package io.journalq.bench.scenario;

import io.journalq.bench.option.ClusterOptions;
import io.journalq.bench.option.MessageOptions;
import io.journalq.bench.option.OptionTypes;
import io.journalq.bench.option.SingleBrokerOptions;
import io.journalq.bench.output.OutputOptions;
import io.journalq.bench.output.ResultDirectory;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.peer.Delivery;
import io.journalq.bench.peer.PubSubDriver;
import io.journalq.bench.traffic.Traffic;
import io.journalq.common.commandline.DurationOption;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code journalq-bench live}: publishers and subscribers run for a given time, and every message is accounted for. */
@Command(
        name = "live",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Publishes and receives at the same time, and reports lost, repeated and damaged messages.",
            "Every message carries its producer, number, time and checksum. Every subscriber must receive every message."
                    + " Rates, latency, memory, file handles, threads and disk usage are sampled into samples.csv while"
                    + " the scenario runs. At the end, stability.html and stability.png show them as charts.",
            "With several --brokers, also reports processor time, memory and disk space of each of them.",
            "Exit code: 0 on success, 1 if messages were lost (unless at-most-once), damaged or refused, 2 if the command"
                    + " line is wrong."
        },
        footer = {
            "",
            "Examples:",
            "  journalq-bench live --duration 60s --publishers 4 --subscribers 2",
            "  journalq-bench live --rate 10000 --duration 2h --delivery synced",
            "  journalq-bench live --brokers 3 --mode consistent --rate 10000 --duration 1h",
            "  journalq-bench live --bootstrap one:9092 --subscribe-from two:9092",
            "  journalq-bench live --broker kafka --rate 50000 --results kafka-live"
        })
public final class LiveCommand implements Callable<Integer> {
    private static final String DEFAULT_TOPIC = "live-bench";
    private static final int SAMPLES = 300;
    private static final int MAX_INTERVAL_SECONDS = 60;

    @Option(
            names = "--duration",
            defaultValue = "60s",
            paramLabel = "DURATION",
            converter = DurationOption.Positive.class,
            description = "Duration of the measurement (default: ${DEFAULT-VALUE}).")
    private Duration duration;

    @Option(
            names = "--warmup",
            defaultValue = "3s",
            paramLabel = "DURATION",
            converter = DurationOption.class,
            description = "Warm-up before the measurement (default: ${DEFAULT-VALUE}).")
    private Duration warmup;

    @Option(
            names = "--rate",
            defaultValue = "0",
            paramLabel = "MESSAGES",
            converter = OptionTypes.NonNegativeLong.class,
            description =
                    "Messages per second that are due over all publishers, regardless of delays. Latency counts from"
                            + " the time at which a message was due (default: 0, which means as fast as possible).")
    private long messagesPerSecond;

    @Option(
            names = "--publishers",
            defaultValue = "2",
            paramLabel = "COUNT",
            converter = OptionTypes.PositiveInt.class,
            description = "Number of publishers (default: ${DEFAULT-VALUE}).")
    private int publishers;

    @Option(
            names = "--subscribers",
            defaultValue = "1",
            paramLabel = "COUNT",
            converter = OptionTypes.NonNegativeInt.class,
            description = "Number of subscribers. Each receives every message; 0 to publish only"
                    + " (default: ${DEFAULT-VALUE}).")
    private int subscribers;

    @Option(
            names = "--unconfirmed",
            defaultValue = "1000",
            paramLabel = "MESSAGES",
            converter = OptionTypes.PositiveInt.class,
            description = "Maximum of unacknowledged messages per publisher (default: ${DEFAULT-VALUE}).")
    private int unconfirmed;

    @Option(
            names = "--window",
            defaultValue = "100000",
            paramLabel = "MESSAGES",
            converter = OptionTypes.NonNegativeInt.class,
            description =
                    "Without --rate: maximum of messages that publishers run ahead of the slowest subscriber; 0 for"
                            + " no limit (default: ${DEFAULT-VALUE}).")
    private int window;

    @Option(
            names = "--sample-interval",
            paramLabel = "DURATION",
            converter = DurationOption.Positive.class,
            description = "Time between two samples (default: 1/300 of the duration, at least 1s, at most 60s).")
    private Duration sampleInterval;

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
        Traffic.Settings settings = new Traffic.Settings(
                publishers,
                subscribers,
                messagesPerSecond,
                0,
                unconfirmed,
                messagesPerSecond > 0 || subscribers == 0 ? 0 : window,
                1);
        target.requireSpace(
                messagesPerSecond * message.sizeBytes() * duration.plus(warmup).toSeconds(), cluster);
        try (PubSubDriver driver = target.open(cluster)) {
            driver.start();
            String topic = target.topic(DEFAULT_TOPIC);
            driver.createTopic(topic, target.partitions());
            LiveRun run = new LiveRun(driver, topic, settings, pool, System.err::println);
            LiveResult result = run.run(warmup, duration, interval(), target.nodes(driver), results);
            String problem = problem(result);
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("broker", driver.name());
            row.put("delivery", target.delivery(cluster).toString());
            row.putAll(result.row());
            row.put("check", problem == null ? "passed" : problem);
            Map<String, Object> about = about(driver);
            StabilityReport.write(driver.name() + " under load", about, row, result.samples(), results);
            output.emit(about, List.of(row), Map.of(), results);
            return problem == null ? 0 : 1;
        }
    }

    private Map<String, Object> about(PubSubDriver driver) {
        Map<String, Object> about = new LinkedHashMap<>(driver.about());
        about.put("brokers", driver.nodes().size());
        about.put("publishers", publishers);
        about.put("subscribers", subscribers);
        about.put("partitions", target.partitions());
        about.put("rate", messagesPerSecond == 0 ? "unlimited" : messagesPerSecond + "/s");
        about.put("message_size_bytes", message.sizeBytes());
        about.put("payload", message.payload());
        return about;
    }

    private Duration interval() {
        if (sampleInterval != null) {
            return sampleInterval;
        }
        return Duration.ofSeconds(Math.max(1, Math.min(MAX_INTERVAL_SECONDS, duration.toSeconds() / SAMPLES)));
    }

    private String problem(LiveResult result) {
        if (result.firstError() != null) {
            return result.counts().failed() + " messages failed, the first problem was: " + result.firstError();
        }
        if (result.counts().corrupt() > 0) {
            return result.counts().corrupt() + " messages were damaged";
        }
        if (result.lost() > 0 && target.delivery(cluster) != Delivery.AT_MOST_ONCE) {
            return result.lost() + " messages were lost";
        }
        return result.counts().confirmed() == 0 ? "nothing was published" : null;
    }
}
