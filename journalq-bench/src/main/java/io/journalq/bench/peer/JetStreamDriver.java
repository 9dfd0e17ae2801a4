package io.journalq.bench.peer;

import io.journalq.bench.driver.ClientDriver.Publisher;
import io.nats.client.BaseConsumeOptions;
import io.nats.client.Connection;
import io.nats.client.ConsumeOptions;
import io.nats.client.IterableConsumer;
import io.nats.client.JetStream;
import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamStatusCheckedException;
import io.nats.client.Message;
import io.nats.client.api.AckPolicy;
import io.nats.client.api.ClusterInfo;
import io.nats.client.api.ConsumerConfiguration;
import io.nats.client.api.DeliverPolicy;
import io.nats.client.api.Replica;
import io.nats.client.api.StorageType;
import io.nats.client.api.StreamConfiguration;
import java.io.IOException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * NATS JetStream with file storage, with one stream per topic. Publishers do not wait between messages. Each subscriber is
 * a durable pull consumer that acknowledges everything up to its position every five seconds, like consumers of the Kafka
 * protocol.
 */
final class JetStreamDriver extends NatsDriver {
    private static final long ACKNOWLEDGE_INTERVAL_NS = TimeUnit.SECONDS.toNanos(5);
    /** A subscriber also acknowledges after this number of messages. */
    private static final int ACKNOWLEDGE_INTERVAL_MESSAGES = 50_000;
    /** The server's default of 1,000 would stop a subscriber between two acknowledgements. */
    private static final int MAX_UNACKNOWLEDGED = 1_000_000;

    private static final Duration RESPONSE_TIMEOUT = Duration.ofSeconds(60);
    private static final Duration CREATE_TIMEOUT = Duration.ofSeconds(60);
    private static final long CREATE_RETRY_MS = 200;
    private static final int MAX_POLL_MESSAGES = 1_000;
    private static final String PULL_MESSAGES = "consumer.batchSize";

    private final PubSubSettings settings;
    /** The servers that lead the streams of a cluster: clients that connect to another one take a detour. */
    private final Map<String, String> leaders = new TreeMap<>();

    private Connection admin;

    JetStreamDriver(PubSubSettings settings) {
        super(new NatsServer(settings, true));
        this.settings = settings;
    }

    @Override
    public String name() {
        return "jetstream";
    }

    @Override
    public Set<Delivery> deliveries() {
        return EnumSet.of(Delivery.AT_LEAST_ONCE, Delivery.SYNCED);
    }

    @Override
    public Map<String, String> about() {
        Map<String, String> about = super.about();
        int replicas = settings.cluster().replicas();
        about.put("topic_settings", "file storage, " + replicas + (replicas == 1 ? " replica" : " replicas"));
        about.put("client_settings", "consumer.batchSize=" + pullMessages());
        return about;
    }

    private int pullMessages() {
        return settings.clientNumber(PULL_MESSAGES, BaseConsumeOptions.DEFAULT_MESSAGE_COUNT);
    }

    @Override
    public void freeze() {
        disconnect();
        super.freeze();
    }

    /** Opened again after a freeze, because the server may close a connection of a frozen client. */
    private Connection admin() {
        if (admin == null) {
            admin = server.connect(server.publishTarget(0));
        }
        return admin;
    }

    private void disconnect() {
        if (admin != null) {
            closed(admin);
            admin = null;
        }
    }

    @Override
    public void createTopic(String topic, int partitions) {
        long deadlineNs = System.nanoTime() + CREATE_TIMEOUT.toNanos();
        while (true) {
            try {
                if (!admin().jetStreamManagement().getStreamNames().contains(topic)) {
                    admin().jetStreamManagement()
                            .addStream(StreamConfiguration.builder()
                                    .name(topic)
                                    .subjects(topic)
                                    .storageType(StorageType.File)
                                    .replicas(settings.cluster().replicas())
                                    .build());
                }
                awaitReplicas(topic, deadlineNs);
                return;
            } catch (IOException | JetStreamApiException e) {
                // The servers of a cluster elect a leader first, after their start and after they were frozen.
                if (!settings.cluster().isCluster() || System.nanoTime() > deadlineNs) {
                    throw failed("create stream " + topic, e);
                }
                pause();
            }
        }
    }

    /** Waits until a stream has a leader, and all its replicas are current. Notes where the leader is. */
    private void awaitReplicas(String topic, long deadlineNs) throws IOException, JetStreamApiException {
        if (!settings.cluster().isCluster()) {
            return;
        }
        while (true) {
            ClusterInfo info =
                    admin().jetStreamManagement().getStreamInfo(topic).getClusterInfo();
            if (info != null
                    && info.getLeader() != null
                    && info.getReplicas() != null
                    && info.getReplicas().size() == settings.cluster().replicas() - 1
                    && info.getReplicas().stream().allMatch(Replica::isCurrent)) {
                server.addressOf(info.getLeader()).ifPresent(address -> leaders.put(topic, address));
                return;
            }
            if (System.nanoTime() > deadlineNs) {
                throw new IOException("not all replicas are current");
            }
            pause();
        }
    }

    private static void pause() {
        try {
            Thread.sleep(CREATE_RETRY_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failed("create a stream", e);
        }
    }

    /** Lets the server push all messages of a stream, which need no acknowledgements. Returns the subject of the pushes. */
    String push(String topic) {
        String subject = topic + ".pushed";
        try {
            admin().jetStreamManagement()
                    .addOrUpdateConsumer(
                            topic,
                            ConsumerConfiguration.builder()
                                    .durable(topic)
                                    .deliverSubject(subject)
                                    .ackPolicy(AckPolicy.None)
                                    .deliverPolicy(DeliverPolicy.All)
                                    .build());
            return subject;
        } catch (IOException | JetStreamApiException e) {
            throw failed("create a consumer of " + topic, e);
        }
    }

    @Override
    public void deleteTopic(String topic) {
        try {
            admin().jetStreamManagement().deleteStream(topic);
        } catch (IOException | JetStreamApiException e) {
            throw failed("delete stream " + topic, e);
        }
    }

    @Override
    public Publisher openPublisher(String topic, int number) {
        Connection connection = server.connect(leaders.getOrDefault(topic, server.publishTarget(number)));
        try {
            return new JetStreamPublisher(topic, connection, connection.jetStream(), new Unconfirmed());
        } catch (IOException e) {
            closed(connection);
            throw failed("open JetStream", e);
        }
    }

    @Override
    public Subscriber openSubscriber(String topic, int number) {
        return subscriber(topic, number, DeliverPolicy.New);
    }

    @Override
    public Subscriber openReader(String topic) {
        return subscriber(topic, 0, DeliverPolicy.All);
    }

    private Subscriber subscriber(String topic, int number, DeliverPolicy from) {
        Connection connection = server.connect(leaders.getOrDefault(topic, server.subscribeTarget()));
        try {
            IterableConsumer consumer = connection
                    .getStreamContext(topic)
                    .createOrUpdateConsumer(ConsumerConfiguration.builder()
                            .durable(topic + "-" + number + "-" + System.nanoTime())
                            .ackPolicy(AckPolicy.All)
                            .maxAckPending(MAX_UNACKNOWLEDGED)
                            .deliverPolicy(from)
                            .build())
                    .iterate(ConsumeOptions.builder().batchSize(pullMessages()).build());
            return new JetStreamSubscriber(connection, consumer);
        } catch (IOException | JetStreamApiException e) {
            closed(connection);
            throw failed("create a consumer of " + topic, e);
        }
    }

    @Override
    public double restart(boolean kill) {
        disconnect();
        return super.restart(kill);
    }

    @Override
    public boolean isServed(String topic) {
        try {
            return admin().jetStreamManagement().getStreamNames().contains(topic);
        } catch (IOException | JetStreamApiException notYet) {
            return false;
        }
    }

    @Override
    public void close() {
        disconnect();
        super.close();
    }

    private record JetStreamPublisher(String topic, Connection connection, JetStream jetStream, Unconfirmed unconfirmed)
            implements Publisher {
        @Override
        public void publish(byte[] value, Confirmation confirmation) {
            unconfirmed.increment();
            var unused = jetStream.publishAsync(topic, value).whenComplete((where, failure) -> {
                unconfirmed.decrement();
                confirmation.onConfirmed(failure);
            });
        }

        @Override
        public void flush() throws TimeoutException, InterruptedException {
            connection.flush(RESPONSE_TIMEOUT);
            unconfirmed.awaitNone(RESPONSE_TIMEOUT);
        }

        @Override
        public void close() {
            closed(connection);
        }
    }

    private static final class JetStreamSubscriber implements Subscriber {
        private final Connection connection;
        private final IterableConsumer consumer;
        private long acknowledgedNs = System.nanoTime();
        private int unacknowledged;

        JetStreamSubscriber(Connection connection, IterableConsumer consumer) {
            this.connection = connection;
            this.consumer = consumer;
        }

        @Override
        public void poll(Duration timeout, Visitor visitor)
                throws InterruptedException, JetStreamStatusCheckedException {
            Message message = consumer.nextMessage(timeout);
            Message last = null;
            for (int i = 0; message != null && i < MAX_POLL_MESSAGES; i++) {
                visitor.onMessage(message.getData());
                last = message;
                unacknowledged++;
                message = i + 1 < MAX_POLL_MESSAGES ? consumer.nextMessage(timeout) : null;
            }
            boolean due = System.nanoTime() - acknowledgedNs > ACKNOWLEDGE_INTERVAL_NS
                    || unacknowledged > ACKNOWLEDGE_INTERVAL_MESSAGES;
            if (last != null && due) {
                acknowledgedNs = System.nanoTime();
                unacknowledged = 0;
                last.ack();
            }
        }

        @Override
        public void close() {
            try {
                consumer.close();
            } catch (Exception e) {
                System.err.println("journalq-bench: cannot close a JetStream consumer: " + e);
            }
            closed(connection);
        }
    }
}
