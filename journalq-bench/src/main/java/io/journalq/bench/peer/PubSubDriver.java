package io.journalq.bench.peer;

import io.journalq.bench.BenchException;
import io.journalq.bench.driver.ClientDriver.Publisher;
import io.journalq.bench.measure.BrokerNode;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A broker under test with the client that drives it. The driver is used by one thread; the publishers and subscribers that
 * it opens are used by other threads.
 */
public interface PubSubDriver extends AutoCloseable {
    /** The name in options and results, such as {@code jetstream}. */
    String name();

    /** The supported delivery guarantees. */
    Set<Delivery> deliveries();

    /** The command that installs what is missing on this machine; empty if the driver can be started. */
    Optional<String> missing();

    /** Versions of broker and client, and settings that differ from their defaults. */
    Map<String, String> about();

    /** Starts the broker and returns when it responds. For a running broker, only checks that it responds. */
    void start();

    /** Whether {@link #start} can start a broker. Only such a broker can be frozen and restarted. */
    default boolean isStartedHere() {
        return true;
    }

    /** The processes of the broker: one, or those of a cluster. */
    List<BrokerNode> nodes();

    /** Suspends the broker's process, so that it takes no resources from a broker that is being measured. */
    void freeze();

    /** Waits until everything that was written is on the disk. */
    void settle();

    /** Resumes a frozen process. */
    void thaw();

    /** Creates a topic unless it exists. {@code partitions} has no effect for brokers without partitions. */
    void createTopic(String topic, int partitions);

    void deleteTopic(String topic);

    /** Opens a publisher with its own connection. {@code number} counts from 0; publishers connect to the targets in turn. */
    Publisher openPublisher(String topic, int number);

    /** Opens a subscriber with its own connection, which receives every message from now on. Returns when it is ready. */
    Subscriber openSubscriber(String topic, int number);

    /** Opens a subscriber that receives every stored message, and all later ones. */
    Subscriber openReader(String topic);

    /**
     * Stops the process, or kills it with {@code kill -9}, starts a new one on the same data, and returns when that
     * responds.
     *
     * @return seconds from the start of the new process until it responded
     * @throws BenchException if this program did not start the broker
     */
    double restart(boolean kill);

    /** Kills one process of a cluster with {@code kill -9}. {@code node} counts from 0, as in {@link #nodes}. */
    default void kill(int node) {
        throw BenchException.wrongUsage(
                "brokers of " + name() + " cannot be killed one by one", "use journalq or kafka");
    }

    /** Starts a killed process again on its data. Returns when it responds. */
    default void startAgain(int node) {
        throw BenchException.wrongUsage(
                "brokers of " + name() + " cannot be started one by one", "use journalq or kafka");
    }

    /** Whether every partition of a topic has a leader, and all its replicas are in sync. */
    default boolean isInSync(String topic) {
        throw BenchException.wrongUsage(name() + " does not tell which replicas are in sync", "use journalq or kafka");
    }

    /** Whether every partition of a topic is served, which means that its end offset can be read. May wait for seconds. */
    boolean isServed(String topic);

    /**
     * A driver of the same broker, whose publishers seal messages and whose subscribers open them (JQE1).
     *
     * @param signed whether publishers sign each batch
     */
    default PubSubDriver sealed(boolean signed) {
        throw BenchException.wrongUsage(name() + " cannot seal messages", "use --brokers journalq");
    }

    /** Stops the process that {@link #start} started, and deletes its files. */
    @Override
    void close();

    /** Receives every message of a topic from the time when it was opened. One thread. */
    interface Subscriber extends AutoCloseable {
        /** Waits up to {@code timeout} for messages and passes each to {@code visitor}. */
        void poll(Duration timeout, Visitor visitor) throws Exception;

        @Override
        void close();

        /** Visits received messages. */
        @FunctionalInterface
        interface Visitor {
            void onMessage(byte[] value);
        }
    }
}
