package io.journalq.bench.scenario;

import io.journalq.bench.measure.Statistics;
import io.journalq.bench.option.BrokerOptions;
import io.journalq.bench.option.BrokerTurns;
import io.journalq.bench.option.MessageOptions;
import io.journalq.bench.option.OptionTypes;
import io.journalq.bench.option.TopicOptions;
import io.journalq.bench.option.TurnOptions;
import io.journalq.bench.output.Chart;
import io.journalq.bench.output.Chart.Series;
import io.journalq.bench.output.HtmlReport;
import io.journalq.bench.output.OutputOptions;
import io.journalq.bench.output.ResultDirectory;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.peer.Delivery;
import io.journalq.bench.peer.PubSubDriver;
import io.journalq.bench.traffic.Traffic;
import io.journalq.bench.traffic.TrafficResult;
import io.journalq.bench.traffic.TrafficRun;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code journalq-bench latency}: end-to-end latency at fixed rates, in an open loop. */
@Command(
        name = "latency",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Measures end-to-end latency at fixed rates.",
            "The latency of a message counts from the time at which it was due, regardless of delays, so there is no"
                    + " coordinated omission. The brokers take turns; while one is measured, the others are frozen. Writes"
                    + " a histogram log per run, and charts in latency.html.",
            "Exit code: 0 on success, 1 if messages were lost (unless at-most-once), damaged or refused, or a rate was"
                    + " missed by more than 10 %%, 2 if the command line is wrong."
        },
        footer = {
            "",
            "Examples:",
            "  journalq-bench latency --brokers journalq,kafka --rates 1000,10000",
            "  journalq-bench latency --rates 100000 --publishers 4 --duration 30s"
        })
public final class LatencyCommand implements Callable<Integer> {
    private static final double[] PERCENTILES = {50, 90, 95, 99, 99.9, 99.99};
    private static final String TOPIC = "latency-bench-";

    @Option(
            names = "--rates",
            split = ",",
            defaultValue = "1000,10000,50000,100000",
            paramLabel = "MESSAGES",
            converter = OptionTypes.PositiveLong.class,
            description = "Messages per second over all publishers (default: ${DEFAULT-VALUE}).")
    private List<Long> rates;

    @Option(
            names = "--publishers",
            defaultValue = "1",
            paramLabel = "COUNT",
            converter = OptionTypes.PositiveInt.class,
            description = "Number of publishers (default: ${DEFAULT-VALUE}).")
    private int publishers;

    @Option(
            names = "--subscribers",
            defaultValue = "1",
            paramLabel = "COUNT",
            converter = OptionTypes.PositiveInt.class,
            description = "Number of subscribers. Each receives every message (default: ${DEFAULT-VALUE}).")
    private int subscribers;

    @Mixin
    private TopicOptions topic;

    @Mixin
    private TurnOptions turns;

    @Mixin
    private MessageOptions message;

    @Mixin
    private BrokerOptions brokers;

    @Mixin
    private ResultDirectory results;

    @Mixin
    private OutputOptions output;

    private final List<Map<String, Object>> rows = new ArrayList<>();
    private int topics;

    @Override
    public Integer call() throws InterruptedException {
        PayloadPool pool = message.pool();
        try (BrokerTurns measured = BrokerTurns.start(turns.brokers(), topic.delivery(), brokers.quick())
                .required()) {
            for (long rate : rates) {
                Map<String, Repetitions> found = new LinkedHashMap<>();
                for (int repetition = 0; repetition < turns.repetitions(); repetition++) {
                    int number = repetition;
                    measured.eachInTurn(driver -> found.computeIfAbsent(driver.name(), name -> new Repetitions())
                            .add(measure(driver, rate, number, pool), topic.delivery() == Delivery.AT_MOST_ONCE));
                }
                found.forEach((name, measurement) -> rows.add(row(name, rate, measurement)));
            }
            emit(measured);
        }
        return rows.stream().allMatch(row -> row.get("check").equals("passed")) ? 0 : 1;
    }

    private TrafficResult measure(PubSubDriver driver, long rate, int repetition, PayloadPool pool)
            throws InterruptedException {
        String name = TOPIC + System.nanoTime() + "-" + topics++;
        driver.createTopic(name, topic.partitions());
        Traffic.Settings settings = new Traffic.Settings(
                publishers, subscribers, rate, 0, Integer.MAX_VALUE, 0, MatrixCommand.CHECK_INTERVAL);
        String log = "%s-%d-%d.hlog".formatted(driver.name(), rate, repetition + 1);
        try {
            return new TrafficRun(driver, turns.warmup(), turns.duration(), topic.delivery() == Delivery.AT_MOST_ONCE)
                    .run(
                            name,
                            settings,
                            pool,
                            brokers.nodes(driver),
                            "latency at %,d/s".formatted(rate),
                            () -> results.file(log));
        } finally {
            driver.deleteTopic(name);
        }
    }

    private Map<String, Object> row(String broker, long rate, Repetitions measurement) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("broker", broker);
        row.put("delivery", topic.delivery().toString());
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
                Statistics.tenths(
                        measurement.median(result -> result.acknowledged().getValueAtPercentile(99) / 1e3)));
        row.put("broker_cores", Statistics.hundredths(measurement.median(result -> result.use()
                .brokerCores())));
        row.put("client_cores", Statistics.hundredths(measurement.median(result -> result.use()
                .clientCores())));
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

    private void emit(BrokerTurns measured) {
        Map<String, Object> about = measured.about();
        about.put("publishers", publishers);
        about.put("subscribers", subscribers);
        about.put("partitions", topic.partitions());
        about.put("message_size_bytes", message.sizeBytes());
        about.put("payload", message.payload());
        about.put("measured_s", turns.duration().toMillis() / 1e3);
        about.put("repetitions", turns.repetitions());
        HtmlReport report = new HtmlReport("End-to-end latency at fixed rates").table(rows);
        chart(report, "p50", "median");
        chart(report, "p99", "99th percentile");
        chart(report, "p9999", "99.99th percentile");
        report.about(OutputOptions.about(about)).write(results.file("latency.html"));
        output.emit(about, rows, Map.of(), results);
    }

    private void chart(HtmlReport report, String percentile, String words) {
        List<Series> series = rows.stream()
                .map(row -> row.get("broker"))
                .distinct()
                .map(broker -> new Series(
                        String.valueOf(broker),
                        List.of(),
                        rows.stream()
                                .filter(row -> row.get("broker").equals(broker))
                                .map(row -> Math.max(1, (Double) row.get(percentile + "_us")) / 1e3)
                                .toList()))
                .toList();
        Chart chart = Chart.bars(
                        "End-to-end latency, " + words,
                        "messages per second",
                        "milliseconds",
                        rates.stream().map("%,d"::formatted).toList(),
                        series)
                .byFactorsOfTen();
        report.chart(chart);
        chart.writePng(results.file("latency_" + percentile + ".png"));
    }
}
