package io.journalq.bench.cli;

import io.journalq.bench.BenchException;
import io.journalq.bench.driver.BrokerDriver;
import io.journalq.bench.driver.ClientDriver;
import io.journalq.bench.driver.ConnectionSecurity;
import io.journalq.bench.driver.ExternalBroker;
import io.journalq.bench.driver.JournalQClientDriver;
import io.journalq.bench.driver.KafkaClientsDriver;
import io.journalq.bench.measure.ProcessFinder;
import io.journalq.bench.option.ClusterOptions;
import io.journalq.bench.option.OptionTypes;
import io.journalq.bench.option.SecurityOptions;
import io.journalq.bench.output.OutputOptions;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.produce.Callers;
import io.journalq.bench.produce.ProduceCase;
import io.journalq.bench.produce.ProduceResult;
import io.journalq.bench.produce.ProduceRun;
import io.journalq.bench.produce.ProduceSettings;
import io.journalq.bench.produce.ProduceSettings.Workload;
import io.journalq.bench.produce.Tuning;
import io.journalq.common.commandline.DurationOption;
import io.journalq.common.commandline.SizeOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code journalq-bench produce}: the four produce cases against one broker. */
@Command(
        name = "produce",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Runs the produce cases against one broker.",
            "Case 1 sends single messages and waits for each acknowledgement. Case 2 does the same with lz4. Case 3 sends"
                    + " batches with lz4 without waiting. Case 4 is case 3 with consumers. Without --bootstrap, the command"
                    + " starts a broker and stops it at the end. With --shards, shows what event loops cost the broker.",
            "Exit code: 0 on success, 1 if a run or one of its checks failed, 2 if the command line is wrong."
        },
        footer = {
            "",
            "Examples:",
            "  journalq-bench produce --case all --duration 10s",
            "  journalq-bench produce --case 1 --threads 400 --virtual --output json",
            "  journalq-bench produce --case 4 --groups 3",
            "  journalq-bench produce --case 1,3 --shards 1,2,4,8,16 --warmup 20s",
            "  journalq-bench produce --case 1 --rate 10000 --bootstrap localhost:9092",
            "  journalq-bench produce --brokers 3 --case 1 --threads 200 --mode consistent",
            "  journalq-bench produce --broker kafka --client kafka-clients"
        })
final class ProduceCasesCommand implements Callable<Integer> {
    static final int DEFAULT_CONSUMERS = 60;

    private static final int DEFAULT_VIRTUAL_THREADS = 6_400;
    private static final int DEFAULT_PLATFORM_THREADS = 100;
    private static final int DEFAULT_BATCH_THREADS = 2;

    @Option(
            names = "--case",
            defaultValue = "all",
            paramLabel = "1|2|3|4|all",
            description = "Cases to run; several are separated by commas (default: ${DEFAULT-VALUE}).")
    private WorkloadOptions.Cases cases;

    @Option(
            names = "--duration",
            defaultValue = "60s",
            paramLabel = "DURATION",
            converter = DurationOption.Positive.class,
            description = "Duration of the measurement of each case (default: ${DEFAULT-VALUE}).")
    private Duration duration;

    @Option(
            names = "--warmup",
            defaultValue = "5s",
            paramLabel = "DURATION",
            converter = DurationOption.class,
            description = "Warm-up before each measurement (default: ${DEFAULT-VALUE}).")
    private Duration warmup;

    @Option(
            names = "--message-size",
            defaultValue = "1024",
            paramLabel = "SIZE",
            converter = SizeOption.InMemory.class,
            description = "Size of a message (default: ${DEFAULT-VALUE}).")
    private int messageSizeBytes;

    @Mixin
    private WorkloadOptions work;

    @Option(
            names = "--consumers",
            defaultValue = "" + DEFAULT_CONSUMERS,
            paramLabel = "COUNT",
            converter = OptionTypes.PositiveInt.class,
            description = "Consumers of case 4 (default: ${DEFAULT-VALUE}).")
    private int consumers;

    @Option(
            names = "--threads",
            paramLabel = "COUNT",
            converter = OptionTypes.PositiveInt.class,
            description = "Threads that send (default: in cases 1 and 2, " + DEFAULT_VIRTUAL_THREADS + " virtual or "
                    + DEFAULT_PLATFORM_THREADS + " platform threads; in cases 3 and 4, " + DEFAULT_BATCH_THREADS + ").")
    private Integer threads;

    @Option(
            names = "--virtual",
            negatable = true,
            description =
                    "Sends on virtual threads, or on platform threads with --no-virtual (default: virtual in cases 1 and"
                            + " 2 on JDK " + Callers.VIRTUAL_SINCE + " or newer, otherwise platform).")
    private Boolean virtual;

    @Option(
            names = "--producers",
            defaultValue = "1",
            paramLabel = "COUNT",
            converter = OptionTypes.PositiveInt.class,
            description = "Producers that the threads share (default: ${DEFAULT-VALUE}).")
    private int producers;

    @Option(
            names = "--rate",
            defaultValue = "0",
            paramLabel = "MESSAGES",
            converter = OptionTypes.NonNegativeLong.class,
            description =
                    "Messages per second that are due over all threads, regardless of delays. Latency counts from the"
                            + " time at which a message was due (default: 0, which means that each thread sends its next message"
                            + " as soon as possible).")
    private long messagesPerSecond;

    @Option(
            names = "--in-flight",
            defaultValue = "64",
            paramLabel = "BATCHES",
            converter = OptionTypes.PositiveInt.class,
            description = "Maximum of unacknowledged batches per thread, in cases 3 and 4 (default: ${DEFAULT-VALUE}).")
    private int inFlightBatches;

    @Option(
            names = "--topic",
            defaultValue = "produce-bench",
            paramLabel = "NAME",
            description = "Name of the topic. It is created if it does not exist (default: ${DEFAULT-VALUE}).")
    private String topic;

    @Option(
            names = "--bootstrap",
            paramLabel = "HOST:PORT",
            description = "Address of a running broker (default: starts a broker).")
    private String bootstrap;

    @Mixin
    private SecurityOptions securityOptions;

    private ConnectionSecurity security;

    @Option(
            names = "--broker",
            defaultValue = "journalq",
            paramLabel = "NAME",
            description = "The broker to start: journalq or kafka (default: ${DEFAULT-VALUE}).")
    private BrokerChoice broker;

    @Option(
            names = "--broker-setting",
            paramLabel = "NAME=VALUE",
            description = "Setting of the broker that is started, by the broker's own name. Can be repeated.")
    private Map<String, String> brokerSettings = new TreeMap<>();

    @Mixin
    private ClusterOptions cluster;

    @Mixin
    private ShardOptions shards;

    @Option(
            names = "--client",
            defaultValue = "journalq",
            paramLabel = "NAME",
            description = "The client library: journalq or kafka-clients (default: ${DEFAULT-VALUE}).")
    private ClientChoice client;

    @Option(
            names = "--client-setting",
            paramLabel = "NAME=VALUE",
            description = "Setting of the client library, by the library's own name (batch.size of kafka-clients,"
                    + " batchSizeBytes of journalq); consumer.NAME for consumers. Can be repeated.")
    private Map<String, String> clientSettings = new TreeMap<>();

    @Mixin
    private OutputOptions output;

    /** A client library that can run the cases. */
    enum ClientChoice {
        JOURNALQ,
        KAFKA_CLIENTS;

        private ClientDriver open(ConnectionSecurity security) {
            return switch (this) {
                case JOURNALQ -> new JournalQClientDriver(security, null);
                case KAFKA_CLIENTS -> new KafkaClientsDriver(security);
            };
        }

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    @Override
    public Integer call() throws InterruptedException {
        List<ProduceCase> chosen = cases.required("--case");
        Workload workload = work.workload(topic, messageSizeBytes, consumers);
        PayloadPool pool = work.pool(messageSizeBytes);
        security = securityOptions.security(bootstrap);
        if (bootstrap != null && shards.isGiven()) {
            throw BenchException.wrongUsage(
                    "the shards of a running broker cannot be chosen", "leave --shards or --bootstrap out");
        }
        if (bootstrap != null) {
            cluster.requireNone("leave them or --bootstrap out");
        }
        Map<String, String> ofBroker = new TreeMap<>(broker.settings(cluster));
        ofBroker.putAll(brokerSettings);
        List<ProduceResult> results = new ArrayList<>();
        List<Map<String, Object>> rows = new ArrayList<>();
        Map<String, String> common = Map.of();
        for (Map<String, String> one : shards.brokers(broker, ofBroker)) {
            try (BrokerDriver brokerDriver = openBroker(one)) {
                brokerDriver.start();
                for (ProduceCase chosenCase : chosen) {
                    ProduceResult result = run(brokerDriver, settings(chosenCase, workload), pool);
                    results.add(result);
                    Map<String, Object> row = ResultRow.of(result);
                    row.put("shards", ShardOptions.of(one));
                    rows.add(row);
                }
                common = ShardOptions.common(brokerDriver.settings());
            }
        }
        output.emitSummary(
                Map.of("broker_settings", common.toString()),
                rows,
                shards.isGiven()
                        ? BrokerCosts.listing(rows, "qps") + ProduceSummary.problems(results)
                        : ProduceSummary.of(results));
        return results.stream().allMatch(result -> result.problem() == null) ? 0 : 1;
    }

    private ProduceResult run(BrokerDriver brokerDriver, ProduceSettings settings, PayloadPool pool)
            throws InterruptedException {
        return new ProduceRun(
                        brokerDriver,
                        client.open(security),
                        new KafkaClientsDriver(security),
                        settings,
                        pool,
                        System.err::println)
                .run();
    }

    private ProduceSettings settings(ProduceCase one, Workload workload) {
        boolean onVirtual = virtual != null ? virtual : !one.batched() && Callers.virtualThreadsExist();
        Map<String, String> ofClient = new TreeMap<>(cluster.clientSettings(client.toString()));
        ofClient.putAll(clientSettings);
        int defaultThreads =
                one.batched() ? DEFAULT_BATCH_THREADS : onVirtual ? DEFAULT_VIRTUAL_THREADS : DEFAULT_PLATFORM_THREADS;
        return new ProduceSettings(
                one,
                workload,
                new Tuning(threads != null ? threads : defaultThreads, onVirtual, producers, inFlightBatches, ofClient),
                messagesPerSecond,
                warmup,
                duration);
    }

    private BrokerDriver openBroker(Map<String, String> settings) {
        return bootstrap == null
                ? broker.open(cluster.shape(), settings)
                : new ExternalBroker(broker.toString(), bootstrap, ProcessFinder.listeningAt(bootstrap), security);
    }
}
