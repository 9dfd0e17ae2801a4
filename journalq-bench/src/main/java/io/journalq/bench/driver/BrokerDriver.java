package io.journalq.bench.driver;

import io.journalq.bench.BenchException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A broker under test: its process, and the few questions a benchmark has for it. Any thread, one at a time. */
public interface BrokerDriver extends AutoCloseable {
    /** Such as {@code journalq} or {@code kafka}. */
    String name();

    String version();

    /** Starts the process and returns once it answers. Nothing to do for a broker that runs elsewhere. */
    void start();

    /** {@code host:port} for clients. */
    String bootstrap();

    /** Process id on this machine; 0 when it is not known. */
    long pid();

    /** Where the broker keeps its data, when it was started here. */
    default Optional<Path> dataDirectory() {
        return Optional.empty();
    }

    /** Where the broker shows its metrics in Prometheus' format, as {@code host:port}; empty when it does not. */
    default Optional<String> metricsAddress() {
        return Optional.empty();
    }

    /** What was set other than the broker's own defaults, for the report. */
    Map<String, String> settings();

    /** Stops the process where it stands, so that it takes nothing from another that is measured. */
    void freeze();

    /** Lets a frozen process go on. */
    void thaw();

    default void createTopic(String topic, int partitions) {
        createTopic(topic, partitions, Map.of());
    }

    /** {@code settings} are the topic's own, by the broker's names. */
    void createTopic(String topic, int partitions, Map<String, String> settings);

    /** Of a topic that exists. */
    int partitionCount(String topic);

    void deleteTopic(String topic);

    /** First offset of each partition. */
    List<Long> startOffsets(String topic, int partitions);

    /** Offset after the last message of each partition. */
    List<Long> endOffsets(String topic, int partitions);

    /** How much the topic holds on disk, as the broker counts it; -1 when it cannot tell. */
    long storedBytes(String topic);

    /**
     * Waits until nothing is left on disk of topics that were deleted, and the system has written what it holds of others:
     * so that neither takes memory and disk from the run that follows. Nothing to do for a broker that runs elsewhere.
     */
    default void settle() {}

    /**
     * Has the system write what it holds of the files of a broker on this machine, and waits for that: so that a stretch which
     * is measured next does not pay for the one before it. Nothing to do for a broker that runs elsewhere.
     */
    default void writeBack() {}

    /** Topics there are; for removing what an earlier run left. */
    Set<String> topics();

    /**
     * Ends the process, by asking it to or by {@code kill -9}, starts it anew on the same data, and returns once it
     * answers.
     *
     * @return seconds from the start of the new process
     */
    default double restart(boolean kill) {
        throw new BenchException("broker " + name() + " was not started here", "leave --bootstrap out");
    }

    /** Stops the process that {@link #start} started, and removes its files. */
    @Override
    void close();
}
