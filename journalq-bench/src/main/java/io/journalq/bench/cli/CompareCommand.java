package io.journalq.bench.cli;

import io.journalq.bench.BenchException;
import io.journalq.bench.driver.BrokerDriver;
import io.journalq.bench.driver.ClientDriver;
import io.journalq.bench.driver.JournalQBroker;
import io.journalq.bench.driver.JournalQClientDriver;
import io.journalq.bench.driver.KafkaBroker;
import io.journalq.bench.driver.KafkaClientsDriver;
import io.journalq.bench.load.BrokerLoad;
import io.journalq.bench.measure.Machine;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.produce.ProduceCase;
import io.journalq.bench.produce.ProduceResult;
import io.journalq.bench.produce.ProduceRun;
import io.journalq.bench.produce.ProduceSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.ToDoubleFunction;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code journalq-bench compare}: JournalQ and a peer side by side. Both run on the same machine and JDK with the same
 * durability (page cache, acknowledged by the leader); repetitions alternate, and the one that is not measured is frozen.
 * Each is driven by its own client at the settings that were found best for it.
 */
@Command(
        name = "compare",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = "Runs the produce cases against JournalQ and Apache Kafka in turn, and prints the ratios.")
final class CompareCommand implements Callable<Integer> {
    private static final int VIRTUAL_SINCE = 21;

    @Option(names = "--peers", defaultValue = "kafka", description = "kafka, the only peer so far.")
    private String peers;

    @Option(names = "--cases", defaultValue = "1,2,3,4", description = "Default: 1,2,3,4.")
    private String cases;

    @Option(names = "--repetitions", defaultValue = "3", description = "Of each case on each broker. Default: 3.")
    private int repetitions;

    @Option(names = "--duration", defaultValue = "10s", description = "Measured time of each run. Default: 10s.")
    private Duration duration;

    @Option(names = "--warmup", defaultValue = "5s", description = "Before each. Default: 5s.")
    private Duration warmup;

    @Option(names = "--partitions", defaultValue = "200", description = "Default: 200.")
    private int partitions;

    @Option(names = "--payload", defaultValue = "text", description = "Default: text.")
    private String payload;

    @Option(names = "--no-broker-cpu", description = "Leave out the broker's processor time per request.")
    private boolean withoutBrokerCpu;

    @Option(names = "--output", defaultValue = "table", description = "table, csv or json. Default: table.")
    private Output.Format output;

    @Option(names = "--out", description = "Write the result to this file too.")
    private Path out;

    private PayloadPool pool;
    private int topicNumber;

    /** One broker with its client. */
    private record Side(BrokerDriver broker, ClientDriver client) {}

    @Override
    public Integer call() throws InterruptedException, IOException {
        if (!peers.equals("kafka")) {
            throw new BenchException("no peer is called '" + peers + "'", "use --peers kafka");
        }
        if (repetitions < 1) {
            throw new BenchException("--repetitions is " + repetitions, "give a number from 1 up");
        }
        pool = PayloadPool.build(payload, 1024, PayloadPool.DEFAULT_SIZE_BYTES);
        List<Map<String, Object>> rows = new ArrayList<>();
        boolean passed = true;
        try (BrokerDriver journalq = new JournalQBroker();
                BrokerDriver kafka = new KafkaBroker()) {
            journalq.start();
            kafka.start();
            Side ours = new Side(journalq, new JournalQClientDriver());
            Side peer = new Side(kafka, new KafkaClientsDriver());
            ours.broker().freeze();
            peer.broker().freeze();
            for (ProduceCase one : ProduceCase.parse(cases)) {
                passed &= compareCase(one, ours, peer, rows);
            }
            if (!withoutBrokerCpu) {
                rows.add(compareBrokerCpu(ours, peer));
            }
        }
        Map<String, Object> about = new LinkedHashMap<>();
        about.put("machine", Machine.here().inWords());
        about.put("durability", "both: page cache, acks=1, no idempotence");
        about.put("repetitions", repetitions + ", alternating, the other broker frozen; medians with [least-most]");
        about.put("partitions", partitions);
        about.put("payload", payload + ", 1024 B");
        Output.emit(Output.format(output, about, rows), out);
        return passed ? 0 : 1;
    }

    private boolean compareCase(ProduceCase one, Side ours, Side peer, List<Map<String, Object>> rows)
            throws InterruptedException {
        List<ProduceResult> own = new ArrayList<>();
        List<ProduceResult> other = new ArrayList<>();
        for (int i = 0; i < repetitions; i++) {
            own.add(run(ours, ourBest(one)));
            other.add(run(peer, kafkasBest(one)));
        }
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("case", Integer.toString(one.number()));
        row.put("what", one.words());
        row.put("journalq_settings", inWords(own.get(0).settings()));
        row.put("peer_settings", inWords(other.get(0).settings()));
        putBoth(row, "qps", own, other, ProduceResult::qps);
        row.put("ratio", ratio(own, other, ProduceResult::qps));
        if (one.consumed()) {
            putBoth(row, "consumed_per_s", own, other, ProduceResult::consumedPerSecond);
            row.put("consumed_ratio", ratio(own, other, ProduceResult::consumedPerSecond));
        }
        putBoth(row, "p50_us", own, other, result -> result.latency().p50Us());
        putBoth(row, "p99_us", own, other, result -> result.latency().p99Us());
        putBoth(row, "broker_cores", own, other, result -> result.use().brokerCores());
        putBoth(row, "client_cores", own, other, result -> result.use().clientCores());
        putBoth(row, "broker_rss_mib", own, other, result -> result.use().brokerResidentBytes() >> 20);
        String problem = problem(own) == null ? problem(other) : problem(own);
        row.put("check", problem == null ? "passed" : problem);
        rows.add(row);
        return problem == null;
    }

    private ProduceResult run(Side side, ProduceSettings settings) throws InterruptedException {
        side.broker().thaw();
        try {
            return new ProduceRun(side.broker(), side.client(), settings, pool, System.err::println).run();
        } finally {
            if (side.broker().topics().contains(settings.topic())) {
                side.broker().deleteTopic(settings.topic());
            }
            side.broker().freeze();
        }
    }

    /** Virtual threads where the JDK has them: a caller that waits costs least. */
    private ProduceSettings ourBest(ProduceCase one) {
        boolean virtual = Runtime.version().feature() >= VIRTUAL_SINCE;
        return one.batched() ? settings(one, 2, false, 1, Map.of()) : settings(one, 100, virtual, 1, Map.of());
    }

    /** As a sweep over threads, producers, batch sizes and linger times found on two cores. */
    private ProduceSettings kafkasBest(ProduceCase one) {
        return one.batched()
                ? settings(one, 2, false, 2, Map.of("batch.size", "16384", "linger.ms", "5"))
                : settings(one, 400, false, 1, Map.of());
    }

    private ProduceSettings settings(
            ProduceCase one, int threads, boolean virtual, int producers, Map<String, String> client) {
        return new ProduceSettings(
                one,
                "compare-" + topicNumber++,
                partitions,
                1024,
                payload,
                threads,
                virtual,
                producers,
                100,
                ProduceCommand.DEFAULT_IN_FLIGHT_BATCHES,
                60,
                warmup,
                duration,
                client);
    }

    private static String inWords(ProduceSettings settings) {
        return settings.threads() + (settings.virtualThreads() ? " virtual" : " platform") + " threads, "
                + settings.producers() + " producer(s)"
                + (settings.clientSettings().isEmpty() ? "" : ", " + settings.clientSettings());
    }

    private Map<String, Object> compareBrokerCpu(Side ours, Side peer) throws IOException {
        List<BrokerLoad.Result> own = new ArrayList<>();
        List<BrokerLoad.Result> other = new ArrayList<>();
        for (int i = 0; i < repetitions; i++) {
            own.add(load(ours));
            other.add(load(peer));
        }
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("case", "broker-cpu");
        row.put("what", "prebuilt single-message requests, " + BrokerLoadCommand.CONNECTIONS + " connections");
        putBoth(row, "qps", own, other, BrokerLoad.Result::requestsPerSecond);
        putBoth(row, "cpu_us_per_request", own, other, BrokerLoad.Result::brokerMicrosPerRequest);
        row.put("ratio", ratio(other, own, BrokerLoad.Result::brokerMicrosPerRequest));
        return row;
    }

    private BrokerLoad.Result load(Side side) throws IOException {
        String topic = "compare-" + topicNumber++;
        side.broker().thaw();
        try {
            side.broker().createTopic(topic, partitions);
            return new BrokerLoad(
                            BrokerLoadCommand.address(side.broker().bootstrap()),
                            topic,
                            partitions,
                            pool,
                            BrokerLoadCommand.IN_FLIGHT)
                    .run(BrokerLoadCommand.CONNECTIONS, side.broker().pid(), warmup, duration);
        } finally {
            side.broker().deleteTopic(topic);
            side.broker().freeze();
        }
    }

    private static <R> void putBoth(
            Map<String, Object> row, String name, List<R> own, List<R> other, ToDoubleFunction<R> value) {
        row.put("journalq_" + name, rounded(median(own, value)));
        row.put("journalq_" + name + "_range", range(own, value));
        row.put("peer_" + name, rounded(median(other, value)));
        row.put("peer_" + name + "_range", range(other, value));
    }

    private static <R> double ratio(List<R> numerator, List<R> denominator, ToDoubleFunction<R> value) {
        return rounded(median(numerator, value) / median(denominator, value));
    }

    private static <R> double median(List<R> results, ToDoubleFunction<R> value) {
        double[] sorted = results.stream().mapToDouble(value).sorted().toArray();
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    private static <R> String range(List<R> results, ToDoubleFunction<R> value) {
        double[] sorted = results.stream().mapToDouble(value).sorted().toArray();
        return Arrays.toString(new double[] {rounded(sorted[0]), rounded(sorted[sorted.length - 1])});
    }

    private static double rounded(double value) {
        return Math.abs(value) >= 1_000 ? Math.round(value) : Math.round(value * 100) / 100.0;
    }

    private static String problem(List<ProduceResult> results) {
        return results.stream()
                .filter(result -> result.problem() != null)
                .map(result -> result.broker() + ": " + result.problem())
                .findFirst()
                .orElse(null);
    }
}
