package io.journalq.server.api.data;

import io.journalq.server.api.ClusterBrokers;
import io.journalq.server.api.HandlerRegistry;
import io.journalq.server.api.RefusalLog;
import io.journalq.server.api.peer.PeerGate;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.config.ReplicationSettings;
import io.journalq.server.group.GroupMachine;
import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.shard.Shards;
import io.journalq.server.shard.coordinator.Coordinators;
import io.journalq.server.shard.healing.DamageListener;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

/** Registers the handlers of the APIs that read and write partitions. */
public final class DataHandlers {
    private DataHandlers() {}

    /**
     * Registers the handlers.
     *
     * @param newest supplies the last image of the log, which may not be published yet
     * @param transactions admits the batches of transactions
     * @param groups hold the offsets that were committed in transactions
     * @param sessionMemory is charged for fetch sessions
     * @param damage learns of damage that reads meet
     * @param gate admits the fetches of other replicas; null for a broker that is alone
     * @return the handler of fetches, because parked fetches end when the broker stops
     */
    public static FetchHandler register(
            HandlerRegistry registry,
            BrokerConfig config,
            ClusterBrokers brokers,
            Supplier<MetadataImage> newest,
            Shards shards,
            Executor blockingPool,
            TransactionGate transactions,
            Coordinators<GroupMachine> groups,
            RefusalLog refusals,
            MemoryAccount sessionMemory,
            DamageListener damage,
            PeerGate gate) {
        Supplier<MetadataImage> images = brokers.images();
        LeaderHints hints = new LeaderHints(new ClusterBrokers(brokers.nodeId(), newest));
        FetchHandler fetch = new FetchHandler(
                images,
                hints,
                shards,
                blockingPool,
                config.get(BrokerSettings.FETCH_MAX_BYTES),
                config.get(BrokerSettings.FETCH_SESSIONS_MAX_PARTITIONS),
                sessionMemory,
                damage,
                gate,
                gate != null && ReplicationSettings.isRackAware(config.get(ReplicationSettings.REPLICA_SELECTOR_CLASS))
                        ? new NearestReplica(brokers)
                        : null);
        registry.register(new ProduceHandler(images, hints, shards, transactions, refusals));
        registry.register(fetch);
        registry.register(new ListOffsetsHandler(images, shards, blockingPool));
        registry.register(new DeleteRecordsHandler(images, shards));
        registry.register(new OffsetForLeaderEpochHandler(images, shards));
        registry.register(new WriteTxnMarkersHandler(images, shards, groups));
        registry.register(new DescribeProducersHandler(images, shards));
        registry.register(new ReadReplicaHandler(images, shards, blockingPool, damage, gate));
        return fetch;
    }
}
