package io.journalq.server.shard.coordinator.transaction;

import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.CoordinatorSettings;
import io.journalq.server.group.GroupMachine;
import io.journalq.server.memory.MemoryBudget;
import io.journalq.server.memory.MemoryPart;
import io.journalq.server.memory.StatePart;
import io.journalq.server.metadata.InternalTopics;
import io.journalq.server.metadata.MetadataDelta;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.peer.PeerRequests;
import io.journalq.server.shard.coordinator.CoordinatorKind;
import io.journalq.server.shard.coordinator.CoordinatorKind.LoadListener;
import io.journalq.server.shard.coordinator.Coordinators;
import io.journalq.server.shard.coordinator.Coordinators.CoordinatorResources;
import io.journalq.server.transaction.Markers.MarkerRequest;
import io.journalq.server.transaction.ProducerIdSource;
import io.journalq.server.transaction.TransactionLimits;
import io.journalq.server.transaction.TransactionMachine;
import io.journalq.server.transaction.TransactionRecords;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The transaction coordinators, with the producer ids that they assign and the writer of their markers. Any thread,
 * except that {@link #follow} is called by one thread at a time, which must not be a loop.
 */
public final class TransactionCoordinators {
    private static final Logger log = LoggerFactory.getLogger(TransactionCoordinators.class);

    private final ProducerIds producerIds;
    private final Coordinators<TransactionMachine> coordinators;
    private final MarkerWriter markers;
    /**
     * What the coordinators follow, which may not be published yet. In the last published image, topics can be missing
     * that take part in the transactions of a coordinator that has moved here.
     */
    private volatile MetadataImage followed = MetadataImage.EMPTY;

    /**
     * Creates an instance without coordinators; {@link #follow} creates them once their topic exists.
     *
     * @param memory charged with transactions
     * @param groups informed of the end of transactions with offsets
     * @param peers sends markers to other brokers; null for a broker that is alone
     */
    public TransactionCoordinators(
            BrokerConfig config,
            CoordinatorResources resources,
            MemoryBudget memory,
            ProducerIds producerIds,
            Coordinators<GroupMachine> groups,
            PeerRequests peers) {
        this.producerIds = producerIds;
        TransactionLimits limits = new TransactionLimits(
                config.get(CoordinatorSettings.TRANSACTION_MAX_TIMEOUT_MS),
                config.get(CoordinatorSettings.TRANSACTIONAL_ID_EXPIRATION_MS));
        MemoryPart ofTransactions = memory.part(StatePart.TRANSACTIONS);
        this.coordinators = new Coordinators<>(
                new CoordinatorKind<>(
                        InternalTopics.TRANSACTIONS,
                        TransactionRecords.TYPES,
                        (partition, outbox) -> new TransactionMachine(
                                outbox,
                                this::writeMarkers,
                                this::requestId,
                                limits,
                                resources.shards()::retentionTime,
                                ofTransactions.newAccount(partition))),
                resources,
                new LoadListener<>() {
                    @Override
                    public void onLoaded(int partition, TransactionMachine machine) {
                        // The machine itself continues what was decided.
                    }

                    @Override
                    public void onDropped(int partition) {
                        var unused = ofTransactions.newAccount(partition);
                    }
                });
        this.markers = new MarkerWriter(() -> followed, resources.shards(), groups, coordinators, peers);
    }

    public Coordinators<TransactionMachine> coordinators() {
        return coordinators;
    }

    public ProducerIds producerIds() {
        return producerIds;
    }

    private void writeMarkers(MarkerRequest request) {
        markers.write(request);
    }

    /** Requests a producer id. If the machine is lost in the meantime, the steps that wait for the id are lost too. */
    private void requestId(String transactionalId) {
        var unused = producerIds.next().whenComplete((id, failure) -> {
            if (failure != null) {
                log.error("cannot allocate producer ids", failure);
            }
            long found = failure == null ? id : ProducerIdSource.NONE;
            coordinators.submitLater(
                    transactionalId,
                    (machine, nowMs, replies) -> machine.onProducerId(transactionalId, found, nowMs),
                    lost -> {});
        });
    }

    /**
     * Loads the coordinators that a change of the metadata adds, when the shards have opened their partitions. Completed
     * when that is done.
     */
    public CompletableFuture<Void> follow(MetadataDelta delta) {
        followed = delta.now();
        return coordinators.follow(delta);
    }

    /** Ends all machines. Completed when that is done. */
    public CompletableFuture<Void> close() {
        markers.close();
        return coordinators.close();
    }
}
