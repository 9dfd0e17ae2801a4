package io.journalq.bench.scenario;

import io.journalq.bench.measure.BrokerSampler;
import io.journalq.bench.option.BrokerOptions;
import io.journalq.bench.option.MessageOptions;
import io.journalq.bench.option.Options;
import io.journalq.bench.output.OutputOptions;
import io.journalq.bench.output.ResultDirectory;
import io.journalq.bench.peer.Delivery;
import io.journalq.bench.peer.PubSubDriver;
import io.journalq.bench.peer.PubSubDrivers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import io.journalq.bench.traffic.Traffic;

/** {@code journalq-bench live}: publishers and subscribers side by side for as long as one likes, every message counted. */
@Command(
        name = "live",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Publishes and receives side by side and tells what was lost, repeated or damaged. Every message carries"
                    + " its",
            "producer, number, time and checksum; every subscriber must get every message. Samples of rates, latency,",
            "memory, handles, threads and disk go to samples.csv as they are taken, and at the end into"
                    + " stability.html.",
            "Exits with 0 when all is well, 1 when messages were lost (unless at-most-once), damaged or refused, 2 on"
                    + " a",
            "wrong command line."
        },
        footer = {
            "",
            "Examples:",
            "  journalq-bench live --duration 60s --publishers 4 --subscribers 2",
            "  journalq-bench live --rate 10000 --duration 2h --delivery synced",
            "  journalq-bench live --bootstrap one:9092,two:9092 --subscribe-from three:9092 --rate 1000",
            "  journalq-bench live --broker kafka --rate 50000 --duration 10m --results kafka-live"
        })
public final class LiveCommand implements Callable<Integer> {
    @Option(names = "--broker", defaultValue = "journalq", description = PubSubDrivers.WORDS + ". Default: journalq.")
    private String broker;

    @Option(names = "--delivery", defaultValue = "at-least-once", description = Delivery.WORDS + ".")
    private Delivery delivery;

    @Option(names = "--duration", defaultValue = "60s", description = "Measured time. Default: 60s.")
    private Duration duration;

    @Option(names = "--warmup", defaultValue = "3s", description = "Before the measured time. Default: 3s.")
    private Duration warmup;

    @Option(
            names = "--rate",
            defaultValue = "0",
            paramLabel = "MESSAGES",
            description =
                    "Messages due a second over all publishers, whatever the broker does; latency counts from when"
                            + " each was due. Default: as fast as it goes.")
    private long messagesPerSecond;

    @Option(names = "--publishers", defaultValue = "2", description = "Default: 2.")
    private int publishers;

    @Option(
            names = "--subscribers",
            defaultValue = "1",
            description = "Each receives everything; 0 to publish only. Default: 1.")
    private int subscribers;

    @Option(names = "--partitions", defaultValue = "16", description = "Of the topic. Default: 16.")
    private int partitions;

    @Option(names = "--topic", defaultValue = "live-bench", description = "Created when missing.")
    private String topic;

    @Option(
            names = "--unconfirmed",
            defaultValue = "1000",
            paramLabel = "MESSAGES",
            description = "Most unacknowledged messages of one publisher. Default: 1000.")
    private int unconfirmed;

    @Option(
            names = "--window",
            defaultValue = "100000",
            paramLabel = "MESSAGES",
            description =
                    "Most messages that publishers may be ahead of the slowest subscriber when there is no --rate;"
                            + " 0 for no bound. Default: 100000.")
    private int window;

    @Option(
            names = "--sample-interval",
            paramLabel = "DURATION",
            description = "Between samples. Default: a 300th of the duration, 1s to 60s.")
    private Duration sampleInterval;

    @Option(
            names = "--results",
            paramLabel = "DIRECTORY",
            description = "For samples.csv, results.csv, results.json, stability.html and stability.png. Default: a new"
                    + " directory in bench-results.")
    private Path results;

    @Mixin
    private MessageOptions message;

    @Mixin
    private BrokerOptions brokers;

    @Mixin
    private OutputOptions output;

    @Override
    public Integer call() throws InterruptedException {
        Options.requirePositive("--publishers", publishers);
        Options.requireNotNegative("--subscribers", subscribers);
        Options.requirePositive("--partitions", partitions);
        Options.requirePositive("--unconfirmed", unconfirmed);
        Options.requireNotNegative("--window", window);
        Options.requireNotNegative("--rate", messagesPerSecond);
        Traffic.Settings settings = new Traffic.Settings(
                publishers,
                subscribers,
                messagesPerSecond,
                0,
                unconfirmed,
                messagesPerSecond > 0 || subscribers == 0 ? 0 : window,
                1);
        Path directory = ResultDirectory.open(results, "live");
        try (PubSubDriver driver = brokers.open(broker, delivery)) {
            driver.start();
            driver.createTopic(topic, partitions);
            LiveRun run = new LiveRun(driver, topic, settings, message.pool(), System.err::println);
            BrokerSampler sampler = new BrokerSampler(
                    brokers.pid(driver),
                    driver.dataDirectory().orElse(null),
                    driver.metricsAddress().orElse(null));
            LiveResult result = run.run(warmup, duration, interval(), sampler, directory.resolve("samples.csv"));
            String problem = problem(result);
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("broker", driver.name());
            row.put("delivery", delivery.toString());
            row.putAll(result.row());
            row.put("check", problem == null ? "passed" : problem);
            Map<String, Object> about = about(driver);
            StabilityReport.write(driver.name() + " under load", about, row, result.samples(), directory);
            output.emit(about, List.of(row), Map.of(), directory);
            return problem == null ? 0 : 1;
        }
    }

    private Map<String, Object> about(PubSubDriver driver) {
        Map<String, Object> about = new LinkedHashMap<>(driver.about());
        about.put("publishers", publishers);
        about.put("subscribers", subscribers);
        about.put("partitions", partitions);
        about.put("rate", messagesPerSecond == 0 ? "unlimited" : messagesPerSecond + "/s");
        about.put("message_size_bytes", message.sizeBytes());
        about.put("payload", message.payload());
        return about;
    }

    private Duration interval() {
        if (sampleInterval != null) {
            return sampleInterval;
        }
        return Duration.ofSeconds(Math.max(1, Math.min(60, duration.toSeconds() / 300)));
    }

    private String problem(LiveResult result) {
        if (result.firstError() != null) {
            return result.counts().failed() + " messages failed, the first problem was: " + result.firstError();
        }
        if (result.counts().corrupt() > 0) {
            return result.counts().corrupt() + " messages came damaged";
        }
        if (result.lost() > 0 && delivery != Delivery.AT_MOST_ONCE) {
            return result.lost() + " messages were lost";
        }
        return result.counts().confirmed() == 0 ? "nothing was published" : null;
    }
}
