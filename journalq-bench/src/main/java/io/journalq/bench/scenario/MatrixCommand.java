package io.journalq.bench.scenario;

import io.journalq.bench.BenchException;
import io.journalq.bench.measure.Statistics;
import io.journalq.bench.option.BrokerOptions;
import io.journalq.bench.option.BrokerTurns;
import io.journalq.bench.option.MessageOptions;
import io.journalq.bench.option.OptionTypes;
import io.journalq.bench.option.ReplicaOptions;
import io.journalq.bench.option.TurnOptions;
import io.journalq.bench.output.OutputOptions;
import io.journalq.bench.output.ResultDirectory;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.peer.Delivery;
import io.journalq.bench.peer.PubSubDriver;
import io.journalq.bench.traffic.SteadyThroughput;
import io.journalq.bench.traffic.Traffic;
import io.journalq.bench.traffic.TrafficResult;
import io.journalq.bench.traffic.TrafficRun;
import io.journalq.common.commandline.DurationOption;
import io.journalq.common.commandline.SizeOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.HdrHistogram.Histogram;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code journalq-bench matrix}: every combination of delivery, message size, publishers and subscribers. */
@Command(
        name = "matrix",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Measures every combination of delivery, message size, publishers and subscribers.",
            "Reports throughput, latency, and processor time and memory of the broker. Every subscriber receives every"
                    + " message; throughput counts the messages that all subscribers received. Publishers run ahead of"
                    + " the slowest subscriber by at most --window messages. The brokers take turns; while one is"
                    + " measured, the others are frozen. With --replicas, each is a cluster of as many brokers.",
            "Exit code: 0 on success, 1 if messages were lost (unless at-most-once), damaged or refused, 2 if the command"
                    + " line is wrong."
        },
        footer = {
            "",
            "Examples:",
            "  journalq-bench matrix --brokers journalq,nats,jetstream",
            "  journalq-bench matrix --brokers journalq,kafka --sizes 1KiB --repetitions 5",
            "  journalq-bench matrix --brokers journalq,kafka,jetstream --replicas 3"
        })
public final class MatrixCommand implements Callable<Integer> {
    /** The checksum of one message in 97 is verified; a prime number, so that every position in a batch is reached. */
    static final int CHECK_INTERVAL = 97;

    private static final String TOPIC = "matrix-bench-";

    private static final Duration FIRST_WARM_UP = Duration.ofSeconds(8);
    /** Three brokers share the processors with their compilers. */
    private static final Duration LONGEST_FIRST_WARM_UP = Duration.ofMinutes(2);

    @Option(
            names = "--deliveries",
            split = ",",
            defaultValue = "at-most-once,at-least-once",
            paramLabel = "GUARANTEE",
            description = Delivery.WORDS + " (default: ${DEFAULT-VALUE}).")
    private List<Delivery> deliveries;

    @Option(
            names = "--sizes",
            split = ",",
            defaultValue = "100,1024,4096",
            paramLabel = "SIZE",
            converter = SizeOption.InMemory.class,
            description = "Message sizes (default: ${DEFAULT-VALUE}).")
    private List<Integer> sizes;

    @Option(
            names = "--publishers",
            split = ",",
            defaultValue = "1,4,16",
            paramLabel = "COUNT",
            converter = OptionTypes.PositiveInt.class,
            description = "Numbers of publishers (default: ${DEFAULT-VALUE}).")
    private List<Integer> publishers;

    @Option(
            names = "--subscribers",
            split = ",",
            defaultValue = "1,4,16",
            paramLabel = "COUNT",
            converter = OptionTypes.NonNegativeInt.class,
            description = "Numbers of subscribers; with 0, throughput and latency are those of the acknowledgements"
                    + " (default: ${DEFAULT-VALUE}).")
    private List<Integer> subscribers;

    @Option(
            names = "--partitions",
            defaultValue = "16",
            paramLabel = "COUNT",
            converter = OptionTypes.PositiveInt.class,
            description = "Partitions of each topic (default: ${DEFAULT-VALUE}).")
    private int partitions;

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

    @Option(
            names = "--window",
            defaultValue = "20000",
            paramLabel = "MESSAGES",
            converter = OptionTypes.NonNegativeInt.class,
            description = "Maximum of messages that publishers run ahead of the slowest subscriber; 0 for no limit"
                    + " (default: ${DEFAULT-VALUE}).")
    private int window;

    @Option(
            names = "--first-warmup",
            paramLabel = "DURATION",
            converter = DurationOption.class,
            description = "Warm-up of each broker before its first combination, so that the JVM has compiled the code."
                    + " A cluster warms up in rounds as long as a measurement, until its throughput no longer rises; this"
                    + " is then the limit (default: 8s, and 2m for a cluster).")
    private Duration firstWarmup;

    @Mixin
    private TurnOptions turns;

    @Mixin
    private MessageOptions.Content payload;

    @Mixin
    private BrokerOptions brokers;

    @Mixin
    private ReplicaOptions replication;

    @Mixin
    private ResultDirectory results;

    @Mixin
    private OutputOptions output;

    private final List<Map<String, Object>> rows = new ArrayList<>();
    private final List<Map<String, Object>> runs = new ArrayList<>();
    private final Map<String, Object> about = new LinkedHashMap<>();
    private int topics;
    private boolean passed = true;

    @Override
    public Integer call() throws InterruptedException {
        sizes.forEach(payload::require);
        for (Delivery delivery : deliveries) {
            try (BrokerTurns measured = BrokerTurns.start(turns.brokers(), delivery, brokers, replication)) {
                measured.about().forEach((name, value) -> about.put(name + " " + delivery, value));
                warmUp(measured, delivery, payload.pool(sizes.get(0)));
                for (int size : sizes) {
                    PayloadPool pool = payload.pool(size);
                    for (int publisherCount : publishers) {
                        for (int subscriberCount : subscribers) {
                            measure(measured, new Cell(delivery, size, publisherCount, subscriberCount), pool);
                        }
                    }
                }
            }
        }
        if (rows.isEmpty()) {
            throw new BenchException("no broker can be measured " + about, "choose other --brokers or --deliveries");
        }
        about.put("method", inWords());
        MatrixReport.write(OutputOptions.about(about), rows, runs, results);
        output.emitOnly(about, rows, Map.of("runs", runs), results);
        return passed ? 0 : 1;
    }

    private String inWords() {
        return "%d partitions, %s payload, rate %s, %d unconfirmed messages a publisher, window %d, warm-up %s (first %s), measured %s, %d repetitions in turn"
                .formatted(
                        partitions,
                        payload.kind(),
                        rate == 0 ? "unlimited" : Long.toString(rate),
                        unconfirmed,
                        window,
                        turns.warmup(),
                        isCluster() ? "at most " + firstWarmup() : firstWarmup(),
                        turns.duration(),
                        turns.repetitions());
    }

    /** A combination. */
    record Cell(Delivery delivery, int messageSizeBytes, int publishers, int subscribers) {
        String inWords() {
            return "%s, %d B, %d to %d".formatted(delivery, messageSizeBytes, publishers, subscribers);
        }
    }

    private boolean isCluster() {
        return replication.replicas() > 1;
    }

    private Duration firstWarmup() {
        if (firstWarmup != null) {
            return firstWarmup;
        }
        return isCluster() ? LONGEST_FIRST_WARM_UP : FIRST_WARM_UP;
    }

    /** Runs the first combination before it is measured, and discards the results. */
    private void warmUp(BrokerTurns measured, Delivery delivery, PayloadPool pool) throws InterruptedException {
        if (firstWarmup().isZero()) {
            return;
        }
        Cell first = new Cell(delivery, sizes.get(0), publishers.get(0), subscribers.get(0));
        if (isCluster()) {
            measured.eachInTurn(driver -> warmUpUntilSteady(driver, first, pool));
        } else {
            measured.eachInTurn(driver -> measure(driver, first, pool, firstWarmup()));
        }
    }

    /** In rounds, each with a topic of its own: the data of one long warm-up would fill the disk. */
    private void warmUpUntilSteady(PubSubDriver driver, Cell cell, PayloadPool pool) throws InterruptedException {
        SteadyThroughput throughput = new SteadyThroughput();
        Duration passed = Duration.ZERO;
        while (!throughput.isSteady() && passed.compareTo(firstWarmup()) < 0) {
            if (!passed.isZero()) {
                driver.settle();
            }
            throughput.add(measure(driver, cell, pool, turns.warmup()).publishedPerSecond());
            passed = passed.plus(turns.warmup()).plus(turns.duration());
        }
        System.err.println(driver.name() + " " + (throughput.isSteady() ? "is warm" : "is still getting faster")
                + " after " + passed.toSeconds() + " s of traffic");
    }

    private void measure(BrokerTurns measured, Cell cell, PayloadPool pool) throws InterruptedException {
        Map<String, Repetitions> found = new LinkedHashMap<>();
        for (int repetition = 0; repetition < turns.repetitions(); repetition++) {
            measured.eachInTurn(driver -> {
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
                                    cell.subscribers() == 0 ? 0 : window,
                                    CHECK_INTERVAL),
                            pool,
                            brokers.nodes(driver),
                            cell.inWords(),
                            null);
        } finally {
            driver.deleteTopic(topic);
        }
    }

    /** The columns of results.csv, which are a data format. */
    private static Map<String, Object> row(String broker, Cell cell, Repetitions measurement) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("broker", broker);
        row.put("qos", cell.delivery().toString());
        row.put("message_size", cell.messageSizeBytes());
        row.put("publishers", cell.publishers());
        row.put("subscribers", cell.subscribers());
        boolean read = cell.subscribers() > 0;
        row.put(
                "total_messages",
                Math.round(measurement.median(result ->
                        read ? result.measured().received() : result.measured().confirmed())));
        row.put(
                "throughput_mps",
                Math.round(measurement.median(
                        read ? TrafficResult::receivedPerSecond : TrafficResult::publishedPerSecond)));
        Function<TrafficResult, Histogram> latency = read ? TrafficResult::endToEnd : TrafficResult::acknowledged;
        row.put("latency_p50_us", measurement.percentileUs(latency, 50));
        row.put("latency_p95_us", measurement.percentileUs(latency, 95));
        row.put("latency_p99_us", measurement.percentileUs(latency, 99));
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
        long confirmed = result.measured().confirmed();
        run.put(
                "broker_cpu_us_per_message",
                confirmed == 0 ? null : Statistics.thousandths(result.use().brokerMicrosPer(confirmed)));
        run.put("lost", result.lost());
        run.put("check", single.problem() == null ? "passed" : single.problem());
        return run;
    }
}
