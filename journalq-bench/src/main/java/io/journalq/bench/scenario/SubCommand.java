package io.journalq.bench.scenario;

import io.journalq.bench.option.BrokerOptions;
import io.journalq.bench.option.MessageOptions;
import io.journalq.bench.option.Options;
import io.journalq.bench.output.OutputOptions;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.peer.Delivery;
import io.journalq.bench.peer.PubSubDriver;
import io.journalq.bench.peer.PubSubDrivers;
import io.journalq.bench.traffic.Traffic;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.HdrHistogram.Histogram;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code journalq-bench sub}: the receiving half of a benchmark as a program of its own. */
@Command(
        name = "sub",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Receives what journalq-bench pub publishes to a broker that runs, from now on, and checks it. Latency is",
            "between clocks: run both on one machine, or on machines whose clocks agree.",
            "Exits with 0 when all came, 1 when messages were missing or damaged, 2 on a wrong command line."
        },
        footer = {
            "",
            "Example:",
            "  journalq-bench sub --bootstrap localhost:9092 --topic t --count 1000000 --parallelism 4"
        })
public final class SubCommand implements Callable<Integer> {
    private static final long POLL_MS = 100;

    @Option(names = "--broker", defaultValue = "journalq", description = PubSubDrivers.WORDS + ". Default: journalq.")
    private String broker;

    @Option(names = "--delivery", defaultValue = "at-least-once", description = Delivery.WORDS + ".")
    private Delivery delivery;

    @Option(
            names = "--count",
            defaultValue = "100000",
            paramLabel = "MESSAGES",
            description = "For each subscriber. Default: 100000.")
    private long count;

    @Option(
            names = "--parallelism",
            defaultValue = "1",
            description = "Number of subscribers. Each receives everything. Default: 1.")
    private int parallelism;

    @Option(names = "--topic", defaultValue = "pub-sub-bench", description = "Created when missing.")
    private String topic;

    @Option(names = "--partitions", defaultValue = "16", description = "Of the topic when it is made. Default: 16.")
    private int partitions;

    @Option(names = "--timeout", defaultValue = "60s", description = "Without any message. Default: 60s.")
    private Duration timeout;

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
        brokers.requireRunning();
        PayloadPool pool = message.pool();
        Traffic.Settings settings = new Traffic.Settings(0, parallelism, 0, 0, 1, 0, 1);
        try (PubSubDriver driver = brokers.open(broker, delivery)) {
            driver.start();
            driver.createTopic(topic, partitions);
            try (Traffic traffic = Traffic.start(driver, topic, settings, pool)) {
                System.err.println("ready");
                double seconds = receive(traffic);
                Traffic.Counts counts = traffic.counts();
                Histogram endToEnd = traffic.takeEndToEnd();
                String problem = problem(counts, traffic);
                Map<String, Object> row = new LinkedHashMap<>();
                row.put("broker", driver.name());
                row.put("qos", delivery.toString());
                row.put("message_size", message.sizeBytes());
                row.put("subscribers", parallelism);
                row.put("total_messages", counts.received());
                row.put("duplicated", counts.duplicated());
                row.put("corrupt", counts.corrupt());
                row.put("throughput_mps", seconds > 0 ? Math.round(counts.received() / seconds) : 0);
                row.put("latency_p50_us", endToEnd.getValueAtPercentile(50) / 1_000);
                row.put("latency_p95_us", endToEnd.getValueAtPercentile(95) / 1_000);
                row.put("latency_p99_us", endToEnd.getValueAtPercentile(99) / 1_000);
                row.put("check", problem == null ? "passed" : problem);
                output.emit(new LinkedHashMap<>(driver.about()), List.of(row), Map.of());
                return problem == null ? 0 : 1;
            }
        }
    }

    /** Returns the time from the first message to the last, in seconds. */
    private double receive(Traffic traffic) throws InterruptedException {
        Progress progress = new Progress("received");
        long firstNs = 0;
        long newsNs = System.nanoTime();
        long last = 0;
        while (traffic.counts().distinct() < count * parallelism && traffic.firstError() == null) {
            Thread.sleep(POLL_MS);
            long now = traffic.counts().received();
            if (now != last) {
                newsNs = System.nanoTime();
                firstNs = firstNs == 0 ? newsNs : firstNs;
            } else if (System.nanoTime() - newsNs > timeout.toNanos()) {
                break;
            }
            last = now;
            progress.tell(now);
        }
        return firstNs == 0 ? 0 : Math.max(POLL_MS / 1e3, (System.nanoTime() - firstNs) / 1e9);
    }

    private String problem(Traffic.Counts counts, Traffic traffic) {
        if (traffic.firstError() != null) {
            return traffic.firstError();
        }
        if (counts.corrupt() > 0) {
            return counts.corrupt() + " messages came damaged";
        }
        long missing = count * parallelism - counts.distinct();
        return missing > 0 ? missing + " messages did not come" : null;
    }
}
