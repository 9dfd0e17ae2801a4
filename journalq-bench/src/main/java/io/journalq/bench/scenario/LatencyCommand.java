package io.journalq.bench.scenario;

import io.journalq.bench.BenchException;
import io.journalq.bench.option.BrokerOptions;
import io.journalq.bench.option.BrokerTurns;
import io.journalq.bench.option.MessageOptions;
import io.journalq.bench.option.Options;
import io.journalq.bench.option.TurnOptions;
import io.journalq.bench.output.Chart;
import io.journalq.bench.output.Chart.Series;
import io.journalq.bench.output.HtmlReport;
import io.journalq.bench.output.OutputOptions;
import io.journalq.bench.output.ResultDirectory;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.peer.Delivery;
import io.journalq.bench.peer.PubSubDriver;
import io.journalq.bench.traffic.TrafficResult;
import io.journalq.bench.traffic.TrafficRun;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
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

/** {@code journalq-bench latency}: from end to end at fixed rates, in an open loop. */
@Command(
        name = "latency",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Latency from end to end at fixed rates. Each message is due at its time whatever the broker does, and its",
            "latency counts from then: no coordinated omission. Brokers take turns, the others are frozen.",
            "Exits with 0 when all is well, 1 when messages were lost (unless at-most-once), damaged or refused or a"
                    + " rate",
            "was missed by more than a tenth, 2 on a wrong command line."
        },
        footer = {
            "",
            "Examples:",
            "  journalq-bench latency --brokers journalq,kafka --rates 1000,10000 --repetitions 3",
            "  journalq-bench latency --rates 100000 --publishers 4 --duration 30s --results latency-100k"
        })
public final class LatencyCommand implements Callable<Integer> {
    private static final double[] PERCENTILES = {50, 90, 95, 99, 99.9, 99.99};
    private static final String TOPIC = "latency-bench-";

    @Option(
            names = "--rates",
            split = ",",
            defaultValue = "1000,10000,50000,100000",
            paramLabel = "MESSAGES",
            description = "Messages a second over all publishers. Default: 1000,10000,50000,100000.")
    private List<Long> rates;

    @Option(names = "--delivery", defaultValue = "at-least-once", description = Delivery.WORDS + ".")
    private Delivery delivery;

    @Option(names = "--publishers", defaultValue = "1", description = "Default: 1.")
    private int publishers;

    @Option(names = "--subscribers", defaultValue = "1", description = "Each receives everything. Default: 1.")
    private int subscribers;

    @Option(names = "--partitions", defaultValue = "16", description = "Of each topic. Default: 16.")
    private int partitions;

    @Option(
            names = "--results",
            paramLabel = "DIRECTORY",
            description = "For results.csv, results.json, histogram logs and latency.html. Default: a new directory in"
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
    private Path directory;
    private int topics;

    @Override
    public Integer call() throws InterruptedException {
        Options.requirePositive("--publishers", publishers);
        Options.requirePositive("--subscribers", subscribers);
        Options.requirePositive("--partitions", partitions);
        rates.forEach(rate -> Options.requirePositive("--rates", rate));
        PayloadPool pool = message.pool();
        directory = ResultDirectory.open(results, "latency");
        try (BrokerTurns contenders =
                BrokerTurns.start(turns.brokers(), delivery, brokers.quick()).required()) {
            for (long rate : rates) {
                Map<String, Repetitions> found = new LinkedHashMap<>();
                for (int repetition = 0; repetition < turns.repetitions(); repetition++) {
                    int number = repetition;
                    contenders.eachInTurn(driver -> found.computeIfAbsent(driver.name(), name -> new Repetitions())
                            .add(measure(driver, rate, number, pool), delivery == Delivery.AT_MOST_ONCE));
                }
                found.forEach((name, measurement) -> rows.add(row(name, rate, measurement)));
            }
            emit(contenders);
        }
        return rows.stream().allMatch(row -> row.get("check").equals("passed")) ? 0 : 1;
    }

    private TrafficResult measure(PubSubDriver driver, long rate, int repetition, PayloadPool pool)
            throws InterruptedException {
        String topic = TOPIC + System.nanoTime() + "-" + topics++;
        driver.createTopic(topic, partitions);
        Traffic.Settings settings = new Traffic.Settings(
                publishers, subscribers, rate, 0, Integer.MAX_VALUE, 0, MatrixCommand.CHECK_INTERVAL);
        Path log = directory.resolve("%s-%d-%d.hlog".formatted(driver.name(), rate, repetition + 1));
        try (PrintStream out = new PrintStream(log.toFile(), StandardCharsets.UTF_8)) {
            return new TrafficRun(driver, turns.warmup(), turns.duration(), delivery == Delivery.AT_MOST_ONCE)
                    .run(topic, settings, pool, brokers.pid(driver), "latency at %,d/s".formatted(rate), out);
        } catch (IOException e) {
            throw new BenchException("cannot write " + log, "give --results a directory that can be written", e);
        } finally {
            driver.deleteTopic(topic);
        }
    }

    private Map<String, Object> row(String broker, long rate, Repetitions measurement) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("broker", broker);
        row.put("delivery", delivery.toString());
        row.put("rate", rate);
        double published = measurement.median(TrafficResult::publishedPerSecond);
        row.put("published_per_s", Math.round(published));
        for (double percentile : PERCENTILES) {
            row.put(name(percentile), measurement.percentileUs(percentile));
        }
        row.put("max_us", measurement.percentileUs(100));
        row.put("p99_us_range", measurement.range(result -> result.endToEnd().getValueAtPercentile(99) / 1e3));
        row.put(
                "acknowledged_p99_us",
                Statistics.tenths(measurement.median(result -> result.answers().getValueAtPercentile(99) / 1e3)));
        row.put(
                "broker_cores",
                Statistics.hundredths(measurement.median(result -> result.use().brokerCores())));
        row.put(
                "client_cores",
                Statistics.hundredths(measurement.median(result -> result.use().clientCores())));
        String problem = measurement.problem();
        if (problem == null && published < rate * 0.9) {
            problem = "the rate was not reached";
        }
        row.put("check", problem == null ? "passed" : problem);
        return row;
    }

    private static String name(double percentile) {
        return "p" + Double.toString(percentile).replace(".0", "").replace(".", "") + "_us";
    }

    private void emit(BrokerTurns contenders) {
        Map<String, Object> about = contenders.about();
        about.put("publishers", publishers);
        about.put("subscribers", subscribers);
        about.put("partitions", partitions);
        about.put("message_size_bytes", message.sizeBytes());
        about.put("payload", message.payload());
        about.put("measured_s", turns.duration().toMillis() / 1e3);
        about.put("repetitions", turns.repetitions());
        HtmlReport report = new HtmlReport("Latency from end to end at fixed rates").table(rows);
        for (String percentile : List.of("p50_us", "p99_us", "p9999_us")) {
            Chart chart = chart(percentile);
            report.chart(chart);
            chart.writePng(directory.resolve("latency_" + percentile.replace("_us", "") + ".png"));
        }
        report.about(OutputOptions.about(about)).write(directory.resolve("latency.html"));
        output.emit(about, rows, Map.of(), directory);
    }

    private Chart chart(String value) {
        List<Series> series = rows.stream()
                .map(row -> row.get("broker"))
                .distinct()
                .map(broker -> new Series(
                        String.valueOf(broker),
                        List.of(),
                        rows.stream()
                                .filter(row -> row.get("broker").equals(broker))
                                .map(row -> Math.max(1, (Double) row.get(value)))
                                .toList()))
                .toList();
        return Chart.bars(
                        "Latency from end to end, " + value.replace("_us", ""),
                        "messages a second",
                        "microseconds",
                        rates.stream().map("%,d"::formatted).toList(),
                        series)
                .byFactorsOfTen();
    }
}
