package io.journalq.conformance;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.message.MetadataRequest;
import io.journalq.common.protocol.message.MetadataResponse;
import io.journalq.common.protocol.message.MetadataResponse.MetadataResponsePartition;
import io.journalq.common.protocol.message.MetadataResponse.MetadataResponseTopic;
import io.journalq.server.broker.Broker;
import io.journalq.server.broker.StartException;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigException;
import io.journalq.server.config.ConfigOrigin;
import io.journalq.server.peer.PeerChannels;
import io.journalq.server.process.LoopbackPorts;
import io.journalq.server.shard.partition.PartitionFiles.StoredPartition;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * One broker of a {@link JournalQCluster}, in this process. Its addresses and its data directory stay the same when it is
 * started again. Any thread.
 */
final class ClusterBroker {
    private static final String HOST = "localhost";
    private static final int METADATA_VERSION = 12;
    private static final int REQUEST_TIMEOUT_MS = 30_000;
    private static final int NO_LEADER = -1;

    private final int id;
    private final int port = LoopbackPorts.next();
    private final int quorumPort = LoopbackPorts.next();
    private final BrokerConfig settings;
    private final Path directory;
    private final PeerChannels channels;
    /** Null while it is stopped. */
    private volatile Run run;

    private volatile boolean startedBefore;

    /** From a start to a stop. */
    private static final class Run {
        /** The broker, which may still start. */
        private final CompletableFuture<Broker> broker = new CompletableFuture<>();

        private final CompletableFuture<Void> serving = new CompletableFuture<>();

        void start(BrokerConfig config) {
            try {
                Broker.start(config, broker::complete);
                serving.complete(null);
            } catch (StartException | RuntimeException failure) {
                broker.completeExceptionally(failure);
                serving.completeExceptionally(failure);
            }
        }

        void stop() {
            try {
                broker.join().close();
            } catch (CompletionException neverStarted) {
                // It has nothing to close.
            }
        }
    }

    /**
     * Prepares a broker.
     *
     * @param settings all but the addresses and directories
     * @param directory for its data
     * @param channels for requests to it
     */
    ClusterBroker(int id, BrokerConfig settings, Path directory, PeerChannels channels) {
        this.id = id;
        this.settings = settings;
        this.directory = directory;
        this.channels = channels;
    }

    int id() {
        return id;
    }

    int port() {
        return port;
    }

    String address() {
        return HOST + ":" + port;
    }

    /** Its data directory. */
    Path directory() {
        return directory;
    }

    /** Whether it has been started once, so that others can join it. */
    boolean startedBefore() {
        return startedBefore;
    }

    boolean isStopped() {
        return run == null;
    }

    /** Whether it serves clients. */
    boolean isServing() {
        Run current = run;
        return current != null && current.serving.isDone() && !current.serving.isCompletedExceptionally();
    }

    /**
     * Begins to start it. Nothing happens if it runs already.
     *
     * @param listener name of the listener for clients
     * @param join addresses of other brokers, separated by commas; null for a broker that is alone
     */
    synchronized void start(String listener, String join) {
        if (run != null) {
            return;
        }
        Run started = new Run();
        BrokerConfig config = config(listener, join);
        Thread thread = new Thread(() -> started.start(config), "start-broker-" + id);
        thread.setDaemon(true);
        thread.start();
        run = started;
        startedBefore = true;
    }

    private BrokerConfig config(String listener, String join) {
        try {
            BrokerConfig config = with(settings, "node.id", Integer.toString(id));
            config = with(config, "listeners", listener + "://" + address());
            config = with(config, "listener.security.protocol.map", listener + ":PLAINTEXT");
            config = with(config, "admin.listener", "");
            config = with(config, "gateway.listener", "");
            config = with(config, "data.directories", directory.toString());
            if (join != null) {
                config = with(config, "quorum.listener", HOST + ":" + quorumPort);
                config = with(config, "cluster.join", join);
            }
            return config;
        } catch (ConfigException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static BrokerConfig with(BrokerConfig config, String name, String value) throws ConfigException {
        return config.with(name, value, ConfigOrigin.COMMAND_LINE);
    }

    /**
     * Waits until it serves clients.
     *
     * @throws CompletionException if it cannot start
     */
    void awaitServing() {
        Run current = run;
        if (current != null) {
            current.serving.join();
        }
    }

    /** Stops it, also while it starts. */
    synchronized void stop() {
        if (run != null) {
            run.stop();
            run = null;
        }
    }

    /** What this broker tells clients about the cluster and all topics. */
    MetadataResponse metadata() {
        return (MetadataResponse)
                channels.send(HOST, port, new MetadataRequest().setTopics(null), METADATA_VERSION, REQUEST_TIMEOUT_MS)
                        .join();
    }

    /** A topic as this broker knows it. */
    Optional<MetadataResponseTopic> topic(String name) {
        return metadata().topics().stream()
                .filter(topic -> topic.name().equals(name))
                .findFirst();
    }

    /** Whether this broker knows a topic with this number of partitions, each with a leader. */
    boolean knows(String name, int partitions) {
        return topic(name)
                .filter(topic -> topic.partitions().size() == partitions
                        && topic.partitions().stream().allMatch(partition -> partition.leaderId() != NO_LEADER))
                .isPresent();
    }

    /** The leader of a partition as this broker knows it. */
    Optional<Integer> leader(String name, int partition) {
        return topic(name).flatMap(topic -> topic.partitions().stream()
                .filter(candidate -> candidate.partitionIndex() == partition)
                .map(MetadataResponsePartition::leaderId)
                .filter(leader -> leader != NO_LEADER)
                .findFirst());
    }

    /** Whether its data directory has files of a partition. */
    boolean stores(Uuid topicId, int partition) {
        return Files.isDirectory(directory.resolve(StoredPartition.directoryName(topicId, partition)));
    }

    /** Whether its data directory has files of topics that it does not know. */
    boolean storesDeletedTopics() {
        Set<String> known = metadata().topics().stream()
                .map(topic -> topic.topicId().toString())
                .collect(Collectors.toSet());
        int idLength = Uuid.ZERO.toString().length();
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.length() > idLength && name.charAt(idLength) == '-')
                    .anyMatch(name -> !known.contains(name.substring(0, idLength)));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
