package io.journalq.bench.scenario;

import io.journalq.bench.measure.ProcessFinder;
import io.journalq.bench.peer.Delivery;
import io.journalq.bench.peer.Driver;
import io.journalq.bench.peer.DriverSettings;
import io.journalq.bench.peer.Drivers;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine.Option;

/** Where brokers are and how they are set up, the same for every scenario. One thread. */
final class BrokerOptions {
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
            description = "A setting of the broker that is started, by its own name. Repeatable.")
    private Map<String, String> brokerSettings = new TreeMap<>();

    @Option(
            names = "--client-setting",
            paramLabel = "NAME=VALUE",
            description = "A setting of the client library, by its own name; consumer.NAME for consumers. Repeatable.")
    private Map<String, String> clientSettings = new TreeMap<>();

    @Option(
            names = "--compression",
            defaultValue = "none",
            description = "none, lz4, zstd, snappy or gzip, for brokers that compress. Default: none.")
    private String compression;

    /** A driver by its name; not started. */
    Driver open(String broker, Delivery delivery) {
        return Drivers.named(
                broker,
                new DriverSettings(
                        delivery, publishTargets, subscribeTarget, compression, brokerSettings, clientSettings));
    }

    /** The process to watch: the one asked for, or the driver's own; 0 when there is none to be seen. */
    long pid(Driver driver) {
        return process == null ? driver.pid() : ProcessFinder.find(process);
    }

    /** Whether brokers run already; there is then one kind only. */
    boolean isExternal() {
        return !publishTargets.isEmpty();
    }
}
