package io.journalq.server.broker;

import io.journalq.common.id.Uuid;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.control.Controller;
import io.journalq.server.control.LocalMetadataLog;
import io.journalq.server.control.MetadataBatch;
import io.journalq.server.control.MetadataLog;
import io.journalq.server.control.MetadataPublisher;
import io.journalq.server.control.MetadataReplica;
import io.journalq.server.control.QuorumProvider;
import io.journalq.server.control.QuorumTls;
import io.journalq.server.control.QuorumVoter;
import io.journalq.server.directory.DataDirectories;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.ShutdownMarker;
import io.journalq.server.journal.ShutdownMarker.LastEnd;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.PrivateFileStore;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.MetadataMachine;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens the metadata log of a broker: a journal of its own, or the log of a quorum if {@code quorum.listener} is set.
 * The first start with this setting founds a quorum with the metadata that the broker has. Used by the thread that
 * opens the broker.
 */
final class MetadataLogOpener {
    /** In the first data directory. */
    static final String METADATA_DIRECTORY = "metadata";

    private static final Logger log = LoggerFactory.getLogger(MetadataLogOpener.class);

    private final BrokerConfig config;
    private final Clock clock;
    private final Executor blockingPool;
    private final Supplier<Uuid> ids;
    private final DataDirectories directories;
    private final FileStore store;
    private final Path directory;
    private final ClusterJoin join;
    private final QuorumTls tls;

    /** Waits for a future, and throws the I/O error with which it fails. */
    interface Waiting {
        void await(CompletableFuture<?> awaited) throws IOException;
    }

    /**
     * Creates the opener.
     *
     * @param join null for a broker that does not join a cluster
     * @param tls of the voters of a quorum; null if their connections are not encrypted
     */
    MetadataLogOpener(
            BrokerConfig config,
            DataDirectories directories,
            FileStore store,
            Clock clock,
            Executor blockingPool,
            Supplier<Uuid> ids,
            ClusterJoin join,
            QuorumTls tls) {
        this.config = config;
        this.directories = directories;
        this.store = store;
        this.clock = clock;
        this.blockingPool = blockingPool;
        this.ids = ids;
        this.join = join;
        this.tls = tls;
        this.directory = config.dataDirectories().get(0);
    }

    /** Examines the data directories of a broker, see {@link DataDirectories#open}. */
    static DataDirectories openDirectories(FileStore store, BrokerConfig config) throws IOException {
        return DataDirectories.open(
                store,
                config.dataDirectories(),
                List.of(METADATA_DIRECTORY, QuorumProvider.DIRECTORY),
                config.get(BrokerSettings.NODE_ID));
    }

    /**
     * Opens the log.
     *
     * @param scratch a machine without state, which is not charged for it
     * @throws IOException when the log cannot be read or written, or is not the one that the configuration asks for.
     *     The
     *     message is one line that says what to do
     */
    MetadataLog open(MetadataMachine scratch, Waiting waiting) throws IOException {
        boolean votes = store.isDirectory(directory.resolve(QuorumProvider.DIRECTORY));
        Optional<ListenerAddress> listener = config.quorumListener();
        if (listener.isEmpty()) {
            if (votes) {
                throw new IOException(
                        "the metadata in " + directory + " belongs to a metadata quorum, and there is no way"
                                + " back; set quorum.listener to the address of this broker in the quorum");
            }
            return local();
        }
        QuorumProvider provider = ServiceLoader.load(QuorumProvider.class)
                .findFirst()
                .orElseThrow(
                        () -> new IOException("quorum.listener is set, and this installation has no metadata quorum;"
                                + " add journalq-quorum to the class path, or remove the setting"));
        ListenerAddress advertised = config.advertisedQuorumListener().orElseThrow();
        QuorumProvider.Voter voter = new QuorumProvider.Voter(
                config.get(BrokerSettings.NODE_ID),
                advertised.host(),
                advertised.port(),
                InetSocketAddress.createUnresolved(
                        listener.get().host(), listener.get().port()),
                tls,
                directory,
                store,
                clock,
                PooledByteBufAllocator.DEFAULT);
        if (join != null && !(votes && provider.hasJoined(voter))) {
            return join(provider, voter, scratch);
        }
        QuorumProvider.Admission admission = null;
        if (join != null) {
            Optional<Uuid> cluster = join.clusterIdIfKnown(voter.nodeId(), config.interBrokerAddress());
            if (cluster.isPresent()) {
                directories.checkJoins(cluster.get().toString());
                admission = admission(provider.identity(voter), cluster.get());
            }
        }
        if (!votes) {
            found(provider, voter, scratch, waiting);
        }
        store.restrict(directory.resolve(QuorumProvider.DIRECTORY));
        store.restrict(directory.resolve(METADATA_DIRECTORY));
        return provider.log(voter, votes && ShutdownMarker.lastEnd(store, directory) == LastEnd.SYSTEM_DOWN, admission);
    }

    /** Null for a broker that votes. One that was removed from the voters while it was down asks to vote again. */
    private QuorumProvider.Admission admission(QuorumVoter self, Uuid clusterId) {
        if (join.votes(self)) {
            return null;
        }
        log.info("this broker was removed from the voters, and asks to vote again: cluster={}", clusterId);
        return () -> join.addVoter(self, clusterId);
    }

    private MetadataLog local() throws IOException {
        Path metadata = directory.resolve(METADATA_DIRECTORY);
        Journal journal = Journal.openWhole(
                new PrivateFileStore(store, metadata), metadata, LocalMetadataLog.JOURNAL_CONFIG, blockingPool);
        return new LocalMetadataLog(config.get(BrokerSettings.NODE_ID), journal, clock, PooledByteBufAllocator.DEFAULT);
    }

    /** Joins a cluster, or goes on with that after a stop. */
    private MetadataLog join(QuorumProvider provider, QuorumProvider.Voter voter, MetadataMachine machine)
            throws IOException {
        try (MetadataLog local = local()) {
            local.open(new MetadataReplica(machine, new MetadataPublisher(Runnable::run)));
        }
        if (machine.isFormatted()) {
            throw new IOException("the data directory " + directory + " holds the metadata of cluster "
                    + machine.clusterId()
                    + ", and a broker with cluster.join must have no data; remove cluster.join, or"
                    + " set an empty directory in data.directories");
        }
        Uuid clusterId = join.clusterId(voter.nodeId(), config.interBrokerAddress());
        directories.checkJoins(clusterId.toString());
        directories.identify(clusterId.toString(), ids);
        Uuid directoryId = directories.firstId();
        if (directoryId == null) {
            throw noIdentity();
        }
        log.info("this broker joins cluster {} as voter {}", clusterId, voter.nodeId());
        return provider.join(
                voter,
                clusterId,
                directoryId,
                () -> join.addVoter(
                        new QuorumVoter(voter.nodeId(), directoryId, voter.host(), voter.port()), clusterId));
    }

    private IOException noIdentity() {
        return new IOException("cannot write the identity of the data directory " + directory
                + ", and a voter of a metadata quorum needs one; free space on the disk or repair it");
    }

    private void found(QuorumProvider provider, QuorumProvider.Voter voter, MetadataMachine machine, Waiting waiting)
            throws IOException {
        MetadataReplica replica = new MetadataReplica(machine, new MetadataPublisher(Runnable::run));
        try (MetadataLog local = local()) {
            local.open(replica);
            Controller.checkNotOfQuorum(machine.image());
            directories.checkCluster(machine.clusterId());
            if (!machine.isFormatted()) {
                waiting.await(local.propose(new MetadataBatch(
                        machine.image().version(), machine.format(ids.get()).records())));
            }
            directories.identify(machine.clusterId(), ids);
            Uuid directoryId = directories.firstId();
            if (directoryId == null) {
                throw noIdentity();
            }
            MetadataImage image = machine.image();
            provider.found(voter, Uuid.parse(image.clusterId()), directoryId, replica, image.version());
            log.info(
                    "this broker has founded a metadata quorum: cluster={} voter={} address={}:{} records={}",
                    image.clusterId(),
                    voter.nodeId(),
                    voter.host(),
                    voter.port(),
                    image.version());
        }
    }
}
