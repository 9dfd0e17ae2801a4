package io.journalq.bench.cli;

import io.journalq.bench.driver.BrokerDriver;
import io.journalq.bench.load.BrokerLoad;
import io.journalq.bench.measure.Machine;
import io.journalq.bench.payload.PayloadPool;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code journalq-bench broker-load}: the broker's processor time per single-message produce request. */
@Command(
        name = "broker-load",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description =
                "Sends prebuilt single-message produce requests to a broker of its own and shows what one costs it.")
final class BrokerLoadCommand implements Callable<Integer> {
    static final int CONNECTIONS = 32;
    static final int IN_FLIGHT = 16;

    @Option(names = "--broker", defaultValue = "journalq", description = "journalq or kafka. Default: journalq.")
    private String broker;

    @Option(names = "--duration", defaultValue = "10s", description = "Measured time. Default: 10s.")
    private Duration duration;

    @Option(names = "--warmup", defaultValue = "5s", description = "Default: 5s.")
    private Duration warmup;

    @Option(names = "--partitions", defaultValue = "200", description = "Default: 200.")
    private int partitions;

    @Option(names = "--connections", defaultValue = "" + CONNECTIONS, description = "Default: " + CONNECTIONS + ".")
    private int connections;

    @Option(
            names = "--in-flight",
            defaultValue = "" + IN_FLIGHT,
            description = "Requests unanswered on each connection.")
    private int inFlight;

    @Option(names = "--output", defaultValue = "table", description = "table, csv or json. Default: table.")
    private Output.Format output;

    @Override
    public Integer call() throws IOException {
        PayloadPool pool = PayloadPool.build("text", 1024, PayloadPool.DEFAULT_SIZE_BYTES);
        try (BrokerDriver driver = ProduceCommand.brokerNamed(broker)) {
            driver.start();
            driver.createTopic("broker-load", partitions);
            BrokerLoad.Result result = new BrokerLoad(
                            address(driver.bootstrap()), "broker-load", partitions, pool, inFlight)
                    .run(connections, driver.pid(), warmup, duration);
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("broker", driver.name() + " " + driver.version());
            row.put("requests_per_s", Math.round(result.requestsPerSecond()));
            row.put("broker_cpu_us_per_request", Math.round(result.brokerMicrosPerRequest() * 100) / 100.0);
            row.put("broker_cores", result.use().brokerCores());
            row.put("generator_cores", result.use().clientCores());
            row.put("broker_rss_mib", result.use().brokerResidentBytes() >> 20);
            Map<String, Object> about = new LinkedHashMap<>();
            about.put("machine", Machine.here().inWords());
            Output.emit(Output.format(output, about, List.of(row)), null);
        }
        return 0;
    }

    static InetSocketAddress address(String bootstrap) {
        int colon = bootstrap.lastIndexOf(':');
        return new InetSocketAddress(bootstrap.substring(0, colon), Integer.parseInt(bootstrap.substring(colon + 1)));
    }
}
