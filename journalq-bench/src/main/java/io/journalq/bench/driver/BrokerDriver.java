package io.journalq.bench.driver;

import io.journalq.bench.BenchException;
import io.journalq.bench.measure.BrokerNode;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A broker under test: its process, its topics and their offsets. Used by one thread at a time. */
public interface BrokerDriver extends AutoCloseable {
    /** The name in options and results, such as {@code journalq} or {@code kafka}. */
    String name();

    String version();

    /** Starts the process and returns when it responds. For a running broker, only checks that it responds. */
    void start();

    /** The address for clients, as {@code host:port}. */
    String bootstrap();

    /** How clients connect. A broker that this program starts is known after its start. */
    ConnectionSecurity security();

    /** The processes of the broker: one, or those of a cluster. */
    default List<BrokerNode> nodes() {
        return List.of(new BrokerNode(
                pid(), dataDirectory().orElse(null), metricsAddress().orElse(null)));
    }

    /** The process id on this machine, of the first process if there are several; 0 if it is unknown. */
    long pid();

    /** The data directory of {@link #pid}, if this program started the broker. */
    default Optional<Path> dataDirectory() {
        return Optional.empty();
    }

    /** The {@code host:port} that serves metrics of {@link #pid} in the Prometheus format; empty if there is none. */
    default Optional<String> metricsAddress() {
        return Optional.empty();
    }

    /** The settings that differ from the broker's defaults, for the result. */
    Map<String, String> settings();

    /** Suspends the process, so that it takes no resources from a broker that is being measured. */
    void freeze();

    /** Resumes a frozen process. */
    void thaw();

    /** Creates a topic unless it exists. */
    default void createTopic(String topic, int partitions) {
        createTopic(topic, partitions, Map.of());
    }

    /** Creates a topic unless it exists. {@code settings} are those of the topic, by the broker's names. */
    void createTopic(String topic, int partitions, Map<String, String> settings);

    /** The number of partitions of an existing topic. */
    int partitionCount(String topic);

    void deleteTopic(String topic);

    /** The first offset of each partition. */
    List<Long> startOffsets(String topic, int partitions);

    /** The offset after the last message of each partition. */
    List<Long> endOffsets(String topic, int partitions);

    /** The size of the topic on disk, as the broker reports it; -1 if it does not. */
    long storedBytes(String topic);

    /**
     * Waits until the files of deleted topics are gone and all other files are written to disk, so that neither affects the
     * next run. Does nothing for a broker that this program did not start.
     */
    default void settle() {}

    /**
     * Writes the broker's files to disk and waits for that, so that the next measured interval does not pay for the previous
     * one. Does nothing for a broker that this program did not start.
     */
    default void writeBack() {}

    /** The names of all topics. */
    Set<String> topics();

    /**
     * Stops the process, or kills it with {@code kill -9}, starts a new one on the same data, and returns when that
     * responds.
     *
     * @return seconds from the start of the new process until it responded
     */
    default double restart(boolean kill) {
        throw new BenchException(
                "this program did not start broker " + name() + " and cannot restart it", "leave --bootstrap out");
    }

    /** Kills one process of a cluster with {@code kill -9}. {@code node} counts from 0, as in {@link #nodes}. */
    default void kill(int node) {
        throw new BenchException("this program did not start broker " + name(), "leave --bootstrap out");
    }

    /** Starts a killed process again on its data. Returns when it responds. */
    default void startAgain(int node) {
        throw new BenchException("this program did not start broker " + name(), "leave --bootstrap out");
    }

    /** Whether every partition of a topic has a leader, and all its replicas are in sync. */
    boolean isInSync(String topic);

    /** Stops the process that {@link #start} started, and deletes its files. */
    @Override
    void close();
}
