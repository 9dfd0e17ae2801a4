package io.journalq.bench.cli;

import io.journalq.bench.compare.Comparison;
import io.journalq.bench.compare.Presets;
import io.journalq.bench.compare.Side;
import io.journalq.bench.compare.Spread;
import io.journalq.bench.driver.JournalQBroker;
import io.journalq.bench.driver.JournalQClientDriver;
import io.journalq.bench.driver.KafkaBroker;
import io.journalq.bench.driver.KafkaClientsDriver;
import io.journalq.bench.driver.SpawnedBroker;
import io.journalq.bench.load.BrokerLoad;
import io.journalq.bench.measure.Statistics;
import io.journalq.bench.option.ClusterOptions;
import io.journalq.bench.option.EncryptionOption;
import io.journalq.bench.option.OptionTypes;
import io.journalq.bench.output.OutputOptions;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.produce.ProduceCase;
import io.journalq.bench.produce.ProduceResult;
import io.journalq.bench.produce.Tuning;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code journalq-bench compare}: JournalQ and a peer side by side. Both run on the same machine and JDK with the same
 * durability (page cache, acknowledged by the leader). Repetitions alternate, the broker that is not measured is frozen,
 * and each run begins when the disk is idle. Each broker has its own client, at the settings that a sweep found best.
 */
@Command(
        name = "compare",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Runs the produce cases against JournalQ and Apache Kafka in turn, and prints the ratios.",
            "Each broker has its own client, at its best settings. While one broker is measured, the other is frozen."
                    + " Prints medians with minimum and maximum.",
            "Exit code: 0 on success, 1 if a run or one of its checks failed, 2 if the command line is wrong."
        })
final class CompareCommand implements Callable<Integer> {
    @Option(
            names = "--peers",
            defaultValue = "kafka",
            paramLabel = "NAME",
            description = "The other broker: kafka (default: ${DEFAULT-VALUE}).")
    private Peer peers;

    @Option(
            names = "--cases",
            defaultValue = "1,2,3,4",
            paramLabel = "CASES",
            description = "Cases, separated by commas, or none (default: ${DEFAULT-VALUE}).")
    private WorkloadOptions.Cases cases;

    @Option(
            names = "--repetitions",
            defaultValue = "3",
            paramLabel = "COUNT",
            converter = OptionTypes.PositiveInt.class,
            description = "Repetitions of each case on each broker (default: ${DEFAULT-VALUE}).")
    private int repetitions;

    @Mixin
    private ComparisonOptions work;

    @Option(
            names = "--clients",
            defaultValue = "own",
            paramLabel = "KIND",
            description =
                    "own: each broker has its own client; kafka: both have kafka-clients, at the settings that are"
                            + " best for Kafka (default: ${DEFAULT-VALUE}).")
    private ClientSet clients;

    @Option(
            names = "--durability",
            defaultValue = "page-cache",
            paramLabel = "KIND",
            description =
                    "page-cache: neither broker calls fsync, which is Kafka's default; default: each broker has its"
                            + " own default, and JournalQ calls fsync within a second (default: ${DEFAULT-VALUE}).")
    private DurabilityOption durability;

    @Option(
            names = "--sweep",
            description = "First searches for the best settings of each broker, which takes minutes per case.")
    private boolean sweepFirst;

    @Option(
            names = "--broker-cpu",
            negatable = true,
            defaultValue = "true",
            fallbackValue = "true",
            description =
                    "Also measures the processor time of a single broker per single-message request (default: yes).")
    private boolean brokerCpu;

    @Mixin
    private ClusterOptions cluster;

    @Mixin
    private EncryptionOption encryption;

    @Mixin
    private OutputOptions output;

    private PayloadPool pool;

    /** A broker that JournalQ can be compared with. */
    enum Peer {
        KAFKA;

        private SpawnedBroker open(ClusterOptions cluster) {
            return new KafkaBroker(cluster.shape(), BrokerChoice.KAFKA.settings(cluster));
        }

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Which client library drives each broker. */
    enum ClientSet {
        OWN,
        KAFKA;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    @Override
    public Integer call() throws InterruptedException, IOException {
        List<ProduceCase> chosen = cases.list();
        pool = work.pool();
        List<Map<String, Object>> rows = new ArrayList<>();
        List<Map<String, Object>> runs = new ArrayList<>();
        Map<String, Object> about = new LinkedHashMap<>();
        Map<String, String> ofJournalQ = new TreeMap<>(durability.journalqSettings());
        ofJournalQ.putAll(BrokerChoice.JOURNALQ.settings(cluster));
        try (SpawnedBroker journalq = encryption.apply(new JournalQBroker(cluster.shape(), ofJournalQ));
                SpawnedBroker kafka = encryption.apply(peers.open(cluster))) {
            Side peer = new Side(kafka, KafkaClientsDriver::new);
            Side own = new Side(
                    journalq,
                    sameClient() ? KafkaClientsDriver::new : security -> new JournalQClientDriver(security, null));
            about.put("journalq", own.inWords());
            about.put("peer", peer.inWords());
            Presets presets = sweepFirst ? work.sweep(List.of(own, peer), chosen, pool) : work.presets();
            for (ProduceCase one : chosen) {
                rows.add(compareCase(one, own, peer, presets, runs));
            }
            // The load without a client library knows one broker only.
            if (brokerCpu && !cluster.shape().isCluster()) {
                rows.add(compareBrokerCpu(own, peer));
            }
        }
        about.put(
                "durability",
                "acks=" + cluster.clientSettings("kafka-clients").getOrDefault("acks", "1") + ", no idempotence; "
                        + durability.inWords());
        about.put(
                "method",
                repetitions + " repetitions in turn, the other broker frozen; medians [least-most]; " + work.inWords()
                        + ", connections " + encryption.inWords());
        output.emit(about, rows, Map.of("runs", runs));
        return rows.stream().allMatch(row -> row.get("check").equals("passed")) ? 0 : 1;
    }

    private Map<String, Object> compareCase(
            ProduceCase one, Side own, Side peer, Presets presets, List<Map<String, Object>> runs)
            throws InterruptedException {
        Tuning theirs = acknowledged(work.tuning(presets, peer, one), "kafka-clients");
        Tuning ours = sameClient() ? theirs : acknowledged(work.tuning(presets, own, one), "journalq");
        Comparison.Pair pair = work.comparison(pool).alternate(one, own, ours, peer, theirs, repetitions);
        pair.own().forEach(result -> runs.add(ResultRow.of(result)));
        pair.peer().forEach(result -> runs.add(ResultRow.of(result)));
        Row row = new Row(Integer.toString(one.number()), one.words());
        row.put("journalq_settings", ours.inWords(one.batched()));
        row.put("peer_settings", theirs.inWords(one.batched()));
        row.compare("qps", pair, result -> result.measured().qps());
        row.put("ratio", ratio(qps(pair.own()), qps(pair.peer())));
        if (one.consumed()) {
            row.compare("consumed_per_s", pair, result -> result.measured().consumedPerSecond());
        } else {
            row.leaveOut("consumed_per_s");
        }
        row.put(
                "consumed_ratio",
                one.consumed() ? ratio(consumedPerSecond(pair.own()), consumedPerSecond(pair.peer())) : null);
        row.compare("p50_us", pair, result -> result.measured().latency().p50Us());
        row.compare("p99_us", pair, result -> result.measured().latency().p99Us());
        row.compare("broker_cores", pair, result -> result.measured().use().brokerCores());
        row.compare("client_cores", pair, result -> result.measured().use().clientCores());
        row.compare(
                "broker_cpu_us",
                pair,
                result -> result.measured().use().brokerCores()
                        * 1e6
                        / result.measured().qps());
        row.compare("broker_rss_mib", pair, result -> result.measured().use().brokerResidentBytes() >> 20);
        row.compare("bytes_on_disk", pair, result -> result.checks().bytesPerMessage());
        row.batchWork(pair.own(), pair.built(), pair.checked());
        row.put(
                "check",
                Stream.of(pair.failure(), problem(pair.own()), problem(pair.peer()))
                        .filter(Objects::nonNull)
                        .findFirst()
                        .orElse("passed"));
        return row.values;
    }

    /** The settings of a client, with the acknowledgements that were chosen. */
    private Tuning acknowledged(Tuning tuning, String client) {
        Tuning chosen = tuning;
        for (Map.Entry<String, String> setting : cluster.clientSettings(client).entrySet()) {
            chosen = chosen.with(setting.getKey(), setting.getValue());
        }
        return chosen;
    }

    private boolean sameClient() {
        return clients == ClientSet.KAFKA;
    }

    private Map<String, Object> compareBrokerCpu(Side own, Side peer) {
        Comparison.Loads loads = work.comparison(pool).alternateLoads(own, peer, repetitions);
        List<BrokerLoad.Result> ours = loads.own();
        List<BrokerLoad.Result> theirs = loads.peer();
        Row row = new Row("broker-cpu", "broker's processor time per single-message request, no client library");
        String how = Side.LOAD_CONNECTIONS + " connections, " + Side.LOAD_IN_FLIGHT + " requests in flight each";
        row.put("journalq_settings", how);
        row.put("peer_settings", how);
        row.compare("qps", ours, theirs, BrokerLoad.Result::requestsPerSecond);
        // The factor by which JournalQ needs less.
        row.put(
                "ratio",
                ratio(
                        spread(theirs, BrokerLoad.Result::brokerMicrosPerRequest),
                        spread(ours, BrokerLoad.Result::brokerMicrosPerRequest)));
        row.leaveOut("consumed_per_s");
        row.put("consumed_ratio", null);
        row.leaveOut("p50_us");
        row.leaveOut("p99_us");
        row.compare("broker_cores", ours, theirs, result -> result.use().brokerCores());
        row.compare("client_cores", ours, theirs, result -> result.use().clientCores());
        row.compare("broker_cpu_us", ours, theirs, BrokerLoad.Result::brokerMicrosPerRequest);
        row.compare("broker_rss_mib", ours, theirs, result -> result.use().brokerResidentBytes() >> 20);
        row.leaveOut("bytes_on_disk");
        row.batchWork(List.of(), List.of(), List.of());
        row.put("check", Objects.requireNonNullElse(loads.failure(), "passed"));
        return row.values;
    }

    private static Spread qps(List<ProduceResult> results) {
        return spread(results, result -> result.measured().qps());
    }

    private static Spread consumedPerSecond(List<ProduceResult> results) {
        return spread(results, result -> result.measured().consumedPerSecond());
    }

    /** Returns null if a side has no results. */
    private static <R> Spread spread(List<R> results, ToDoubleFunction<R> value) {
        return results.isEmpty() ? null : Spread.of(results, value);
    }

    private static Double ratio(Spread numerator, Spread denominator) {
        return numerator == null || denominator == null
                ? null
                : Statistics.rounded(numerator.median() / denominator.median());
    }

    private static String problem(List<ProduceResult> results) {
        return results.stream()
                .filter(result -> result.problem() != null)
                .map(result -> result.broker() + ": " + result.problem())
                .findFirst()
                .orElse(null);
    }

    /** A row that is being filled. Every row has the same names in the same order. */
    private static final class Row {
        private final Map<String, Object> values = new LinkedHashMap<>();

        Row(String benchCase, String what) {
            values.put("case", benchCase);
            values.put("what", what);
        }

        void put(String name, Object value) {
            values.put(name, value);
        }

        void compare(String name, Comparison.Pair pair, ToDoubleFunction<ProduceResult> value) {
            compare(name, pair.own(), pair.peer(), value);
        }

        <R> void compare(String name, List<R> own, List<R> peer, ToDoubleFunction<R> value) {
            one("journalq_" + name, own, value);
            one("peer_" + name, peer, value);
        }

        /** How close JournalQ comes to the rate of the batch work alone. */
        void batchWork(List<ProduceResult> own, List<Double> built, List<Double> checked) {
            one("built_only_qps", built, rate -> rate);
            put("journalq_of_built", ratio(qps(own), spread(built, rate -> rate)));
            one("built_and_checked_qps", checked, rate -> rate);
            put("journalq_of_checked", ratio(qps(own), spread(checked, rate -> rate)));
        }

        void leaveOut(String name) {
            compare(name, List.of(), List.of(), result -> 0);
        }

        private <R> void one(String name, List<R> results, ToDoubleFunction<R> value) {
            Spread spread = spread(results, value);
            values.put(name, spread == null ? null : Statistics.rounded(spread.median()));
            values.put(name + "_range", spread == null ? null : spread.range());
        }
    }
}
