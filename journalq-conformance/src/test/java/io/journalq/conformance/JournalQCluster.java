package io.journalq.conformance;

import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigException;
import io.journalq.server.config.ConfigOrigin;
import io.journalq.server.peer.NettyPeerChannels;
import io.journalq.server.peer.PeerChannels;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import java.util.stream.Collectors;
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
 * JournalQ brokers in the shape in which Kafka's tests know a cluster: as many as the test declares. Several brokers are
 * all voters of a metadata quorum; the first one founds it, and the others join. Settings that JournalQ does not have are
 * left out. Any thread.
 */
final class JournalQCluster implements ClusterInstance, AutoCloseable {
    private static final int TIMEOUT_S = 60;
    private static final int POLL_MS = 50;
    /** Kafka's controllers have ids from here on. Here, each broker is one, so their settings are those of all brokers. */
    private static final int FIRST_CONTROLLER_ID = 3_000;

    private static final String TOPIC_DEFAULT_PREFIX = "log.";

    /** Defaults of topics that Kafka's brokers call otherwise. */
    private static final Map<String, String> OTHER_NAMES = Map.of("message.max.bytes", "max.message.bytes");

    private final ClusterConfig config;
    private final Set<String> leftOut = new TreeSet<>();
    private final Map<Integer, BrokerConfig> settings = new TreeMap<>();
    private final Map<Integer, ClusterBroker> brokers = new TreeMap<>();
    private final PeerChannels channels = new NettyPeerChannels("conformance", null);
    private Path directory;

    JournalQCluster(ClusterConfig config) {
        this.config = config;
        for (int id = 0; id < config.numBrokers(); id++) {
            settings.put(id, settingsOf(id));
        }
    }

    @Override
    public String toString() {
        return "brokers=" + config.numBrokers() + (leftOut.isEmpty() ? "" : ", settings left out=" + leftOut);
    }

    private boolean hasQuorum() {
        return config.numBrokers() > 1;
    }

    private BrokerConfig settingsOf(int id) {
        Map<String, String> declared = new LinkedHashMap<>(config.serverProperties());
        config.perServerOverrideProperties().forEach((server, properties) -> {
            if (server >= FIRST_CONTROLLER_ID) {
                declared.putAll(properties);
            }
        });
        declared.putAll(config.perServerOverrideProperties().getOrDefault(id, Map.of()));
        BrokerConfig known = BrokerConfig.defaults();
        for (Map.Entry<String, String> property : declared.entrySet()) {
            boolean isOfInternalTopic = property.getKey().endsWith(".replication.factor");
            known = withIfKnown(
                    known, property.getKey(), isOfInternalTopic && !hasQuorum() ? "1" : property.getValue());
        }
        return known;
    }

    private BrokerConfig withIfKnown(BrokerConfig known, String key, String value) {
        try {
            return known.with(key, value, ConfigOrigin.COMMAND_LINE);
        } catch (ConfigException unknown) {
            try {
                String ofTopic = key.startsWith(TOPIC_DEFAULT_PREFIX)
                        ? key.substring(TOPIC_DEFAULT_PREFIX.length())
                        : OTHER_NAMES.getOrDefault(key, key);
                return known.with(ofTopic, value, ConfigOrigin.COMMAND_LINE);
            } catch (ConfigException reallyUnknown) {
                leftOut.add(key);
                return known;
            }
        }
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
        if (brokers.isEmpty()) {
            found();
        } else {
            brokers.values().forEach(this::begin);
            awaitStarted();
        }
    }

    private void found() {
        try {
            directory = Files.createTempDirectory("journalq-conformance");
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        settings.forEach(
                (id, own) -> brokers.put(id, new ClusterBroker(id, own, directory.resolve("broker" + id), channels)));
        // Each one joins those before it.
        for (ClusterBroker broker : brokers.values()) {
            begin(broker);
            broker.awaitServing();
        }
        waitForReadyBrokers();
        lowerFeatures();
    }

    private void begin(ClusterBroker broker) {
        String join = brokers.values().stream()
                .filter(other -> other != broker && other.startedBefore())
                .map(ClusterBroker::address)
                .collect(Collectors.joining(","));
        broker.start(config.brokerListenerName().value(), hasQuorum() ? join : null);
    }

    /** Waits for the brokers that start, unless there are too few of them to elect a controller. */
    private void awaitStarted() {
        List<ClusterBroker> running =
                brokers.values().stream().filter(broker -> !broker.isStopped()).toList();
        if (running.size() > brokers.size() / 2) {
            running.forEach(ClusterBroker::awaitServing);
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

    @Override
    public boolean started() {
        return brokers.values().stream().anyMatch(broker -> !broker.isStopped());
    }

    /** Stops all brokers at the same time: the last ones would wait for a controller in vain. */
    @Override
    public void stop() {
        CompletableFuture.allOf(brokers.values().stream()
                        .map(broker -> CompletableFuture.runAsync(broker::stop, stop -> new Thread(stop).start()))
                        .toArray(CompletableFuture<?>[]::new))
                .join();
    }

    @Override
    public boolean stopped() {
        return !started();
    }

    @Override
    public void close() throws IOException {
        stop();
        channels.close();
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
        broker(brokerId).stop();
    }

    /** Returns when the broker serves, or at once if too few brokers run for that. */
    @Override
    public void startBroker(int brokerId) {
        begin(broker(brokerId));
        awaitStarted();
    }

    private ClusterBroker broker(int id) {
        ClusterBroker broker = brokers.get(id);
        if (broker == null) {
            throw new IllegalArgumentException("there is no broker " + id);
        }
        return broker;
    }

    /** The addresses of all brokers, also of those that are stopped. */
    @Override
    public String bootstrapServers() {
        return brokers.values().stream().map(ClusterBroker::address).collect(Collectors.joining(","));
    }

    @Override
    public List<Integer> brokerBoundPorts() {
        return brokers.values().stream().map(ClusterBroker::port).toList();
    }

    @Override
    public Set<Integer> brokerIds() {
        return brokers.keySet();
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
        return serving().get(0).metadata().clusterId();
    }

    private List<ClusterBroker> serving() {
        return brokers.values().stream().filter(ClusterBroker::isServing).toList();
    }

    @Override
    public void createTopic(String name, int partitions, short replicas) throws InterruptedException {
        createTopic(name, partitions, replicas, Map.of());
    }

    @Override
    public void createTopic(String name, int partitions, short replicas, Map<String, String> configs)
            throws InterruptedException {
        create(new NewTopic(name, partitions, replicas).configs(configs));
        waitTopicCreation(name, partitions);
    }

    @Override
    public void createTopicWithAssignment(String name, Map<Integer, List<Integer>> assignment)
            throws InterruptedException {
        create(new NewTopic(name, assignment));
        waitTopicCreation(name, assignment.size());
    }

    private void create(NewTopic topic) throws InterruptedException {
        try (Admin admin = admin()) {
            admin.createTopics(List.of(topic)).all().get(TIMEOUT_S, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException failure) {
            // As with Kafka's cluster, a topic that is there already is no reason to fail.
            if (!(failure.getCause() instanceof TopicExistsException)) {
                throw new IllegalStateException(failure);
            }
        }
    }

    @Override
    public void waitTopicCreation(String name, int partitions) {
        awaitAll("topic " + name + " with " + partitions + " partitions", broker -> broker.knows(name, partitions));
    }

    @Override
    public void waitTopicDeletion(String name) {
        awaitAll("no topic " + name, broker -> broker.topic(name).isEmpty() && !broker.storesDeletedTopics());
    }

    /** Waits until something holds for all brokers that serve. */
    private void awaitAll(String what, Predicate<ClusterBroker> condition) {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_S);
        for (ClusterBroker broker : serving()) {
            while (!holds(condition, broker)) {
                if (System.nanoTime() > deadlineNanos) {
                    throw new AssertionError("waited too long on broker " + broker.id() + " for " + what);
                }
                pause();
            }
        }
    }

    private static boolean holds(Predicate<ClusterBroker> condition, ClusterBroker broker) {
        try {
            return condition.test(broker);
        } catch (CompletionException noResponse) {
            return false;
        }
    }

    private static void pause() {
        try {
            Thread.sleep(POLL_MS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(interrupted);
        }
    }

    @Override
    public int getLeaderBrokerId(TopicPartition partition) {
        return serving()
                .get(0)
                .leader(partition.topic(), partition.partition())
                .orElseThrow(() -> new IllegalStateException(partition + " has no leader"));
    }

    /** Waits until all brokers that serve know each other. */
    @Override
    public void waitForReadyBrokers() {
        Set<Integer> ids = serving().stream().map(ClusterBroker::id).collect(Collectors.toSet());
        awaitAll("brokers " + ids, broker -> broker.metadata().brokers().stream()
                .map(known -> known.nodeId())
                .collect(Collectors.toSet())
                .containsAll(ids));
    }

    /** Waits until all brokers that serve know the same topics, with the same leaders and replicas. */
    @Override
    public void ensureConsistentMetadata() {
        awaitAll("the same metadata as all others", broker -> serving().stream()
                .map(other -> other.metadata().topics())
                .allMatch(broker.metadata().topics()::equals));
    }

    @Override
    public void ensureConsistentMetadata(Collection<KafkaBroker> ofBrokers, Collection<ControllerServer> controllers) {
        ensureConsistentMetadata();
    }

    @Override
    public Map<Integer, KafkaBroker> brokers() {
        return brokers.values().stream()
                .collect(Collectors.toMap(ClusterBroker::id, broker -> BrokerHandle.of(this, broker)));
    }

    @Override
    public Map<Integer, ControllerServer> controllers() {
        throw BrokerHandle.looksInside();
    }

    @Override
    public Set<Integer> controllerIds() {
        return brokers.keySet();
    }

    @Override
    public ListenerName controllerListenerName() {
        throw BrokerHandle.looksInside();
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
}
