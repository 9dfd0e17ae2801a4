package io.journalq.server.api.peer;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.server.api.Handler;
import io.journalq.server.api.HandlerRegistry;
import io.journalq.server.control.Controller;
import io.journalq.server.metadata.MetadataImage;
import java.util.List;
import java.util.function.Supplier;

/** Registers what a broker of a cluster serves besides the APIs for clients. */
public final class PeerHandlers {
    /** The APIs whose requests only the controller can serve without delay. A client may send them to any broker. */
    private static final List<ApiKey> FORWARDED = List.of(
            ApiKey.CREATE_TOPICS,
            ApiKey.DELETE_TOPICS,
            ApiKey.CREATE_PARTITIONS,
            ApiKey.ALTER_CONFIGS,
            ApiKey.INCREMENTAL_ALTER_CONFIGS,
            ApiKey.ALTER_CLIENT_QUOTAS,
            ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
            ApiKey.UPDATE_FEATURES,
            ApiKey.ELECT_LEADERS,
            ApiKey.ALTER_PARTITION_REASSIGNMENTS,
            ApiKey.LIST_PARTITION_REASSIGNMENTS,
            ApiKey.UNREGISTER_BROKER,
            ApiKey.ADD_RAFT_VOTER,
            ApiKey.REMOVE_RAFT_VOTER,
            ApiKey.DESCRIBE_QUORUM,
            ApiKey.CREATE_ACLS,
            ApiKey.DELETE_ACLS);

    private PeerHandlers() {}

    /**
     * Registers the handlers, after all others.
     *
     * @param producerIdBlockSize number of producer ids that a broker gets at a time
     * @param maxEntries maximum number of entries in a request
     */
    public static void register(
            HandlerRegistry registry,
            Supplier<MetadataImage> images,
            Controller controller,
            PeerGate gate,
            ForwardingHandler.Forwarder forwarder,
            int producerIdBlockSize,
            int maxEntries) {
        registry.register(new BrokerRegistrationHandler(images, controller, gate));
        registry.register(new BrokerHeartbeatHandler(controller, gate));
        registry.register(new AllocateProducerIdsHandler(controller, gate, producerIdBlockSize));
        registry.register(new AlterPartitionHandler(controller, gate));
        registry.register(new AssignReplicasToDirsHandler(controller, gate));
        registry.register(new EnvelopeHandler(registry, gate, maxEntries));
        FORWARDED.forEach(key -> registry.replace(key, handler -> forwarding(handler, forwarder)));
    }

    private static <Q extends ApiMessage> Handler<Q> forwarding(
            Handler<Q> handler, ForwardingHandler.Forwarder forwarder) {
        return new ForwardingHandler<>(handler, forwarder);
    }
}
