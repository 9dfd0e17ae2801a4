package io.journalq.bench.scenario;

import io.journalq.bench.option.MessageOptions;
import io.journalq.bench.option.OptionTypes;
import io.journalq.bench.option.SingleBrokerOptions;
import io.journalq.bench.output.OutputOptions;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.peer.PubSubDriver;
import io.journalq.bench.traffic.Traffic;
import io.journalq.common.commandline.DurationOption;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.HdrHistogram.Histogram;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code journalq-bench sub}: the receiving half of a benchmark as a separate program. */
@Command(
        name = "sub",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Receives and checks the messages that journalq-bench pub publishes to a running broker.",
            "Receives messages that are published from now on. Latency is the difference of two clocks: run both programs"
                    + " on one machine, or on machines with synchronized clocks.",
            "Exit code: 0 if every message was received, 1 if messages are missing or damaged, 2 if the command line is"
                    + " wrong."
        },
        footer = {"", "Example:", "  journalq-bench sub --bootstrap localhost:9092 --topic t --count 1000000"})
public final class SubCommand implements Callable<Integer> {
    private static final long POLL_MS = 100;

    @Option(
            names = "--count",
            defaultValue = "100000",
            paramLabel = "MESSAGES",
            converter = OptionTypes.PositiveLong.class,
            description = "Messages that each subscriber receives (default: ${DEFAULT-VALUE}).")
    private long count;

    @Option(
            names = "--parallelism",
            defaultValue = "1",
            paramLabel = "COUNT",
            converter = OptionTypes.PositiveInt.class,
            description = "Number of subscribers. Each receives every message (default: ${DEFAULT-VALUE}).")
    private int parallelism;

    @Option(
            names = "--timeout",
            defaultValue = "60s",
            paramLabel = "DURATION",
            converter = DurationOption.Positive.class,
            description = "Ends when no message has arrived for this time (default: ${DEFAULT-VALUE}).")
    private Duration timeout;

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
        Traffic.Settings settings = new Traffic.Settings(0, parallelism, 0, 0, 1, 0, 1);
        try (PubSubDriver driver = target.open()) {
            driver.start();
            String topic = target.topic(PubCommand.DEFAULT_TOPIC);
            driver.createTopic(topic, target.partitions());
            try (Traffic traffic = Traffic.start(driver, topic, settings, pool)) {
                System.err.println("ready");
                double seconds = receive(traffic);
                Traffic.Counts counts = traffic.counts();
                Histogram endToEnd = traffic.takeEndToEnd();
                String problem = problem(counts, traffic);
                Map<String, Object> row = new LinkedHashMap<>();
                row.put("broker", driver.name());
                row.put("qos", target.delivery().toString());
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
        long lastChangeNs = System.nanoTime();
        long last = 0;
        while (traffic.counts().distinct() < count * parallelism && traffic.firstError() == null) {
            Thread.sleep(POLL_MS);
            long now = traffic.counts().received();
            if (now != last) {
                lastChangeNs = System.nanoTime();
                firstNs = firstNs == 0 ? lastChangeNs : firstNs;
            } else if (System.nanoTime() - lastChangeNs > timeout.toNanos()) {
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
            return counts.corrupt() + " messages were damaged";
        }
        long missing = count * parallelism - counts.distinct();
        return missing > 0 ? missing + " messages are missing" : null;
    }
}
