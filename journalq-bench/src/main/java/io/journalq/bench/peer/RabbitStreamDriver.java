package io.journalq.bench.peer;

import com.rabbitmq.stream.Address;
import com.rabbitmq.stream.ConfirmationStatus;
import com.rabbitmq.stream.Environment;
import com.rabbitmq.stream.OffsetSpecification;
import com.rabbitmq.stream.Producer;
import com.rabbitmq.stream.StreamException;
import io.journalq.bench.driver.ClientDriver.Publisher;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;

/**
 * RabbitMQ streams over their own protocol, with one stream per topic and no partitions. The library gathers messages into
 * batches, and the server confirms them. Each subscriber is a named consumer that stores its position every five seconds,
 * like consumers of the Kafka protocol. Confirmed messages are in the page cache; the server calls fsync later.
 */
final class RabbitStreamDriver extends RabbitDriver {
    static final String NAME = "rabbitmq-streams";
    static final String INSTALL = "apt-get install rabbitmq-server && rabbitmq-plugins enable rabbitmq_stream";

    private static final int PORT = 5552;
    private static final String BATCH_SIZE = "batchSize";
    /** The client library's own default. */
    private static final int DEFAULT_BATCH_SIZE = 100;

    private static final int MAX_UNCONFIRMED = 10_000;
    private static final Duration STORE_INTERVAL = Duration.ofSeconds(5);
    private static final int STORE_INTERVAL_MESSAGES = 50_000;
    private static final Duration RESPONSE_TIMEOUT = Duration.ofSeconds(60);

    private final PubSubSettings settings;
    private Environment admin;

    RabbitStreamDriver(PubSubSettings settings) {
        super(new RabbitServer(settings, PORT, INSTALL));
        this.settings = settings;
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public Set<Delivery> deliveries() {
        return EnumSet.of(Delivery.AT_LEAST_ONCE);
    }

    @Override
    public Map<String, String> about() {
        Map<String, String> about = new TreeMap<>();
        about.put("broker", "rabbitmq as found, streams");
        String version = Environment.class.getPackage().getImplementationVersion();
        about.put("client", "stream-client " + (version == null ? "unknown" : version));
        about.put("client_settings", BATCH_SIZE + "=" + batchSize());
        return about;
    }

    private int batchSize() {
        return settings.clientNumber(BATCH_SIZE, DEFAULT_BATCH_SIZE);
    }

    @Override
    public void start() {
        server.requireReachable();
        admin = connect(server.publishTarget(0));
    }

    /** Connects always to {@code target}: the server may announce a name that cannot be resolved here. */
    private Environment connect(String target) {
        Address address = new Address(RabbitServer.host(target), server.port(target));
        try {
            return Environment.builder()
                    .host(address.host())
                    .port(address.port())
                    .addressResolver(announced -> address)
                    .build();
        } catch (StreamException e) {
            throw RabbitServer.failed("accept a stream connection", e);
        }
    }

    @Override
    public void createTopic(String topic, int partitions) {
        try {
            if (!admin.streamExists(topic)) {
                admin.streamCreator().stream(topic).create();
            }
        } catch (StreamException e) {
            throw RabbitServer.failed("create stream " + topic, e);
        }
    }

    @Override
    public void deleteTopic(String topic) {
        try {
            admin.deleteStream(topic);
        } catch (StreamException e) {
            throw RabbitServer.failed("delete stream " + topic, e);
        }
    }

    @Override
    public Publisher openPublisher(String topic, int number) {
        Environment environment = connect(server.publishTarget(number));
        try {
            Producer producer = environment.producerBuilder().stream(topic)
                    .batchSize(batchSize())
                    .maxUnconfirmedMessages(MAX_UNCONFIRMED)
                    .build();
            return new StreamPublisher(environment, producer, new Unconfirmed());
        } catch (StreamException e) {
            environment.close();
            throw RabbitServer.failed("open a publisher of " + topic, e);
        }
    }

    @Override
    public Subscriber openSubscriber(String topic, int number) {
        return subscriber(topic, number, OffsetSpecification.next());
    }

    @Override
    public Subscriber openReader(String topic) {
        return subscriber(topic, 0, OffsetSpecification.first());
    }

    private Subscriber subscriber(String topic, int number, OffsetSpecification from) {
        Environment environment = connect(server.subscribeTarget());
        ReceiveQueue arrivals = new ReceiveQueue();
        try {
            environment.consumerBuilder().stream(topic)
                    .name(topic + "-" + number + "-" + System.nanoTime())
                    .offset(from)
                    .autoTrackingStrategy()
                    .messageCountBeforeStorage(STORE_INTERVAL_MESSAGES)
                    .flushInterval(STORE_INTERVAL)
                    .builder()
                    .messageHandler((context, message) -> arrivals.add(message.getBodyAsBinary()))
                    .build();
            return new StreamSubscriber(environment, arrivals);
        } catch (StreamException e) {
            environment.close();
            throw RabbitServer.failed("open a consumer of " + topic, e);
        }
    }

    @Override
    public boolean isServed(String topic) {
        try {
            return admin.streamExists(topic);
        } catch (StreamException notYet) {
            return false;
        }
    }

    @Override
    public void close() {
        if (admin != null) {
            admin.close();
            admin = null;
        }
    }

    private record StreamPublisher(Environment environment, Producer producer, Unconfirmed unconfirmed)
            implements Publisher {
        @Override
        public void publish(byte[] value, Confirmation confirmation) {
            unconfirmed.increment();
            boolean taken = false;
            try {
                producer.send(producer.messageBuilder().addData(value).build(), status -> settle(status, confirmation));
                taken = true;
            } finally {
                if (!taken) {
                    unconfirmed.decrement();
                }
            }
        }

        private void settle(ConfirmationStatus status, Confirmation confirmation) {
            unconfirmed.decrement();
            confirmation.onConfirmed(
                    status.isConfirmed() ? null : new StreamException("not confirmed, code " + status.getCode()));
        }

        @Override
        public void flush() throws InterruptedException, TimeoutException {
            unconfirmed.awaitNone(RESPONSE_TIMEOUT);
        }

        @Override
        public void close() {
            environment.close();
        }
    }

    private record StreamSubscriber(Environment environment, ReceiveQueue arrivals) implements Subscriber {
        @Override
        public void poll(Duration timeout, Visitor visitor) throws InterruptedException {
            arrivals.poll(timeout, visitor);
        }

        @Override
        public void close() {
            arrivals.end();
            environment.close();
        }
    }
}
