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
import io.journalq.server.directory.DataDirectories;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.ShutdownMarker;
import io.journalq.server.journal.ShutdownMarker.LastEnd;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.MetadataMachine;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens the metadata log of a broker: a journal of its own, or the log of a quorum if {@code quorum.listener} is set. The
 * first start with this setting founds a quorum with the metadata that the broker has. Used by the thread that opens the
 * broker.
 */
final class MetadataLogOpener {
    private static final Logger log = LoggerFactory.getLogger(MetadataLogOpener.class);

    private final BrokerConfig config;
    private final Clock clock;
    private final Executor blockingPool;
    private final Supplier<Uuid> ids;
    private final DataDirectories directories;
    private final FileStore store;
    private final Path directory;

    /** Waits for a write to the metadata log. */
    interface Waiting {
        void await(CompletableFuture<Void> written) throws IOException;
    }

    MetadataLogOpener(
            BrokerConfig config,
            DataDirectories directories,
            FileStore store,
            Clock clock,
            Executor blockingPool,
            Supplier<Uuid> ids) {
        this.config = config;
        this.directories = directories;
        this.store = store;
        this.clock = clock;
        this.blockingPool = blockingPool;
        this.ids = ids;
        this.directory = config.dataDirectories().get(0);
    }

    /**
     * Opens the log.
     *
     * @param scratch a machine without state, which is not charged for it
     * @throws IOException when the log cannot be read or written, or is not the one that the configuration asks for. The
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
        QuorumProvider.Voter voter = new QuorumProvider.Voter(
                config.get(BrokerSettings.NODE_ID),
                listener.get().host(),
                listener.get().port(),
                directory,
                store,
                clock,
                PooledByteBufAllocator.DEFAULT);
        if (!votes) {
            found(provider, voter, scratch, waiting);
        }
        return provider.log(voter, votes && ShutdownMarker.lastEnd(store, directory) == LastEnd.SYSTEM_DOWN);
    }

    private MetadataLog local() throws IOException {
        Journal journal = Journal.openWhole(
                store, directory.resolve(BrokerCore.METADATA_DIRECTORY), LocalMetadataLog.JOURNAL_CONFIG, blockingPool);
        return new LocalMetadataLog(config.get(BrokerSettings.NODE_ID), journal, clock, PooledByteBufAllocator.DEFAULT);
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
                throw new IOException("cannot write the identity of the data directory " + directory
                        + ", and a voter of a metadata quorum needs one; free space on the disk or repair it");
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
