package io.journalq.bench.cli;

import io.journalq.bench.compare.Side;
import io.journalq.bench.driver.BrokerDriver;
import io.journalq.bench.load.BrokerLoad;
import io.journalq.bench.measure.Statistics;
import io.journalq.bench.option.OptionTypes;
import io.journalq.bench.output.OutputOptions;
import io.journalq.bench.payload.PayloadPool;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code journalq-bench broker-load}: the broker's processor time per single-message produce request. */
@Command(
        name = "broker-load",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Measures the broker's processor time per single-message produce request.",
            "Starts a broker and sends it prebuilt requests over plain sockets, without a client library.",
            "Exit code: 0 on success, 1 if the broker failed, 2 if the command line is wrong."
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
            converter = OptionTypes.PositiveTime.class,
            description = "Duration of the measurement (default: ${DEFAULT-VALUE}).")
    private Duration duration;

    @Option(
            names = "--warmup",
            defaultValue = "5s",
            paramLabel = "DURATION",
            converter = OptionTypes.Time.class,
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
    private OutputOptions output;

    @Override
    public Integer call() throws IOException {
        PayloadPool pool = PayloadPool.build("text", 1024, PayloadPool.DEFAULT_SIZE_BYTES);
        try (BrokerDriver driver = broker.open(brokerSettings)) {
            driver.start();
            driver.createTopic("broker-load", partitions);
            BrokerLoad.Result result = new BrokerLoad(
                            Side.address(driver.bootstrap()), "broker-load", partitions, pool, inFlight)
                    .run(connections, driver.pid(), warmup, duration);
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("broker", driver.name() + " " + driver.version());
            row.put("requests_per_s", Math.round(result.requestsPerSecond()));
            row.put("broker_cpu_us_per_request", Statistics.hundredths(result.brokerMicrosPerRequest()));
            row.put("broker_cores", Statistics.hundredths(result.use().brokerCores()));
            row.put("generator_cores", Statistics.hundredths(result.use().clientCores()));
            row.put("broker_rss_mib", result.use().brokerResidentBytes() >> 20);
            Map<String, Object> settings = new LinkedHashMap<>();
            settings.put("connections", connections);
            settings.put("in_flight", inFlight);
            settings.put("partitions", partitions);
            settings.put("broker_settings", driver.settings().toString());
            output.emit(settings, List.of(row), Map.of());
        }
        return 0;
    }
}
