package io.journalq.bench.peer;

import io.journalq.bench.driver.ClientDriver.Publisher;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.time.Duration;

/**
 * A broker under test with the client that drives it. The publishers and subscribers that it opens are used by other
 * threads; the driver itself by one.
 */
public interface PubSubDriver extends AutoCloseable {
    /** As options and results call it, such as {@code jetstream}. */
    String name();

    /** Which promises it can keep; a benchmark asks it for no other. */
    Set<Delivery> deliveries();

    /** The line that installs what is missing on this machine; empty when the driver can be started. */
    Optional<String> missing();

    /** Versions of broker and client, and what was set other than their defaults. */
    Map<String, String> about();

    /** Starts the broker and returns once it answers; where it runs elsewhere, only asks whether it does. */
    void start();

    /** Whether {@link #start} starts a broker when none is named: only such a one can be frozen and restarted. */
    default boolean isStartedHere() {
        return true;
    }

    /** Process id of the broker on this machine; 0 when it is not known. */
    long pid();

    /** Where the broker keeps its data, when it was started here. */
    Optional<Path> dataDirectory();

    /** Where the broker shows its metrics in Prometheus' format, as {@code host:port}; empty when it does not. */
    Optional<String> metricsAddress();

    /** Stops the broker's process where it stands, so that it takes nothing from another that is measured. */
    void freeze();

    /** Waits until nothing that was written before still goes to the disk. */
    void settle();

    /** Lets a frozen process go on. */
    void thaw();

    /** {@code partitions} means nothing to brokers without partitions. */
    void createTopic(String topic, int partitions);

    void deleteTopic(String topic);

    /** A publisher with a connection of its own; {@code number} counts from 0 and spreads them over several targets. */
    Publisher openPublisher(String topic, int number);

    /** A subscriber with a connection of its own that gets every message from now on; returns when it is ready. */
    Subscriber openSubscriber(String topic, int number);

    /** A subscriber that gets every message that the broker has stored, and what comes after. */
    Subscriber openReader(String topic);

    /**
     * Ends the process, by asking it to or by {@code kill -9}, starts it anew on the same data, and returns once it
     * answers.
     *
     * @return seconds from the start of the new process
     * @throws io.journalq.bench.BenchException when the broker runs elsewhere
     */
    double restart(boolean kill);

    /** Whether every partition of a topic is served: its end can be told. May wait some seconds for an answer. */
    boolean isServed(String topic);

    /** Stops what {@link #start} started, and removes its files. */
    @Override
    void close();

    /** Gets every message of a topic from when it was opened on. One thread. */
    interface Subscriber extends AutoCloseable {
        /** Waits up to {@code timeout} for messages and shows each to {@code visitor}. */
        void poll(Duration timeout, Visitor visitor) throws Exception;

        @Override
        void close();

        /** Looks at what is received. */
        @FunctionalInterface
        interface Visitor {
            void onMessage(byte[] value);
        }
    }
}
