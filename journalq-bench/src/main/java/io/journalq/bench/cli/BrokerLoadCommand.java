package io.journalq.bench.cli;

import io.journalq.bench.compare.Side;
import io.journalq.bench.driver.BrokerDriver;
import io.journalq.bench.load.BrokerLoad;
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
import io.journalq.bench.measure.Statistics;

/** {@code journalq-bench broker-load}: the broker's processor time per single-message produce request. */
@Command(
        name = "broker-load",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description =
                "Sends prebuilt single-message produce requests to a broker of its own and shows what one costs it.")
final class BrokerLoadCommand implements Callable<Integer> {
    @Option(names = "--broker", defaultValue = "journalq", description = "journalq or kafka. Default: journalq.")
    private String broker;

    @Option(names = "--duration", defaultValue = "10s", description = "Measured time. Default: 10s.")
    private Duration duration;

    @Option(names = "--warmup", defaultValue = "5s", description = "Default: 5s.")
    private Duration warmup;

    @Option(names = "--partitions", defaultValue = "200", description = "Default: 200.")
    private int partitions;

    @Option(
            names = "--connections",
            defaultValue = "" + Side.LOAD_CONNECTIONS,
            description = "Default: " + Side.LOAD_CONNECTIONS + ".")
    private int connections;

    @Option(
            names = "--in-flight",
            defaultValue = "" + Side.LOAD_IN_FLIGHT,
            description = "Requests unanswered on each connection.")
    private int inFlight;

    @Option(
            names = "--broker-setting",
            paramLabel = "NAME=VALUE",
            description = "A setting of the broker, by its own name. Repeatable.")
    private Map<String, String> brokerSettings = new TreeMap<>();

    @Mixin
    private OutputOptions output;

    @Override
    public Integer call() throws IOException {
        ProduceCasesCommand.requirePositive("--partitions", partitions);
        ProduceCasesCommand.requirePositive("--connections", connections);
        ProduceCasesCommand.requirePositive("--in-flight", inFlight);
        PayloadPool pool = PayloadPool.build("text", 1024, PayloadPool.DEFAULT_SIZE_BYTES);
        try (BrokerDriver driver = ProduceCasesCommand.brokerNamed(broker, brokerSettings)) {
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
