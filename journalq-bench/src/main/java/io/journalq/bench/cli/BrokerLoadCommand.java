package io.journalq.bench.cli;

import io.journalq.bench.BenchException;
import io.journalq.bench.compare.Side;
import io.journalq.bench.driver.BrokerDriver;
import io.journalq.bench.driver.SpawnedBroker;
import io.journalq.bench.load.BrokerLoad;
import io.journalq.bench.load.LoadListener;
import io.journalq.bench.measure.Statistics;
import io.journalq.bench.option.EncryptionOption;
import io.journalq.bench.option.OptionTypes;
import io.journalq.bench.output.OutputOptions;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.common.commandline.DurationOption;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code journalq-bench broker-load}: the broker's processor time per produce request. */
@Command(
        name = "broker-load",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Measures the broker's processor time per produce request.",
            "Starts a broker and sends it prebuilt requests over sockets, without a client library. A request has one"
                    + " message for each of its partitions. With --shards, shows what event loops cost.",
            "Exit code: 0 on success, 1 if the broker failed, 2 if the command line is wrong."
        },
        footer = {
            "",
            "Examples:",
            "  journalq-bench broker-load --broker journalq",
            "  journalq-bench broker-load --shards 1,2,4,8,16 --warmup 20s",
            "  journalq-bench broker-load --shards 1,16 --partitions-per-request 10"
        })
final class BrokerLoadCommand implements Callable<Integer> {
    @Option(
            names = "--broker",
            defaultValue = "journalq",
            paramLabel = "NAME",
            description = "The broker to start: journalq or kafka (default: ${DEFAULT-VALUE}).")
    private BrokerChoice broker;

    @Option(
            names = "--duration",
            defaultValue = "10s",
            paramLabel = "DURATION",
            converter = DurationOption.Positive.class,
            description = "Duration of the measurement (default: ${DEFAULT-VALUE}).")
    private Duration duration;

    @Option(
            names = "--warmup",
            defaultValue = "5s",
            paramLabel = "DURATION",
            converter = DurationOption.class,
            description = "Warm-up before the measurement (default: ${DEFAULT-VALUE}).")
    private Duration warmup;

    @Option(
            names = "--partitions",
            defaultValue = "200",
            paramLabel = "COUNT",
            converter = OptionTypes.PositiveInt.class,
            description = "Partitions of the topic (default: ${DEFAULT-VALUE}).")
    private int partitions;

    @Option(
            names = "--partitions-per-request",
            defaultValue = "1",
            paramLabel = "COUNT",
            converter = OptionTypes.PositiveInt.class,
            description = "Partitions that a request writes to, with one message each (default: ${DEFAULT-VALUE}).")
    private int partitionsPerRequest;

    @Option(
            names = "--connections",
            defaultValue = "" + Side.LOAD_CONNECTIONS,
            paramLabel = "COUNT",
            converter = OptionTypes.PositiveInt.class,
            description = "Number of connections (default: ${DEFAULT-VALUE}).")
    private int connections;

    @Option(
            names = "--in-flight",
            defaultValue = "" + Side.LOAD_IN_FLIGHT,
            paramLabel = "REQUESTS",
            converter = OptionTypes.PositiveInt.class,
            description = "Requests in flight on each connection (default: ${DEFAULT-VALUE}).")
    private int inFlight;

    @Option(
            names = "--broker-setting",
            paramLabel = "NAME=VALUE",
            description = "Setting of the broker, by its own name. Can be repeated.")
    private Map<String, String> brokerSettings = new TreeMap<>();

    @Mixin
    private ShardOptions shards;

    @Mixin
    private EncryptionOption encryption;

    @Mixin
    private OutputOptions output;

    @Override
    public Integer call() throws IOException {
        if (partitionsPerRequest > partitions) {
            throw BenchException.wrongUsage(
                    "--partitions-per-request is " + partitionsPerRequest + " of " + partitions + " partitions",
                    "use at most as many as there are partitions");
        }
        List<Map<String, String>> brokers = shards.brokers(broker, brokerSettings);
        PayloadPool pool = PayloadPool.build("text", 1024, PayloadPool.DEFAULT_SIZE_BYTES);
        Map<String, Object> settings = new LinkedHashMap<>();
        settings.put("connections", connections);
        settings.put("connection_kind", encryption.inWords());
        settings.put("in_flight", inFlight);
        settings.put("partitions", partitions);
        settings.put("partitions_per_request", partitionsPerRequest);
        List<Map<String, Object>> rows = new ArrayList<>();
        for (Map<String, String> one : brokers) {
            try (SpawnedBroker driver = encryption.apply(broker.open(one))) {
                driver.start();
                rows.add(measure(driver, ShardOptions.of(one), pool));
                settings.put(
                        "broker_settings",
                        ShardOptions.common(driver.settings()).toString());
            }
        }
        if (shards.isGiven()) {
            output.emitSummary(settings, rows, BrokerCosts.listing(rows, "requests_per_s"));
        } else {
            output.emit(settings, rows, Map.of());
        }
        return 0;
    }

    private Map<String, Object> measure(BrokerDriver driver, String shardCount, PayloadPool pool) throws IOException {
        driver.createTopic("broker-load", partitions);
        BrokerLoad.Result result = new BrokerLoad(
                        LoadListener.of(
                                Side.address(driver.bootstrap()),
                                driver.security().loadContext()),
                        "broker-load",
                        partitions,
                        partitionsPerRequest,
                        pool,
                        inFlight)
                .run(connections, driver.pid(), driver.metricsAddress().orElse(null), warmup, duration);
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("broker", driver.name() + " " + driver.version());
        row.put("shards", shardCount);
        row.put("requests_per_s", Math.round(result.requestsPerSecond()));
        BrokerCosts.put(row, result.use(), result.requests(), result.requests() * partitionsPerRequest);
        row.put("latency_p50_us", result.latency().p50Us());
        row.put("latency_p99_us", result.latency().p99Us());
        row.put("broker_cores", Statistics.hundredths(result.use().brokerCores()));
        row.put("generator_cores", Statistics.hundredths(result.use().clientCores()));
        row.put("broker_rss_mib", result.use().brokerResidentBytes() >> 20);
        return row;
    }
}
