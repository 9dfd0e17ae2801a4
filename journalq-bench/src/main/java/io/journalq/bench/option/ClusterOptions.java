package io.journalq.bench.option;

import io.journalq.bench.BenchException;
import io.journalq.bench.driver.ClusterShape;
import io.journalq.bench.driver.DeliveryMode;
import java.util.Map;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The cluster that a command with one kind of broker starts. One thread. */
public final class ClusterOptions {
    private static final int MAX_BROKERS = 7;

    @Option(
            names = "--brokers",
            defaultValue = "1",
            paramLabel = "COUNT",
            converter = OptionTypes.PositiveInt.class,
            description = "Brokers to start on this machine, each in a process of its own. Several form a cluster"
                    + " (default: ${DEFAULT-VALUE}).")
    private int brokers;

    @Option(
            names = "--mode",
            paramLabel = "MODE",
            description = DeliveryMode.WORDS + ": when journalq acknowledges a message. kafka has flush.messages=1"
                    + " beside consistent, and jetstream sync_interval: always; neither has performance"
                    + " (default: the brokers' own defaults).")
    private DeliveryMode mode;

    @Mixin
    private ReplicaOptions replication;

    /** The brokers to start. */
    public ClusterShape shape() {
        if (brokers > MAX_BROKERS) {
            throw BenchException.wrongUsage(
                    "a cluster of " + brokers + " brokers is too large", "use at most " + MAX_BROKERS);
        }
        return replication.shape(brokers);
    }

    /** Throws if a broker is started and cannot have the mode. */
    public DeliveryMode mode(String broker) {
        if (mode == DeliveryMode.PERFORMANCE && !broker.startsWith("journalq")) {
            throw BenchException.wrongUsage(
                    "only journalq has the mode performance", "use another --mode, or --broker journalq");
        }
        return mode;
    }

    /** Throws if the options apply to brokers that are started, but none is. */
    public void requireNone(String why) {
        if (brokers > 1 || mode != null || replication.areGiven()) {
            throw BenchException.wrongUsage(
                    "--brokers, --replicas, --mode and --heap are of brokers that are started", why);
        }
    }

    /** The settings of a client for what acknowledges a message, see {@link ReplicaOptions#clientSettings}. */
    public Map<String, String> clientSettings(String client) {
        return replication.clientSettings(client, mode == DeliveryMode.CONSISTENT);
    }
}
