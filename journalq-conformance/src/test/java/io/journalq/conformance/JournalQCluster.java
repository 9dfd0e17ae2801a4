package io.journalq.conformance;

import io.journalq.server.broker.Broker;
import io.journalq.server.broker.StartException;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigException;
import io.journalq.server.config.ConfigOrigin;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import java.util.stream.Stream;
import kafka.server.ControllerServer;
import kafka.server.KafkaBroker;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.FeatureUpdate;
import org.apache.kafka.clients.admin.FinalizedVersionRange;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.UpdateFeaturesOptions;
import org.apache.kafka.clients.consumer.GroupProtocol;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.test.ClusterInstance;
import org.apache.kafka.common.test.api.ClusterConfig;
import org.apache.kafka.common.test.api.Type;
import org.apache.kafka.server.fault.FaultHandlerException;
import org.opentest4j.TestAbortedException;

/**
 * A JournalQ broker in the shape in which Kafka's tests know a cluster. Several declared brokers are one here, and topics
 * that the cluster is asked to make have one replica; a test that needs more than that fails or is out of scope. Settings
 * that JournalQ does not have are left out.
 */
final class JournalQCluster implements ClusterInstance, AutoCloseable {
    private static final int BROKER_ID = 0;
    private static final int TIMEOUT_S = 30;
    private static final String TOPIC_DEFAULT_PREFIX = "log.";

    /** Defaults of topics that Kafka's brokers call otherwise. */
    private static final Map<String, String> OTHER_NAMES = Map.of("message.max.bytes", "max.message.bytes");

    private final ClusterConfig config;
    private final List<String> leftOut = new ArrayList<>();
    private Path directory;
    private int port;
    private Broker broker;

    JournalQCluster(ClusterConfig config) {
        this.config = config;
    }

    @Override
    public String toString() {
        return "brokers declared=" + config.numBrokers() + (leftOut.isEmpty() ? "" : ", settings left out=" + leftOut);
    }

    @Override
    public Type type() {
        return Type.KRAFT;
    }

    @Override
    public ClusterConfig config() {
        return config;
    }

    @Override
    public void start() {
        try {
            boolean isNew = directory == null;
            if (isNew) {
                directory = Files.createTempDirectory("journalq-conformance");
            }
            broker = Broker.start(brokerConfig());
            port = broker.listeners().get(0).port();
            if (isNew) {
                lowerFeatures();
            }
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        } catch (ConfigException | StartException failure) {
            throw new IllegalStateException(failure);
        }
    }

    /** Puts the levels in force that the test declares; all are at their highest before. */
    private void lowerFeatures() {
        if (config.features().isEmpty()) {
            return;
        }
        try (Admin admin = admin()) {
            Map<String, FinalizedVersionRange> levels = admin.describeFeatures()
                    .featureMetadata()
                    .get(TIMEOUT_S, TimeUnit.SECONDS)
                    .finalizedFeatures();
            Map<String, FeatureUpdate> updates = new LinkedHashMap<>();
            config.features().forEach((feature, level) -> {
                FinalizedVersionRange current = levels.get(feature.featureName());
                if (current != null && level < current.maxVersionLevel()) {
                    updates.put(
                            feature.featureName(), new FeatureUpdate(level, FeatureUpdate.UpgradeType.SAFE_DOWNGRADE));
                }
            });
            if (!updates.isEmpty()) {
                admin.updateFeatures(updates, new UpdateFeaturesOptions()).all().get(TIMEOUT_S, TimeUnit.SECONDS);
            }
        } catch (InterruptedException | ExecutionException | TimeoutException failure) {
            throw new IllegalStateException(failure);
        }
    }

    private BrokerConfig brokerConfig() throws ConfigException {
        String listener = config.brokerListenerName().value();
        BrokerConfig settings = BrokerConfig.defaults()
                .with("node.id", Integer.toString(BROKER_ID), ConfigOrigin.COMMAND_LINE)
                .with("listeners", listener + "://localhost:" + port, ConfigOrigin.COMMAND_LINE)
                .with("listener.security.protocol.map", listener + ":PLAINTEXT", ConfigOrigin.COMMAND_LINE)
                .with("admin.listener", "", ConfigOrigin.COMMAND_LINE)
                .with("gateway.listener", "", ConfigOrigin.COMMAND_LINE)
                .with("data.directories", directory.toString(), ConfigOrigin.COMMAND_LINE);
        leftOut.clear();
        for (Map.Entry<String, String> property : config.serverProperties().entrySet()) {
            // The cluster has one broker, whatever number a test wants.
            String value = property.getKey().endsWith(".replication.factor") ? "1" : property.getValue();
            settings = withIfKnown(settings, property.getKey(), value);
        }
        return settings;
    }

    private BrokerConfig withIfKnown(BrokerConfig settings, String key, String value) {
        try {
            return settings.with(key, value, ConfigOrigin.COMMAND_LINE);
        } catch (ConfigException unknown) {
            try {
                String ofTopic = key.startsWith(TOPIC_DEFAULT_PREFIX)
                        ? key.substring(TOPIC_DEFAULT_PREFIX.length())
                        : OTHER_NAMES.getOrDefault(key, key);
                return settings.with(ofTopic, value, ConfigOrigin.COMMAND_LINE);
            } catch (ConfigException reallyUnknown) {
                leftOut.add(key);
                return settings;
            }
        }
    }

    @Override
    public boolean started() {
        return broker != null;
    }

    @Override
    public void stop() {
        if (broker != null) {
            broker.close();
            broker = null;
        }
    }

    @Override
    public boolean stopped() {
        return broker == null;
    }

    @Override
    public void close() throws IOException {
        stop();
        if (directory != null) {
            try (Stream<Path> files = Files.walk(directory)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.deleteIfExists(file);
                }
            }
        }
    }

    @Override
    public void shutdownBroker(int brokerId) {
        stop();
    }

    @Override
    public void startBroker(int brokerId) {
        start();
    }

    @Override
    public String bootstrapServers() {
        return "localhost:" + port;
    }

    @Override
    public List<Integer> brokerBoundPorts() {
        return List.of(port);
    }

    @Override
    public Set<Integer> brokerIds() {
        return Set.of(BROKER_ID);
    }

    @Override
    public ListenerName clientListener() {
        return config.brokerListenerName();
    }

    @Override
    public Set<GroupProtocol> supportedGroupProtocols() {
        return Set.of(GroupProtocol.CLASSIC, GroupProtocol.CONSUMER);
    }

    @Override
    public String clusterId() {
        try (Admin admin = admin()) {
            return admin.describeCluster().clusterId().get(TIMEOUT_S, TimeUnit.SECONDS);
        } catch (InterruptedException | ExecutionException | TimeoutException failure) {
            throw new IllegalStateException(failure);
        }
    }

    @Override
    public void createTopic(String name, int partitions, short replicas) throws InterruptedException {
        createTopic(name, partitions, replicas, Map.of());
    }

    @Override
    public void createTopic(String name, int partitions, short replicas, Map<String, String> configs)
            throws InterruptedException {
        try (Admin admin = admin()) {
            admin.createTopics(List.of(new NewTopic(name, partitions, (short) 1).configs(configs)))
                    .all()
                    .get(TIMEOUT_S, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException failure) {
            // As with Kafka's cluster, a topic that is there already is no reason to fail.
            if (!(failure.getCause() instanceof TopicExistsException)) {
                throw new IllegalStateException(failure);
            }
        }
    }

    @Override
    public void createTopicWithAssignment(String name, Map<Integer, List<Integer>> assignment)
            throws InterruptedException {
        createTopic(name, assignment.size(), (short) 1);
    }

    /** As with {@link #createTopic}, partitions that a test assigns to several brokers have one replica, on this one. */
    @Override
    public Admin admin(Map<String, Object> configs, boolean usingBootstrapControllers) {
        Admin admin = ClusterInstance.super.admin(configs, usingBootstrapControllers);
        return (Admin) Proxy.newProxyInstance(
                Admin.class.getClassLoader(), new Class<?>[] {Admin.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("createTopics")) {
                        arguments[0] = ((Collection<?>) arguments[0])
                                .stream().map(topic -> here((NewTopic) topic)).toList();
                    }
                    try {
                        return method.invoke(admin, arguments);
                    } catch (InvocationTargetException failure) {
                        throw failure.getCause();
                    }
                });
    }

    private static NewTopic here(NewTopic topic) {
        Map<Integer, List<Integer>> assignments = topic.replicasAssignments();
        if (assignments == null || assignments.values().stream().allMatch(List.of(BROKER_ID)::equals)) {
            return topic;
        }
        Map<Integer, List<Integer>> assignedHere = new LinkedHashMap<>();
        assignments.keySet().forEach(partition -> assignedHere.put(partition, List.of(BROKER_ID)));
        return new NewTopic(topic.name(), assignedHere).configs(topic.configs());
    }

    @Override
    public void waitTopicCreation(String name, int partitions) throws InterruptedException {
        awaitTopics(names -> names.contains(name), name + " is not there");
    }

    @Override
    public void waitTopicDeletion(String name) throws InterruptedException {
        awaitTopics(names -> !names.contains(name), name + " is still there");
    }

    private void awaitTopics(Predicate<Set<String>> wanted, String otherwise) throws InterruptedException {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_S);
        try (Admin admin = admin()) {
            while (!wanted.test(admin.listTopics().names().get(TIMEOUT_S, TimeUnit.SECONDS))) {
                if (System.nanoTime() > deadlineNanos) {
                    throw new IllegalStateException("topic " + otherwise);
                }
                Thread.sleep(50);
            }
        } catch (ExecutionException | TimeoutException failure) {
            throw new IllegalStateException(failure);
        }
    }

    @Override
    public int getLeaderBrokerId(TopicPartition partition) {
        return BROKER_ID;
    }

    @Override
    public int waitUntilLeaderIsElectedOrChangedWithAdmin(Admin admin, String topic, int partition, long timeoutMs) {
        return BROKER_ID;
    }

    @Override
    public void waitForReadyBrokers() {
        // A broker that has started serves.
    }

    @Override
    public void ensureConsistentMetadata() {
        // One broker agrees with itself.
    }

    @Override
    public void ensureConsistentMetadata(Collection<KafkaBroker> brokers, Collection<ControllerServer> controllers) {
        // As above.
    }

    @Override
    public Map<Integer, KafkaBroker> brokers() {
        return Map.of(BROKER_ID, handle());
    }

    @Override
    public Map<Integer, KafkaBroker> aliveBrokers() {
        return started() ? brokers() : Map.of();
    }

    /** What tests may do to a broker from outside; any other access fails with a message that names this class. */
    private KafkaBroker handle() {
        return (KafkaBroker) Proxy.newProxyInstance(
                KafkaBroker.class.getClassLoader(), new Class<?>[] {KafkaBroker.class}, (proxy, method, arguments) -> {
                    switch (method.getName()) {
                        case "shutdown" -> stop();
                        case "startup" -> start();
                        case "awaitShutdown" -> {
                            // A stop returns when it is done.
                        }
                        case "isShutdown" -> {
                            return stopped();
                        }
                        case "hashCode" -> {
                            return BROKER_ID;
                        }
                        case "equals" -> {
                            return proxy == arguments[0];
                        }
                        case "toString" -> {
                            return JournalQCluster.this.toString();
                        }
                        default -> throw looksInside();
                    }
                    return null;
                });
    }

    @Override
    public Map<Integer, ControllerServer> controllers() {
        throw looksInside();
    }

    @Override
    public Set<Integer> controllerIds() {
        return Set.of(BROKER_ID);
    }

    @Override
    public ListenerName controllerListenerName() {
        throw looksInside();
    }

    @Override
    public String bootstrapControllers() {
        throw new TestAbortedException("asks controllers, which are no processes of their own here");
    }

    @Override
    public Optional<FaultHandlerException> firstFatalException() {
        return Optional.empty();
    }

    @Override
    public Optional<FaultHandlerException> firstNonFatalException() {
        return Optional.empty();
    }

    private static TestAbortedException looksInside() {
        return new TestAbortedException("looks inside Kafka's own broker object");
    }
}
