package io.journalq.bench.peer;

import io.journalq.server.process.LoopbackPorts;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A NATS server that this program starts and that also listens for WebSockets, with or without JetStream. One thread.
 */
public final class NatsWebSockets implements WebSocketServer {
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

    @Override
    public Optional<String> missing() {
        return driver.missing();
    }

    @Override
    public String about() {
        Map<String, String> about = driver.about();
        return about.get("broker") + " " + about.get("broker_settings");
    }

    @Override
    public String address() {
        return address;
    }

    @Override
    public void start() {
        driver.start();
    }

    @Override
    public long pid() {
        return driver.nodes().get(0).pid();
    }

    /** Creates the stream, if there is JetStream. */
    @Override
    public String createTopic(String topic) {
        driver.createTopic(topic, 1);
        return jetStream == null ? topic : jetStream.push(topic);
    }

    @Override
    public void deleteTopic(String topic) {
        driver.deleteTopic(topic);
    }

    @Override
    public void settle() {
        driver.settle();
    }

    @Override
    public void freeze() {
        driver.freeze();
    }

    @Override
    public void thaw() {
        driver.thaw();
    }

    @Override
    public void close() {
        driver.close();
    }
}
