package io.journalq.bench.peer;

import com.rabbitmq.client.BuiltinExchangeType;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.MessageProperties;
import io.journalq.bench.BenchException;
import io.journalq.bench.driver.ClientDriver.Publisher;
import java.io.IOException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeoutException;

/**
 * RabbitMQ quorum queues over AMQP. Each topic is a fanout exchange with one quorum queue per subscriber, so that every
 * subscriber receives every message. Messages are persistent and confirmed. Quorum queues fsync before they confirm, so
 * at-least-once is the same as synced. Consumers acknowledge everything up to their position after half of the prefetch
 * count.
 */
final class RabbitQuorumDriver extends RabbitDriver {
    static final String NAME = "rabbitmq-quorum";
    static final String INSTALL = "apt-get install rabbitmq-server";

    private static final int PORT = 5672;
    private static final String PREFETCH = "consumer.prefetch";
    /** The default limit of quorum queues. */
    private static final int DEFAULT_PREFETCH = 2_000;

    private static final long RESPONSE_TIMEOUT_MS = 60_000;

    private final PubSubSettings settings;
    private Connection admin;

    RabbitQuorumDriver(PubSubSettings settings) {
        super(new RabbitServer(settings, PORT, INSTALL));
        this.settings = settings;
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public Set<Delivery> deliveries() {
        return EnumSet.of(Delivery.AT_LEAST_ONCE, Delivery.SYNCED);
    }

    @Override
    public Map<String, String> about() {
        Map<String, String> about = new TreeMap<>();
        Object version = admin == null ? null : admin.getServerProperties().get("version");
        about.put("broker", "rabbitmq " + (version == null ? "as found" : version) + ", quorum queues");
        String client = ConnectionFactory.class.getPackage().getImplementationVersion();
        about.put("client", "amqp-client " + (client == null ? "unknown" : client));
        about.put("client_settings", PREFETCH + "=" + prefetch());
        return about;
    }

    private int prefetch() {
        return settings.clientNumber(PREFETCH, DEFAULT_PREFETCH);
    }

    @Override
    public void start() {
        server.requireReachable();
        admin = connect(server.publishTarget(0));
    }

    private Connection connect(String target) {
        ConnectionFactory factory = new ConnectionFactory();
        factory.setHost(RabbitServer.host(target));
        factory.setPort(server.port(target));
        try {
            return factory.newConnection("journalq-bench");
        } catch (IOException | TimeoutException e) {
            throw RabbitServer.failed("accept a connection", e);
        }
    }

    @Override
    public void createTopic(String topic, int partitions) {
        try (Channel channel = admin.createChannel()) {
            channel.exchangeDeclare(topic, BuiltinExchangeType.FANOUT, true);
        } catch (IOException | TimeoutException e) {
            throw RabbitServer.failed("create exchange " + topic, e);
        }
    }

    /** The queues are deleted with their subscribers. */
    @Override
    public void deleteTopic(String topic) {
        try (Channel channel = admin.createChannel()) {
            channel.exchangeDelete(topic);
        } catch (IOException | TimeoutException e) {
            throw RabbitServer.failed("delete exchange " + topic, e);
        }
    }

    @Override
    public Publisher openPublisher(String topic, int number) {
        Connection connection = connect(server.publishTarget(number));
        try {
            Channel channel = connection.createChannel();
            QuorumQueuePublisher publishing =
                    new QuorumQueuePublisher(topic, connection, channel, new ConcurrentSkipListMap<>());
            channel.confirmSelect();
            channel.addConfirmListener(
                    (delivery, multiple) -> publishing.settle(delivery, multiple, null),
                    (delivery, multiple) ->
                            publishing.settle(delivery, multiple, new IOException("the server refused the message")));
            return publishing;
        } catch (IOException e) {
            closed(connection);
            throw RabbitServer.failed("open a publisher of " + topic, e);
        }
    }

    @Override
    public Subscriber openSubscriber(String topic, int number) {
        Connection connection = connect(server.subscribeTarget());
        String queue = topic + "-" + number + "-" + System.nanoTime();
        ReceiveQueue arrivals = new ReceiveQueue();
        try {
            Channel channel = connection.createChannel();
            channel.queueDeclare(queue, true, false, false, Map.of("x-queue-type", "quorum"));
            channel.queueBind(queue, topic, "");
            channel.basicQos(prefetch());
            channel.basicConsume(
                    queue, false, (consumerTag, delivery) -> arrivals.add(delivery.getBody()), consumerTag -> {});
            return new QuorumQueueSubscriber(connection, channel, queue, arrivals, Math.max(1, prefetch() / 2));
        } catch (IOException e) {
            closed(connection);
            throw RabbitServer.failed("create queue " + queue, e);
        }
    }

    @Override
    public Subscriber openReader(String topic) {
        throw new BenchException(
                "a quorum queue holds only the messages since its subscriber was opened",
                "use " + RabbitStreamDriver.NAME);
    }

    @Override
    public boolean isServed(String topic) {
        return admin.isOpen();
    }

    @Override
    public void close() {
        if (admin != null) {
            closed(admin);
            admin = null;
        }
    }

    private static void closed(Connection connection) {
        try {
            connection.close();
        } catch (IOException | RuntimeException e) {
            System.err.println("journalq-bench: cannot close a connection to RabbitMQ: " + e);
        }
    }

    private record QuorumQueuePublisher(
            String topic,
            Connection connection,
            Channel channel,
            ConcurrentNavigableMap<Long, Confirmation> unconfirmed)
            implements Publisher {
        @Override
        public void publish(byte[] value, Confirmation confirmation) throws IOException {
            long number = channel.getNextPublishSeqNo();
            unconfirmed.put(number, confirmation);
            boolean taken = false;
            try {
                channel.basicPublish(topic, "", MessageProperties.MINIMAL_PERSISTENT_BASIC, value);
                taken = true;
            } finally {
                if (!taken) {
                    unconfirmed.remove(number);
                }
            }
        }

        /** Called on the connection's thread. */
        private void settle(long number, boolean multiple, IOException failure) {
            if (!multiple) {
                Confirmation one = unconfirmed.remove(number);
                if (one != null) {
                    one.onConfirmed(failure);
                }
                return;
            }
            var settled = unconfirmed.headMap(number, true);
            while (!settled.isEmpty()) {
                settled.pollFirstEntry().getValue().onConfirmed(failure);
            }
        }

        @Override
        public void flush() throws InterruptedException, TimeoutException {
            channel.waitForConfirms(RESPONSE_TIMEOUT_MS);
        }

        @Override
        public void close() {
            closed(connection);
        }
    }

    /** Acknowledges by delivery number. Each channel numbers its deliveries from 1. */
    private static final class QuorumQueueSubscriber implements Subscriber {
        private final Connection connection;
        private final Channel channel;
        private final String queue;
        private final ReceiveQueue arrivals;
        private final int acknowledgeInterval;
        private long taken;
        private long acknowledged;

        QuorumQueueSubscriber(
                Connection connection, Channel channel, String queue, ReceiveQueue arrivals, int acknowledgeInterval) {
            this.connection = connection;
            this.channel = channel;
            this.queue = queue;
            this.arrivals = arrivals;
            this.acknowledgeInterval = acknowledgeInterval;
        }

        @Override
        public void poll(Duration timeout, Visitor visitor) throws InterruptedException, IOException {
            int count = arrivals.poll(timeout, visitor);
            taken += count;
            if (taken - acknowledged >= acknowledgeInterval || (count == 0 && taken > acknowledged)) {
                acknowledged = taken;
                channel.basicAck(taken, true);
            }
        }

        @Override
        public void close() {
            arrivals.end();
            try {
                channel.queueDelete(queue);
            } catch (IOException | RuntimeException e) {
                System.err.println("journalq-bench: cannot delete queue " + queue + ": " + e);
            }
            closed(connection);
        }
    }
}
