package io.journalq.bench.peer;

import io.journalq.bench.BenchException;
import io.journalq.bench.driver.BrokerDriver;
import io.journalq.bench.driver.ClientDriver;
import io.journalq.bench.driver.ClientDriver.ConsumerSettings;
import io.journalq.bench.driver.ClientDriver.GroupSettings;
import io.journalq.bench.driver.ClientDriver.MessageConsumer;
import io.journalq.bench.driver.ClientDriver.ProducerSettings;
import io.journalq.bench.driver.ClientDriver.Publisher;
import io.journalq.bench.driver.ClusterShape;
import io.journalq.bench.driver.ExternalBroker;
import io.journalq.bench.driver.JournalQBroker;
import io.journalq.bench.driver.JournalQClientDriver;
import io.journalq.bench.driver.KafkaBroker;
import io.journalq.bench.measure.BrokerNode;
import io.journalq.bench.measure.ProcessFinder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * JournalQ or Apache Kafka, through either client. Each subscriber reads all partitions: by assignment with at-most-once,
 * otherwise as the only member of a consumer group that commits every five seconds.
 */
final class KafkaProtocolDriver implements PubSubDriver {
    private static final Duration JOIN_POLL = Duration.ofMillis(50);
    private static final long JOIN_TIMEOUT_S = 120;

    private final String name;
    private final ClientDriver client;
    private final PubSubSettings settings;
    private final BrokerDriver broker;
    private final BrokerDriver subscribed;
    /** Null if messages are not sealed. */
    private final SealedTopics sealedTopics;

    private final boolean signed;

    /** Those of the drivers that {@link #sealed} has made; null if it has made none. */
    private SealedTopics sharedTopics;

    private final Map<String, Integer> partitionsByTopic = new TreeMap<>();

    KafkaProtocolDriver(String name, String brokerName, ClientDriver client, PubSubSettings settings) {
        this(name, brokerName, client, settings, null, false);
    }

    private KafkaProtocolDriver(
            String name,
            String brokerName,
            ClientDriver client,
            PubSubSettings settings,
            SealedTopics sealedTopics,
            boolean signed) {
        this.name = name;
        this.signed = signed;
        this.sealedTopics = sealedTopics;
        this.client = client;
        this.settings = settings;
        if (settings.isExternal()) {
            String first = settings.publishTarget(0);
            String from = settings.subscriberTarget();
            broker = external(brokerName, first);
            subscribed = from.equals(first) ? broker : external(brokerName, from);
        } else {
            broker = brokerName.equals("kafka")
                    ? new KafkaBroker(settings.cluster(), settings.brokerSettings())
                    : JournalQBroker.withMetrics(settings.cluster(), settings.brokerSettings());
            subscribed = broker;
        }
    }

    private BrokerDriver external(String brokerName, String address) {
        return new ExternalBroker(brokerName, address, ProcessFinder.listeningAt(address), settings.security());
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Set<Delivery> deliveries() {
        return EnumSet.allOf(Delivery.class);
    }

    /** Returns empty, because Kafka's artifacts are downloaded at the first start. */
    @Override
    public Optional<String> missing() {
        return Optional.empty();
    }

    @Override
    public Map<String, String> about() {
        Map<String, String> about = new TreeMap<>();
        about.put("broker", broker.name() + " " + broker.version());
        about.put("client", client.name() + " " + client.version());
        about.put("broker_settings", broker.settings().toString());
        about.put("topic_settings", topicSettings().toString());
        about.put("client_settings", clientSettings().toString());
        return about;
    }

    @Override
    public void start() {
        broker.start();
        if (subscribed != broker) {
            subscribed.start();
        }
    }

    @Override
    public List<BrokerNode> nodes() {
        return broker.nodes();
    }

    @Override
    public void freeze() {
        broker.freeze();
    }

    @Override
    public void settle() {
        broker.settle();
    }

    @Override
    public void thaw() {
        broker.thaw();
    }

    @Override
    public void createTopic(String topic, int partitions) {
        broker.createTopic(topic, partitions, topicSettings());
        partitionsByTopic.put(topic, broker.partitionCount(topic));
        if (sealedTopics != null) {
            sealedTopics.add(topic, signed);
        }
    }

    /** By default, both brokers acknowledge from the page cache. */
    private Map<String, String> topicSettings() {
        if (settings.delivery() != Delivery.SYNCED) {
            return Map.of();
        }
        return broker.name().equals("kafka") ? Map.of("flush.messages", "1") : Map.of("delivery.mode", "consistent");
    }

    @Override
    public void deleteTopic(String topic) {
        partitionsByTopic.remove(topic);
        broker.deleteTopic(topic);
    }

    @Override
    public Publisher openPublisher(String topic, int number) {
        String target = settings.isExternal() ? settings.publishTarget(number) : broker.bootstrap();
        return client.openPublisher(new ProducerSettings(target, topic, settings.compression(), clientSettings()));
    }

    private Map<String, String> clientSettings() {
        Map<String, String> chosen = new TreeMap<>();
        boolean own = client.name().equals("journalq");
        chosen.put(
                "acks",
                switch (settings.delivery()) {
                    case AT_MOST_ONCE -> own ? "none" : "0";
                    case AT_LEAST_ONCE -> own ? "leader" : "1";
                    case SYNCED -> "all";
                });
        settings.clientSettings().forEach((setting, value) -> {
            if (!setting.startsWith("consumer.")) {
                chosen.put(setting, value);
            }
        });
        return chosen;
    }

    private Map<String, String> consumerSettings() {
        Map<String, String> chosen = new TreeMap<>();
        settings.clientSettings().forEach((setting, value) -> {
            if (setting.startsWith("consumer.")) {
                chosen.put(setting.substring("consumer.".length()), value);
            }
        });
        return chosen;
    }

    @Override
    public Subscriber openSubscriber(String topic, int number) {
        int partitions = partitionsByTopic.getOrDefault(topic, 1);
        return subscriber(topic, number, subscribed.endOffsets(topic, partitions));
    }

    @Override
    public Subscriber openReader(String topic) {
        int partitions = partitionsByTopic.getOrDefault(topic, 1);
        return subscriber(topic, 0, subscribed.startOffsets(topic, partitions));
    }

    private Subscriber subscriber(String topic, int number, List<Long> from) {
        Map<Integer, Long> starts = new TreeMap<>();
        for (int partition = 0; partition < from.size(); partition++) {
            starts.put(partition, from.get(partition));
        }
        if (settings.delivery() == Delivery.AT_MOST_ONCE) {
            return new KafkaProtocolSubscriber(client.openConsumer(
                    new ConsumerSettings(subscribed.bootstrap(), topic, starts, consumerSettings())));
        }
        GroupSettings group = new GroupSettings(
                subscribed.bootstrap(), topic, topic + "-" + number + "-" + System.nanoTime(), consumerSettings());
        client.commitStart(group, starts);
        KafkaProtocolSubscriber reader = new KafkaProtocolSubscriber(client.openMember(group));
        reader.awaitShare(from.size());
        return reader;
    }

    @Override
    public PubSubDriver sealed(boolean signs) {
        if (!(client instanceof JournalQClientDriver)) {
            return PubSubDriver.super.sealed(signs);
        }
        String address = broker.bootstrap();
        if (sharedTopics == null) {
            sharedTopics = new SealedTopics(address, settings.security());
        }
        PubSubSettings sameBroker = new PubSubSettings(
                settings.delivery(),
                List.of(address),
                "",
                settings.compression(),
                Map.of(),
                settings.security(),
                ClusterShape.SINGLE,
                settings.clientSettings());
        return new KafkaProtocolDriver(
                name,
                broker.name(),
                new JournalQClientDriver(settings.security(), sharedTopics.policy()),
                sameBroker,
                sharedTopics,
                signs);
    }

    @Override
    public double restart(boolean kill) {
        return broker.restart(kill);
    }

    @Override
    public void kill(int node) {
        broker.kill(node);
    }

    @Override
    public void startAgain(int node) {
        broker.startAgain(node);
    }

    @Override
    public boolean isInSync(String topic) {
        return broker.isInSync(topic);
    }

    @Override
    public boolean isServed(String topic) {
        try {
            int partitions = partitionsByTopic.getOrDefault(topic, 1);
            return broker.endOffsets(topic, partitions).size() == partitions;
        } catch (BenchException notYet) {
            return false;
        }
    }

    @Override
    public void close() {
        broker.close();
        if (subscribed != broker) {
            subscribed.close();
        }
    }

    private static final class KafkaProtocolSubscriber implements Subscriber {
        private final MessageConsumer consumer;
        /** Messages that arrived with the assignment. */
        private final List<byte[]> early = new ArrayList<>();

        KafkaProtocolSubscriber(MessageConsumer consumer) {
            this.consumer = consumer;
        }

        /** Waits for the assignment of all partitions. */
        void awaitShare(int partitions) {
            long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(JOIN_TIMEOUT_S);
            try {
                while (consumer.share() < partitions) {
                    if (System.nanoTime() > deadlineNs) {
                        throw new BenchException("a group did not receive its partitions", "check the broker's log");
                    }
                    consumer.poll(JOIN_POLL, all(early::add));
                }
            } catch (RuntimeException e) {
                consumer.close();
                throw e;
            } catch (Exception e) {
                consumer.close();
                throw new BenchException("cannot join a group", "check the broker's log", e);
            }
        }

        @Override
        public void poll(Duration timeout, Visitor visitor) throws Exception {
            early.forEach(visitor::onMessage);
            early.clear();
            consumer.poll(timeout, all(visitor));
        }

        private static MessageConsumer.Visitor all(Visitor visitor) {
            return new MessageConsumer.Visitor() {
                @Override
                public boolean onMessage(int partition, long offset) {
                    return true;
                }

                @Override
                public void onValue(int partition, long offset, byte[] value) {
                    visitor.onMessage(value);
                }
            };
        }

        @Override
        public void close() {
            consumer.close();
        }
    }
}
