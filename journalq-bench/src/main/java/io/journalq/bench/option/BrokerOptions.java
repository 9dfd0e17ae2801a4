package io.journalq.bench.option;

import io.journalq.bench.BenchException;
import io.journalq.bench.driver.ClusterShape;
import io.journalq.bench.measure.BrokerNode;
import io.journalq.bench.measure.ProcessFinder;
import io.journalq.bench.peer.Delivery;
import io.journalq.bench.peer.PubSubDriver;
import io.journalq.bench.peer.PubSubDrivers;
import io.journalq.bench.peer.PubSubSettings;
import io.journalq.common.record.CompressionCodec;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Where brokers run and how they are configured, for all scenarios. One thread. */
public final class BrokerOptions {
    @Option(
            names = "--bootstrap",
            split = ",",
            paramLabel = "HOST:PORT",
            description =
                    "Addresses of running brokers, to which publishers connect in turn (default: starts a broker and"
                            + " stops it at the end).")
    private List<String> publishTargets = List.of();

    @Option(
            names = "--subscribe-from",
            defaultValue = "",
            paramLabel = "HOST:PORT",
            description = "Address to which subscribers connect (default: the first of --bootstrap).")
    private String subscribeTarget;

    @Option(
            names = "--process",
            paramLabel = "PID|TEXT",
            description = "Process of a running broker on this machine, for its processor time and memory: its id, or a"
                    + " text that only its command line contains (default: the process that listens at --bootstrap).")
    private String process;

    @Option(
            names = "--broker-setting",
            paramLabel = "NAME=VALUE",
            description =
                    "Setting of a broker that is started, by the broker's own name. The prefix BROKER: restricts it"
                            + " to one broker. Can be repeated.")
    private Map<String, String> brokerSettings = new TreeMap<>();

    @Option(
            names = "--client-setting",
            paramLabel = "NAME=VALUE",
            description = "Setting of the client library, by the library's own name; consumer.NAME for consumers. The"
                    + " prefix BROKER: restricts it to one broker. Can be repeated.")
    private Map<String, String> clientSettings = new TreeMap<>();

    @Option(
            names = "--compression",
            defaultValue = "none",
            paramLabel = "CODEC",
            description = "none, lz4, zstd, snappy or gzip, for brokers that support compression"
                    + " (default: ${DEFAULT-VALUE}).")
    private CompressionCodec compression;

    @Mixin
    private SecurityOptions security;

    private Map<String, Map<String, String>> preset = Map.of();

    /** Makes a driver by its name; its broker is not started yet. */
    public PubSubDriver open(String broker, Delivery delivery) {
        return open(broker, delivery, ClusterShape.SINGLE, Map.of(), Map.of());
    }

    /**
     * Makes a driver by its name; its brokers are not started yet.
     *
     * @param cluster the brokers to start
     * @param ofBroker settings of each broker, which those of the command line override
     * @param ofClient settings of the client, which those of the command line override
     */
    public PubSubDriver open(
            String broker,
            Delivery delivery,
            ClusterShape cluster,
            Map<String, String> ofBroker,
            Map<String, String> ofClient) {
        Map<String, String> ofBrokers = new TreeMap<>(ofBroker);
        ofBrokers.putAll(settingsOf(broker, brokerSettings));
        return PubSubDrivers.named(
                broker,
                new PubSubSettings(
                        delivery,
                        publishTargets,
                        subscribeTarget,
                        compression.name().toLowerCase(Locale.ROOT),
                        ofBrokers,
                        security.security(publishTargets.isEmpty() ? null : publishTargets.get(0)),
                        cluster,
                        clientSettings(broker, ofClient)));
    }

    /** The scenario's own settings of the client, overridden by those of the command line. */
    private Map<String, String> clientSettings(String broker, Map<String, String> ofClient) {
        Map<String, String> chosen = new TreeMap<>(preset.getOrDefault(broker, Map.of()));
        chosen.putAll(ofClient);
        chosen.putAll(settingsOf(broker, clientSettings));
        return chosen;
    }

    /** The settings without a prefix, and those whose prefix is the broker's name and a colon. */
    public static Map<String, String> settingsOf(String broker, Map<String, String> settings) {
        Map<String, String> chosen = new TreeMap<>();
        settings.forEach((name, value) -> {
            int colon = name.indexOf(':');
            if (colon < 0 || name.substring(0, colon).equals(broker)) {
                chosen.put(name.substring(colon + 1), value);
            }
        });
        return chosen;
    }

    /** Makes clients send each message at once, for latency at rates below the limit. */
    public BrokerOptions quick() {
        preset = Map.of("kafka", Map.of("linger.ms", "0"), "journalq-kafka-clients", Map.of("linger.ms", "0"));
        return this;
    }

    /** The processes to observe: that of --process, otherwise the driver's. */
    public List<BrokerNode> nodes(PubSubDriver driver) {
        if (process == null) {
            return driver.nodes();
        }
        BrokerNode found = driver.nodes().get(0);
        return List.of(new BrokerNode(ProcessFinder.find(process), found.dataDirectory(), found.metricsAddress()));
    }

    /** Whether brokers are started, and none is running. */
    public boolean areStarted() {
        return publishTargets.isEmpty();
    }

    /** Whether clients compress messages. */
    public boolean compress() {
        return compression != CompressionCodec.NONE;
    }

    /** For scenarios that restart brokers. */
    public void requireOwn() {
        if (!publishTargets.isEmpty()) {
            throw BenchException.wrongUsage(
                    "this scenario restarts its brokers, which it cannot do with a running broker",
                    "leave --bootstrap out");
        }
    }

    /** For commands that need a broker that is already running. */
    public void requireRunning() {
        if (publishTargets.isEmpty()) {
            throw BenchException.wrongUsage("no broker is named", "use --bootstrap HOST:PORT");
        }
    }
}
