package io.journalq.bench.option;

import io.journalq.bench.BenchException;
import io.journalq.bench.measure.ProcessFinder;
import io.journalq.bench.peer.Delivery;
import io.journalq.bench.peer.PubSubDriver;
import io.journalq.bench.peer.PubSubSettings;
import io.journalq.bench.peer.PubSubDrivers;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine.Option;

/** Where brokers are and how they are set up, the same for every scenario. One thread. */
public final class BrokerOptions {
    @Option(
            names = "--bootstrap",
            split = ",",
            paramLabel = "HOST:PORT",
            description =
                    "Brokers that run already: where publishers connect, in turn. Default: start one and stop it.")
    private List<String> publishTargets = List.of();

    @Option(
            names = "--subscribe-from",
            defaultValue = "",
            paramLabel = "HOST:PORT",
            description = "Where subscribers connect. Default: the first of --bootstrap.")
    private String subscribeTarget;

    @Option(
            names = "--process",
            paramLabel = "PID|TEXT",
            description = "The broker's process on this machine, by its number or by text of its command line, for"
                    + " its processor time and memory. Default: found by itself where it can be.")
    private String process;

    @Option(
            names = "--broker-setting",
            paramLabel = "NAME=VALUE",
            description = "A setting of the broker that is started, by its own name; with BROKER: before it for one"
                    + " of several. Repeatable.")
    private Map<String, String> brokerSettings = new TreeMap<>();

    @Option(
            names = "--client-setting",
            paramLabel = "NAME=VALUE",
            description = "A setting of the client library, by its own name; consumer.NAME for consumers; with BROKER:"
                    + " before it for one of several. Repeatable.")
    private Map<String, String> clientSettings = new TreeMap<>();

    @Option(
            names = "--compression",
            defaultValue = "none",
            description = "none, lz4, zstd, snappy or gzip, for brokers that compress. Default: none.")
    private String compression;

    private Map<String, Map<String, String>> preset = Map.of();

    /** A driver by its name; not started. */
    public PubSubDriver open(String broker, Delivery delivery) {
        return PubSubDrivers.named(
                broker,
                new PubSubSettings(
                        delivery,
                        publishTargets,
                        subscribeTarget,
                        compression,
                        meantFor(broker, brokerSettings),
                        clientSettings(broker)));
    }

    /** What the scenario sets for a client that needs it, unless the command line says otherwise. */
    private Map<String, String> clientSettings(String broker) {
        Map<String, String> chosen = new TreeMap<>(preset.getOrDefault(broker, Map.of()));
        chosen.putAll(meantFor(broker, clientSettings));
        return chosen;
    }

    /** Those for all brokers, and those whose names begin with this one's and a colon. */
    private static Map<String, String> meantFor(String broker, Map<String, String> settings) {
        Map<String, String> chosen = new TreeMap<>();
        settings.forEach((name, value) -> {
            int colon = name.indexOf(':');
            if (colon < 0 || name.substring(0, colon).equals(broker)) {
                chosen.put(name.substring(colon + 1), value);
            }
        });
        return chosen;
    }

    /** Clients send each message at once: for latency at rates that leave room. */
    public BrokerOptions quick() {
        preset = Map.of("kafka", Map.of("linger.ms", "0"), "journalq-kafka-clients", Map.of("linger.ms", "0"));
        return this;
    }

    /** The process to watch: the one asked for, or the driver's own; 0 when there is none to be seen. */
    public long pid(PubSubDriver driver) {
        return process == null ? driver.pid() : ProcessFinder.find(process);
    }

    /** For scenarios that restart brokers. */
    public void requireOwn() {
        if (!publishTargets.isEmpty()) {
            throw new BenchException("a broker that runs elsewhere is not restarted", "leave --bootstrap out");
        }
    }

    /** For commands that are one half of something: a broker of their own would be of no use. */
    public void requireRunning() {
        if (publishTargets.isEmpty()) {
            throw new BenchException("no broker is named", "give --bootstrap host:port");
        }
    }
}
