package io.journalq.bench.scenario;

import io.journalq.bench.option.BrokerOptions;
import io.journalq.bench.option.BrokerTurns;
import io.journalq.bench.option.MessageOptions;
import io.journalq.bench.option.Options;
import io.journalq.bench.option.TurnOptions;
import io.journalq.bench.output.OutputOptions;
import io.journalq.bench.output.ResultDirectory;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.peer.Delivery;
import io.journalq.bench.peer.PubSubDriver;
import io.journalq.bench.traffic.TrafficResult;
import io.journalq.bench.traffic.TrafficRun;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import io.journalq.bench.traffic.Traffic;
import io.journalq.bench.measure.Statistics;

/** {@code journalq-bench matrix}: every combination of promise, message size, publishers and subscribers. */
@Command(
        name = "matrix",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Throughput and latency of every combination of delivery, message size, publishers and subscribers. Every",
            "subscriber gets every message; throughput counts what all of them received. Brokers take turns, the"
                    + " others",
            "are frozen. Publishers run ahead of the slowest subscriber by --window messages at most, the same for"
                    + " all.",
            "Exits with 0 when all is well, 1 when messages were lost (unless at-most-once), damaged or refused, 2 on"
                    + " a",
            "wrong command line."
        },
        footer = {
            "",
            "Examples:",
            "  journalq-bench matrix --brokers journalq,nats,jetstream",
            "  journalq-bench matrix --brokers journalq,kafka --deliveries at-least-once --sizes 1024 --repetitions 5"
        })
public final class MatrixCommand implements Callable<Integer> {
    /** One message in so many is checked by its checksum; a prime. */
    static final int CHECK_INTERVAL = 97;

    private static final String TOPIC = "matrix-bench-";

    @Option(
            names = "--deliveries",
            split = ",",
            defaultValue = "at-most-once,at-least-once",
            description = Delivery.WORDS + ". Default: at-most-once,at-least-once.")
    private List<Delivery> deliveries;

    @Option(
            names = "--sizes",
            split = ",",
            defaultValue = "100,1024,4096",
            paramLabel = "BYTES",
            description = "Message sizes. Default: 100,1024,4096.")
    private List<Integer> sizes;

    @Option(names = "--publishers", split = ",", defaultValue = "1,4,16", description = "Default: 1,4,16.")
    private List<Integer> publishers;

    @Option(names = "--subscribers", split = ",", defaultValue = "1,4,16", description = "Default: 1,4,16.")
    private List<Integer> subscribers;

    @Option(names = "--partitions", defaultValue = "16", description = "Of each topic. Default: 16.")
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

    @Option(
            names = "--window",
            defaultValue = "20000",
            paramLabel = "MESSAGES",
            description = "Most messages that publishers may be ahead of the slowest subscriber; 0 for no bound."
                    + " Default: 20000.")
    private int window;

    @Option(
            names = "--first-warmup",
            defaultValue = "8s",
            description = "Before the first combination of each broker, once, for programs that are compiled as they"
                    + " run. Default: 8s.")
    private Duration firstWarmup;

    @Option(
            names = "--results",
            paramLabel = "DIRECTORY",
            description = "For results.csv, results.json, charts and matrix.html. Default: a new directory in"
                    + " bench-results.")
    private Path results;

    @Mixin
    private TurnOptions turns;

    @Mixin
    private MessageOptions message;

    @Mixin
    private BrokerOptions brokers;

    @Mixin
    private OutputOptions output;

    private final List<Map<String, Object>> rows = new ArrayList<>();
    private final List<Map<String, Object>> runs = new ArrayList<>();
    private final Map<String, Object> about = new LinkedHashMap<>();
    private int topics;
    private boolean passed = true;

    @Override
    public Integer call() throws InterruptedException {
        publishers.forEach(count -> Options.requirePositive("--publishers", count));
        subscribers.forEach(count -> Options.requirePositive("--subscribers", count));
        Options.requirePositive("--partitions", partitions);
        Options.requirePositive("--unconfirmed", unconfirmed);
        Options.requireNotNegative("--window", window);
        Options.requireNotNegative("--rate", rate);
        Path directory = ResultDirectory.open(results, "matrix");
        for (Delivery delivery : deliveries) {
            try (BrokerTurns contenders = BrokerTurns.start(turns.brokers(), delivery, brokers)) {
                contenders.about().forEach((name, value) -> about.put(name + " " + delivery, value));
                warmUp(contenders, delivery);
                for (int size : sizes) {
                    PayloadPool pool = message.pool(size);
                    for (int publisherCount : publishers) {
                        for (int subscriberCount : subscribers) {
                            measure(contenders, new Cell(delivery, size, publisherCount, subscriberCount), pool);
                        }
                    }
                }
            }
        }
        about.put("method", inWords());
        MatrixReport.write(OutputOptions.about(about), rows, runs, directory);
        output.emitOnly(about, rows, Map.of("runs", runs), directory);
        return passed ? 0 : 1;
    }

    private String inWords() {
        return "%d partitions, %s payload, rate %s, %d unconfirmed messages a publisher, window %d, warm-up %s (first %s), measured %s, %d repetitions in turn"
                .formatted(
                        partitions,
                        message.payload(),
                        rate == 0 ? "unlimited" : Long.toString(rate),
                        unconfirmed,
                        window,
                        turns.warmup(),
                        firstWarmup,
                        turns.duration(),
                        turns.repetitions());
    }

    /** One combination. */
    record Cell(Delivery delivery, int messageSizeBytes, int publishers, int subscribers) {
        String inWords() {
            return "%s, %d B, %d to %d".formatted(delivery, messageSizeBytes, publishers, subscribers);
        }
    }

    /** The first combination, as it will be measured, for longer and to no end. */
    private void warmUp(BrokerTurns contenders, Delivery delivery) throws InterruptedException {
        if (firstWarmup.isZero()) {
            return;
        }
        Cell first = new Cell(delivery, sizes.get(0), publishers.get(0), subscribers.get(0));
        PayloadPool pool = message.pool(first.messageSizeBytes());
        contenders.eachInTurn(driver -> measure(driver, first, pool, firstWarmup));
    }

    private void measure(BrokerTurns contenders, Cell cell, PayloadPool pool) throws InterruptedException {
        Map<String, Repetitions> found = new LinkedHashMap<>();
        for (int repetition = 0; repetition < turns.repetitions(); repetition++) {
            contenders.eachInTurn(driver -> {
                TrafficResult result = measure(driver, cell, pool, turns.warmup());
                found.computeIfAbsent(driver.name(), name -> new Repetitions())
                        .add(result, cell.delivery() == Delivery.AT_MOST_ONCE);
                runs.add(run(driver.name(), cell, result));
            });
        }
        found.forEach((name, measurement) -> {
            rows.add(row(name, cell, measurement));
            if (measurement.problem() != null) {
                passed = false;
                System.err.println(name + " " + cell.inWords() + ": " + measurement.problem());
            }
        });
    }

    private TrafficResult measure(PubSubDriver driver, Cell cell, PayloadPool pool, Duration warmup)
            throws InterruptedException {
        String topic = TOPIC + System.nanoTime() + "-" + topics++;
        driver.createTopic(topic, partitions);
        try {
            return new TrafficRun(driver, warmup, turns.duration(), cell.delivery() == Delivery.AT_MOST_ONCE)
                    .run(
                            topic,
                            new Traffic.Settings(
                                    cell.publishers(),
                                    cell.subscribers(),
                                    rate,
                                    0,
                                    unconfirmed,
                                    window,
                                    CHECK_INTERVAL),
                            pool,
                            brokers.pid(driver),
                            cell.inWords(),
                            null);
        } finally {
            driver.deleteTopic(topic);
        }
    }

    /** Exactly these columns, whatever else is known. */
    private static Map<String, Object> row(String broker, Cell cell, Repetitions measurement) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("broker", broker);
        row.put("qos", cell.delivery().toString());
        row.put("message_size", cell.messageSizeBytes());
        row.put("publishers", cell.publishers());
        row.put("subscribers", cell.subscribers());
        row.put("total_messages", Math.round(measurement.median(result -> result.measured()
                .received())));
        row.put("throughput_mps", Math.round(measurement.median(TrafficResult::receivedPerSecond)));
        row.put("latency_p50_us", measurement.percentileUs(50));
        row.put("latency_p95_us", measurement.percentileUs(95));
        row.put("latency_p99_us", measurement.percentileUs(99));
        row.put(
                "cpu_percent",
                Statistics.tenths(
                        100 * measurement.median(result -> result.use().brokerCores())));
        row.put("memory_bytes", (long) measurement.median(result -> result.use().brokerMaxResidentBytes()));
        return row;
    }

    private static Map<String, Object> run(String broker, Cell cell, TrafficResult result) {
        Repetitions single = new Repetitions();
        boolean mayLose = cell.delivery() == Delivery.AT_MOST_ONCE;
        single.add(result, mayLose);
        Map<String, Object> run = row(broker, cell, single);
        run.put("published_mps", Math.round(result.publishedPerSecond()));
        run.put("client_cpu_percent", Statistics.tenths(100 * result.use().clientCores()));
        run.put("lost", result.lost());
        run.put("check", single.problem() == null ? "passed" : single.problem());
        return run;
    }
}
