package io.journalq.bench.option;

import io.journalq.bench.BenchException;
import io.journalq.bench.driver.DeliveryMode;
import io.journalq.bench.measure.BrokerNode;
import io.journalq.bench.peer.Delivery;
import io.journalq.bench.peer.PubSubDriver;
import io.journalq.bench.peer.PubSubDrivers;
import java.io.File;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The one broker of a scenario, and its topic. One thread. */
public final class SingleBrokerOptions {
    private static final double GIB = 1L << 30;

    @Option(
            names = "--broker",
            defaultValue = "journalq",
            paramLabel = "NAME",
            converter = OptionTypes.BrokerName.class,
            description = PubSubDrivers.WORDS + " (default: ${DEFAULT-VALUE}).")
    private String broker;

    @Option(
            names = "--topic",
            paramLabel = "NAME",
            description = "Name of the topic. It is created if it does not exist (default: live-bench for live,"
                    + " catch-up-bench for catch-up, pub-sub-bench for pub and sub).")
    private String topic;

    @Mixin
    private TopicOptions topics;

    @Mixin
    private BrokerOptions brokers;

    /** Makes the driver; its broker is not started yet. */
    public PubSubDriver open() {
        return brokers.open(broker, topics.delivery());
    }

    /** Makes the driver of a cluster whose brokers are not started yet. */
    public PubSubDriver open(ClusterOptions cluster) {
        return open(cluster, Map.of());
    }

    /** As {@link #open(ClusterOptions)}, with settings of the brokers of Kafka that the command line overrides. */
    public PubSubDriver open(ClusterOptions cluster, Map<String, String> ofKafka) {
        DeliveryMode mode = cluster.mode(broker);
        if (!brokers.areStarted()) {
            cluster.requireNone("leave them or --bootstrap out");
        }
        if (mode != null && topics.isDeliveryGiven()) {
            throw BenchException.wrongUsage(
                    "--mode and --delivery both say when a message is acknowledged", "leave one of them out");
        }
        return brokers.open(
                broker,
                delivery(cluster),
                cluster.shape(),
                broker.equals("kafka")
                        ? ofKafka
                        : mode == null || !broker.startsWith("journalq") ? Map.of() : mode.journalqSettings(),
                cluster.clientSettings(broker));
    }

    /**
     * Throws if the brokers are started in a directory that has no room for messages of this size together. How much they
     * store with compression is not known.
     */
    public void requireSpace(long messageBytes, ClusterOptions cluster) {
        if (!brokers.areStarted() || brokers.compress() || delivery(cluster) == Delivery.AT_MOST_ONCE) {
            return;
        }
        File directory = new File(System.getProperty("java.io.tmpdir"));
        double neededBytes = (double) messageBytes * cluster.shape().replicas();
        if (neededBytes > directory.getUsableSpace()) {
            throw BenchException.wrongUsage(
                    String.format(
                            Locale.ROOT,
                            "the brokers would store %.0f GiB in %s, which has %.0f GiB free",
                            neededBytes / GIB,
                            directory,
                            directory.getUsableSpace() / GIB),
                    "choose a smaller --message-size, --rate or --duration, or another java.io.tmpdir with JOURNALQ_OPTS");
        }
    }

    /** For commands that need a broker that is already running. */
    public void requireRunning() {
        brokers.requireRunning();
    }

    /** The processes to observe, see {@link BrokerOptions#nodes}. */
    public List<BrokerNode> nodes(PubSubDriver driver) {
        return brokers.nodes(driver);
    }

    /** The name of the topic, {@code otherwise} if none was given. */
    public String topic(String otherwise) {
        return Optional.ofNullable(topic).orElse(otherwise);
    }

    public int partitions() {
        return topics.partitions();
    }

    public Delivery delivery() {
        return topics.delivery();
    }

    /** The guarantee that comes with the mode of a cluster. */
    public Delivery delivery(ClusterOptions cluster) {
        DeliveryMode mode = cluster.mode(broker);
        if (mode == null) {
            return topics.delivery();
        }
        return mode == DeliveryMode.CONSISTENT ? Delivery.SYNCED : Delivery.AT_LEAST_ONCE;
    }
}
