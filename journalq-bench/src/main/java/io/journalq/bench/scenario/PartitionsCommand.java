package io.journalq.bench.scenario;

import io.journalq.bench.BenchException;
import io.journalq.bench.measure.BrokerSampler;
import io.journalq.bench.measure.BrokerSampler.BrokerSample;
import io.journalq.bench.measure.Statistics;
import io.journalq.bench.option.BrokerOptions;
import io.journalq.bench.option.BrokerTurns;
import io.journalq.bench.option.MessageOptions;
import io.journalq.bench.option.OptionTypes;
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
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code journalq-bench partitions}: what more partitions cost. */
@Command(
        name = "partitions",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Measures throughput, latency, memory and restart times by number of partitions.",
            "Starts a new broker for each number. Creates a topic, sends messages at full speed and then at --rate, and"
                    + " restarts the broker after a clean stop and after kill -9. A restart ends when every partition"
                    + " responds; start_s is the start of the empty broker. If a broker fails, its row has the values that"
                    + " were measured before, and the problem under check.",
            "Exit code: 0 on success, 1 if messages were lost, partitions did not come back or a broker failed, 2 if the"
                    + " command line is wrong."
        },
        footer = {
            "",
            "Examples:",
            "  journalq-bench partitions --brokers journalq,kafka --counts 1,100,1000",
            "  journalq-bench partitions --counts 10000 --duration 10s"
        })
public final class PartitionsCommand implements Callable<Integer> {
    private static final String TOPIC = "partitions-bench";
    private static final long SERVED_TIMEOUT_NS = TimeUnit.MINUTES.toNanos(5);
    private static final long POLL_MS = 50;
    private static final double MIB = 1 << 20;

    /** The columns behind the broker and the number of partitions. */
    private static final List<String> MEASURED = List.of(
            "start_s",
            "create_topic_s",
            "throughput_mps",
            "latency_p50_us",
            "latency_p99_us",
            "cpu_percent_at_rate",
            "memory_bytes",
            "disk_bytes",
            "open_files",
            "restart_clean_s",
            "restart_kill_s");

    @Option(
            names = "--counts",
            split = ",",
            defaultValue = "1,10,100,1000,10000",
            paramLabel = "COUNT",
            converter = OptionTypes.PositiveInt.class,
            description = "Numbers of partitions (default: ${DEFAULT-VALUE}).")
    private List<Integer> counts;

    @Option(
            names = "--rate",
            defaultValue = "1000",
            paramLabel = "MESSAGES",
            converter = OptionTypes.PositiveLong.class,
            description = "Messages per second for the measurement of latency (default: ${DEFAULT-VALUE}).")
    private long rate;

    @Option(
            names = "--publishers",
            defaultValue = "2",
            paramLabel = "COUNT",
            converter = OptionTypes.PositiveInt.class,
            description = "Number of publishers (default: ${DEFAULT-VALUE}).")
    private int publishers;

    @Option(
            names = "--window",
            defaultValue = "20000",
            paramLabel = "MESSAGES",
            converter = OptionTypes.NonNegativeInt.class,
            description = "Maximum of messages that publishers run ahead of the subscriber; 0 for no limit"
                    + " (default: ${DEFAULT-VALUE}).")
    private int window;

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
    private final Map<String, Object> about = new LinkedHashMap<>();

    @Override
    public Integer call() throws InterruptedException {
        brokers.requireOwn();
        PayloadPool pool = message.pool();
        for (int count : counts) {
            for (int repetition = 0; repetition < turns.repetitions(); repetition++) {
                for (String name : turns.brokers()) {
                    measure(name, count, pool);
                }
            }
        }
        if (rows.isEmpty()) {
            throw new BenchException("no broker can be measured " + about, "choose other --brokers");
        }
        about.put("message_size_bytes", message.sizeBytes());
        about.put("payload", message.payload());
        about.put("publishers", publishers);
        report().about(OutputOptions.about(about)).write(results.file("partitions.html"));
        output.emit(about, rows, Map.of(), results);
        return rows.stream().allMatch(row -> row.get("check").equals("passed")) ? 0 : 1;
    }

    private void measure(String name, int count, PayloadPool pool) throws InterruptedException {
        try (PubSubDriver driver = brokers.open(name, Delivery.AT_LEAST_ONCE)) {
            if (driver.missing().isPresent()) {
                about.put(
                        "skipped " + name,
                        BrokerTurns.unavailable(driver.missing().get()));
                return;
            }
            if (!driver.isStartedHere()) {
                about.put("skipped " + name, "was not started by this program, which therefore cannot restart it");
                return;
            }
            Map<String, Object> row = new LinkedHashMap<>();
            rows.add(row);
            row.put("broker", name);
            row.put("partitions", count);
            MEASURED.forEach(value -> row.put(value, null));
            try {
                row.put("check", measure(driver, count, pool, row));
            } catch (RuntimeException failure) {
                // The other brokers and counts are still measured.
                row.put("check", "failed: " + failure.getMessage());
                System.err.println(name + " with " + count + " partitions failed: " + failure.getMessage());
            }
        }
    }

    /**
     * Fills the row with measured values.
     *
     * @return what is wrong with the messages, or {@code passed}
     */
    private String measure(PubSubDriver driver, int count, PayloadPool pool, Map<String, Object> row)
            throws InterruptedException {
        row.put("start_s", timed(driver::start));
        about.put(driver.name(), driver.about().toString());
        row.put("create_topic_s", timed(() -> driver.createTopic(TOPIC, count)));
        TrafficResult fast = run(driver, 0, pool, "%,d partitions".formatted(count));
        row.put("throughput_mps", Math.round(fast.receivedPerSecond()));
        TrafficResult paced = run(driver, rate, pool, "%,d partitions at %,d/s".formatted(count, rate));
        row.put("latency_p50_us", micros(paced, 50));
        row.put("latency_p99_us", micros(paced, 99));
        row.put("cpu_percent_at_rate", Statistics.tenths(100 * paced.use().brokerCores()));
        BrokerSample sample = new BrokerSampler(driver.nodes().get(0)).sample();
        row.put("memory_bytes", sample.residentBytes());
        row.put("disk_bytes", sample.diskBytes());
        row.put("open_files", sample.openFiles());
        row.put("restart_clean_s", restart(driver, false));
        row.put("restart_kill_s", restart(driver, true));
        String problem = fast.problem(false) == null ? paced.problem(false) : fast.problem(false);
        return problem == null ? "passed" : problem;
    }

    private TrafficResult run(PubSubDriver driver, long messagesPerSecond, PayloadPool pool, String what)
            throws InterruptedException {
        Traffic.Settings settings =
                new Traffic.Settings(publishers, 1, messagesPerSecond, 0, 2_000, window, MatrixCommand.CHECK_INTERVAL);
        return new TrafficRun(driver, turns.warmup(), turns.duration(), false)
                .run(TOPIC, settings, pool, driver.nodes(), what, null);
    }

    private static double micros(TrafficResult result, double percentile) {
        return Statistics.tenths(result.endToEnd().getValueAtPercentile(percentile) / 1e3);
    }

    private static double timed(Runnable work) {
        long startNs = System.nanoTime();
        work.run();
        return seconds(startNs);
    }

    private static double seconds(long startNs) {
        return Statistics.thousandths((System.nanoTime() - startNs) / 1e9);
    }

    /** Returns the time from the start of the new process until every partition responds, in seconds. */
    private static double restart(PubSubDriver driver, boolean kill) throws InterruptedException {
        System.err.println(driver.name() + (kill ? " is killed and started" : " is stopped and started"));
        double started = driver.restart(kill);
        long startNs = System.nanoTime();
        while (!driver.isServed(TOPIC)) {
            if (System.nanoTime() - startNs > SERVED_TIMEOUT_NS) {
                throw new BenchException("some partitions did not come back", "look at the broker's log");
            }
            Thread.sleep(POLL_MS);
        }
        return Statistics.thousandths(started + seconds(startNs));
    }

    private HtmlReport report() {
        return new HtmlReport("What partitions cost")
                .table(rows)
                .chart(chart("Throughput", "messages per second", "throughput_mps", 1))
                .chart(chart("Latency at a fixed rate, 99th percentile", "milliseconds", "latency_p99_us", 1e3))
                .chart(chart("Memory", "MiB", "memory_bytes", MIB))
                .chart(chart("Restart after a clean stop", "seconds", "restart_clean_s", 1))
                .chart(chart("Restart after kill -9", "seconds", "restart_kill_s", 1));
    }

    /** Shows the last repetition; 0 if the broker failed before the measurement. */
    private Chart chart(String title, String unit, String value, double divisor) {
        List<Series> series = turns.brokers().stream()
                .filter(broker ->
                        rows.stream().anyMatch(row -> row.get("broker").equals(broker)))
                .map(broker -> new Series(
                        broker,
                        List.of(),
                        counts.stream()
                                .map(count -> rows.stream()
                                        .filter(row -> row.get("broker").equals(broker)
                                                && row.get("partitions").equals(count)
                                                && row.get(value) != null)
                                        .mapToDouble(row -> ((Number) row.get(value)).doubleValue() / divisor)
                                        .reduce(0, (earlier, later) -> later))
                                .toList()))
                .toList();
        return Chart.bars(
                title, "partitions", unit, counts.stream().map("%,d"::formatted).toList(), series);
    }
}
