package io.journalq.bench.peer;

import io.journalq.server.process.LoopbackPorts;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A NATS server that this program starts and that also listens for WebSockets, with or without JetStream. One thread.
 */
public final class NatsWebSockets implements AutoCloseable {
    /** The server disconnects a subscriber that is further behind than this. */
    private static final long MAX_PENDING_BYTES = 1L << 30;
    /** The subjects of a message and of its acknowledgement count as well. */
    private static final int NAMES_BYTES = 128;

    private final String address = "localhost:" + LoopbackPorts.next();
    private final NatsDriver driver;
    /** Null without JetStream. */
    private final JetStreamDriver jetStream;

    /**
     * Makes a server that is not started yet.
     *
     * @param name of the driver: {@code nats} or {@code jetstream}
     * @param inFlightMessages unacknowledged messages; a stream refuses those that it cannot buffer
     * @param messageBytes the size of a message
     * @param extra further settings of the server, by its own names
     */
    public NatsWebSockets(String name, long inFlightMessages, int messageBytes, Map<String, String> extra) {
        Map<String, String> settings = new TreeMap<>();
        settings.put("max_pending", Long.toString(MAX_PENDING_BYTES));
        settings.put("websocket", "{ listen: \"" + address + "\", no_tls: true, compression: false }");
        boolean stores = name.equals("jetstream");
        if (stores) {
            settings.put("jetstream.max_buffered_msgs", Long.toString(inFlightMessages));
            settings.put("jetstream.max_buffered_size", Long.toString(inFlightMessages * (messageBytes + NAMES_BYTES)));
        }
        settings.putAll(extra);
        driver = (NatsDriver) PubSubDrivers.named(
                name, PubSubSettings.of(stores ? Delivery.AT_LEAST_ONCE : Delivery.AT_MOST_ONCE, settings));
        jetStream = stores ? (JetStreamDriver) driver : null;
    }

    /** The command that installs the server, if it is missing. */
    public Optional<String> missing() {
        return driver.missing();
    }

    /** The server's version and its settings that differ from the defaults. */
    public String about() {
        Map<String, String> about = driver.about();
        return about.get("broker") + " " + about.get("broker_settings");
    }

    /** The {@code host:port} of the WebSockets. */
    public String address() {
        return address;
    }

    public void start() {
        driver.start();
    }

    public long pid() {
        return driver.nodes().get(0).pid();
    }

    /** Creates the stream, if there is JetStream. Returns the subject from which a subscriber receives every message. */
    public String createTopic(String topic) {
        driver.createTopic(topic, 1);
        return jetStream == null ? topic : jetStream.push(topic);
    }

    public void deleteTopic(String topic) {
        driver.deleteTopic(topic);
    }

    public void settle() {
        driver.settle();
    }

    public void freeze() {
        driver.freeze();
    }

    public void thaw() {
        driver.thaw();
    }

    @Override
    public void close() {
        driver.close();
    }
}
