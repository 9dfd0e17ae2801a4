package io.journalq.bench.option;

import io.journalq.bench.BenchException;
import io.journalq.bench.driver.ClusterShape;
import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** How messages are replicated by brokers that are started. One thread. */
public final class ReplicaOptions {
    /** The heap of each broker of a cluster: the same for brokers that have different defaults. */
    private static final String CLUSTER_HEAP = "1g";

    private static final int MAX_DEFAULT_REPLICAS = 3;

    @Option(
            names = "--replicas",
            paramLabel = "COUNT",
            converter = OptionTypes.PositiveInt.class,
            description = "Replicas of each topic on the brokers that are started. More than half of them must be in"
                    + " sync (min.insync.replicas) (default: one for each broker, at most 3).")
    private Integer replicas;

    @Option(
            names = "--acks",
            paramLabel = "1|all",
            description = "What acknowledges a message of journalq and kafka: the leader, or all in-sync replicas"
                    + " (default: all if messages are fsynced, otherwise 1).")
    private Acks acks;

    @Option(
            names = "--heap",
            paramLabel = "SIZE",
            description = "Heap of each broker that is started and runs on a JVM, as in Java's options (default: "
                    + CLUSTER_HEAP + " for several brokers; for one, 512m for journalq and 1g for kafka).")
    private Heap heap;

    /** Which replicas acknowledge. */
    public enum Acks {
        ONE("1", "leader"),
        ALL("all", "all");

        private final String ofKafka;
        private final String ofJournalQ;

        Acks(String ofKafka, String ofJournalQ) {
            this.ofKafka = ofKafka;
            this.ofJournalQ = ofJournalQ;
        }

        /** The name in options. */
        @Override
        public String toString() {
            return ofKafka;
        }
    }

    /** The size of a heap, as in Java's options. */
    public record Heap(String size) {
        /** Throws if the text is not a size with a unit. */
        public static Heap parse(String text) {
            if (!text.matches("[1-9][0-9]{0,5}[kKmMgG]")) {
                throw new TypeConversionException("'" + text + "' is not a size of a heap; use one like 512m or 2g");
            }
            return new Heap(text);
        }
    }

    /** Whether options of brokers that are started were given. */
    public boolean areGiven() {
        return replicas != null || heap != null;
    }

    /** The number of replicas that was given; 1 if none was. */
    public int replicas() {
        return replicas == null ? 1 : replicas;
    }

    /** The brokers to start. */
    public ClusterShape shape(int brokers) {
        if (replicas != null && replicas > brokers) {
            throw BenchException.wrongUsage(
                    replicas + " replicas need as many brokers, but there "
                            + (brokers == 1 ? "is 1" : "are " + brokers),
                    "use --brokers " + replicas + ", or fewer replicas");
        }
        return new ClusterShape(
                brokers,
                replicas == null ? Math.min(brokers, MAX_DEFAULT_REPLICAS) : replicas,
                heap != null ? heap.size() : brokers > 1 ? CLUSTER_HEAP : null);
    }

    /**
     * The settings of a client that decide what acknowledges a message. Empty for those of the driver.
     *
     * @param client name of the broker's driver or of the client
     * @param synced whether messages are fsynced before they are acknowledged
     */
    public Map<String, String> clientSettings(String client, boolean synced) {
        Acks chosen = acks == null && synced ? Acks.ALL : acks;
        Map<String, String> settings = new TreeMap<>();
        if (chosen != null) {
            settings.put("acks", client.equals("journalq") ? chosen.ofJournalQ : chosen.ofKafka);
        }
        return settings;
    }
}
