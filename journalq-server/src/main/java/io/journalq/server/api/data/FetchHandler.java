package io.journalq.server.api.data;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.api.peer.PeerGate;
import io.journalq.server.loop.Limit;
import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.metadata.BrokerImage;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.security.Right;
import io.journalq.server.shard.Shards;
import io.journalq.server.shard.healing.DamageListener;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

/**
 * Fetch, versions 4 to 18: records from an offset, as whole batches in the format of the journal.
 * <ul>
 * <li>Sessions (KIP-227) belong to their connection. The id of another connection's session is not found, and the
 *     client begins a new session.
 * <li>A fetch that finds less than its minimum size is parked until its wait time has passed, or appends wake it. The
 *     first batch is returned even if it exceeds the limits (KIP-74).
 * <li>Topics are named up to version 12, and identified by id from version 13 (KIP-516).
 * <li>Leader epochs are checked (KIP-320), and diverging epochs are reported (KIP-595).
 * <li>Read-committed consumers read up to the last stable offset. The response lists the aborted transactions (KIP-98).
 * <li>From version 11, a consumer names its rack, and the leader names the replica there that it should read from. An
 *     in-sync follower serves consumers up to the high watermark that its leader has told (KIP-392).
 * <li>From version 15, other replicas fetch at the listener of brokers. They read up to the end of the leader's log, and
 *     their fetches acknowledge what they have (KIP-903). They must be the current process of their broker.
 * </ul>
 */
public final class FetchHandler implements Handler<FetchRequest> {
    /** Maximum wait time of a fetch, even if the client requests more. */
    static final int MAX_WAIT_MS = 60_000;

    private static final short FIRST_VERSION_WITH_RACKS = 11;
    private static final short FIRST_VERSION_WITH_TOPIC_IDS = 13;
    private static final int NEW_SESSION_EPOCH = 0;
    private static final int NO_SESSION_EPOCH = -1;

    private final Supplier<MetadataImage> images;
    private final Shards shards;
    private final Executor blockingPool;
    private final int maxResponseSizeBytes;
    private final SessionBudget budget;
    private final DamageListener damage;
    private final PeerGate gate;
    private final NearestReplica nearest;
    private final LeaderHints hints;
    private final Set<FetchSessions> connections = ConcurrentHashMap.newKeySet();
    private volatile boolean stopping;

    /**
     * Serves fetches.
     *
     * @param images supplies the newest image
     * @param hints name other leaders
     * @param blockingPool reads records that are not in memory
     * @param maxResponseSizeBytes maximum size of a response, even if the client requests more, unless a single batch
     *     is larger
     * @param maxSessionPartitions maximum number of partitions of all sessions together
     * @param sessionMemory is charged for sessions
     * @param damage learns of damage
     * @param gate admits the fetches of other replicas; null for a broker that is alone, where they read like consumers
     * @param nearest chooses the replicas of consumers; null if they read from leaders
     */
    FetchHandler(
            Supplier<MetadataImage> images,
            LeaderHints hints,
            Shards shards,
            Executor blockingPool,
            int maxResponseSizeBytes,
            int maxSessionPartitions,
            MemoryAccount sessionMemory,
            DamageListener damage,
            PeerGate gate,
            NearestReplica nearest) {
        this.images = images;
        this.hints = hints;
        this.shards = shards;
        this.blockingPool = blockingPool;
        this.maxResponseSizeBytes = maxResponseSizeBytes;
        this.budget = new SessionBudget(maxSessionPartitions, sessionMemory);
        this.damage = damage;
        this.gate = gate;
        this.nearest = nearest;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.FETCH, 4, 18, AccessRule.asks(Right.READ_TOPIC, Right.CLUSTER_ACTION));
    }

    @Override
    public void handle(RequestContext context, FetchRequest request) {
        ErrorCode refused = gate != null && isReplica(request) ? checkReplica(context, request) : ErrorCode.NONE;
        if (refused != ErrorCode.NONE) {
            context.respond(new FetchResponse().setErrorCode(refused.code()));
            return;
        }
        FetchSessions sessions = context.connectionState(FetchSessions.class, () -> openSessions(context));
        boolean usesTopicIds = context.apiVersion() >= FIRST_VERSION_WITH_TOPIC_IDS;
        int epoch = request.sessionEpoch();
        if (epoch == NO_SESSION_EPOCH || epoch == NEW_SESSION_EPOCH) {
            sessions.end(request.sessionId());
            FetchSession.Growth whole = FetchSession.Growth.of(request);
            boolean remembered = epoch == NEW_SESSION_EPOCH && takeRoom(context, whole);
            FetchSession session = remembered ? sessions.open(usesTopicIds) : sessions.openSessionless(usesTopicIds);
            session.count(remembered ? whole.partitions() : 0);
            fetch(context, request, sessions, session, true);
            return;
        }
        FetchSession session = sessions.find(request.sessionId());
        ErrorCode error = check(session, request, usesTopicIds);
        FetchSession.Growth growth = error == ErrorCode.NONE ? session.growth(request) : null;
        if (error == ErrorCode.NONE && !takeRoom(context, growth)) {
            // The client begins a new session, and this request is served without one.
            sessions.end(request.sessionId());
            error = ErrorCode.FETCH_SESSION_ID_NOT_FOUND;
        }
        if (error == ErrorCode.NONE) {
            session.count(growth.partitions());
            session.advanceEpoch();
            fetch(context, request, sessions, session, false);
        } else {
            context.respond(new FetchResponse().setErrorCode(error.code()));
        }
    }

    private static boolean isReplica(FetchRequest request) {
        return request.replicaState().replicaId() >= 0;
    }

    private ErrorCode checkReplica(RequestContext context, FetchRequest request) {
        if (!gate.admits(context, ApiKey.FETCH, Right.CLUSTER_ACTION)) {
            return ErrorCode.CLUSTER_AUTHORIZATION_FAILED;
        }
        context.exemptFromQuotas();
        BrokerImage broker = images.get().broker(request.replicaState().replicaId());
        // An earlier process of the broker may have had records that this one has lost.
        return broker != null && broker.epoch() == request.replicaState().replicaEpoch()
                ? ErrorCode.NONE
                : ErrorCode.STALE_BROKER_EPOCH;
    }

    private boolean takeRoom(RequestContext context, FetchSession.Growth growth) {
        if (!budget.memory().hasRoom(growth.bytes())) {
            return false;
        }
        boolean taken = growth.partitions() == 0 || budget.take(growth.partitions());
        if (!taken) {
            context.cycle().counters().onLimit(Limit.FETCH_SESSION_PARTITIONS);
        }
        return taken;
    }

    /**
     * Responds to all parked fetches with the available records, and parks no more, because the broker stops. Any
     * thread.
     */
    public void stopWaiting() {
        stopping = true;
        for (FetchSessions sessions : connections) {
            sessions.cycle().execute(sessions::hurry);
        }
    }

    private static ErrorCode check(FetchSession session, FetchRequest request, boolean usesTopicIds) {
        if (session == null) {
            return ErrorCode.FETCH_SESSION_ID_NOT_FOUND;
        }
        if (session.usesTopicIds() != usesTopicIds) {
            return ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR;
        }
        // One request at a time: a client that sends the next one early does not follow the protocol of sessions.
        return request.sessionEpoch() != session.nextEpoch() || session.pending() != null
                ? ErrorCode.INVALID_FETCH_SESSION_EPOCH
                : ErrorCode.NONE;
    }

    private void fetch(
            RequestContext context, FetchRequest request, FetchSessions sessions, FetchSession session, boolean full) {
        session.update(request);
        boolean ofBroker = request.replicaId() >= 0 || isReplica(request);
        if (gate != null) {
            session.setReplica(
                    request.replicaState().replicaId(), request.replicaState().replicaEpoch());
            boolean knowsReplicas = !ofBroker && context.apiVersion() >= FIRST_VERSION_WITH_RACKS;
            session.setReader(knowsReplicas, request.rackId(), knowsReplicas ? nearest : null);
        }
        int maxWaitMs = stopping ? 0 : Math.min(request.maxWaitMs(), MAX_WAIT_MS);
        int maxSizeBytes = Math.min(Math.max(0, request.maxBytes()), maxResponseSizeBytes);
        PendingFetch.Limits limits = new PendingFetch.Limits(request.minBytes(), maxSizeBytes, maxWaitMs);
        FetchResponder responder = new FetchResponder(sessions, blockingPool, hints, damage, full);
        new PendingFetch(context, session, responder, limits, part -> locate(context, ofBroker, part)).start(maxWaitMs);
    }

    private FetchSessions openSessions(RequestContext context) {
        FetchSessions[] self = new FetchSessions[1];
        FetchSessions opened = new FetchSessions(context.cycle(), budget, () -> connections.remove(self[0]));
        self[0] = opened;
        connections.add(opened);
        return opened;
    }

    private static boolean mayRead(RequestContext context, boolean ofBroker, String topic) {
        return ofBroker ? context.allows(Right.CLUSTER_ACTION) : context.allows(Right.READ_TOPIC, topic);
    }

    /**
     * Finds a partition, if the client may read it. Called for each fetch and again when a parked fetch goes on, so that
     * a right that is taken away ends the reads of a session.
     */
    private void locate(RequestContext context, boolean ofBroker, FetchPart part) {
        MetadataImage image = images.get();
        SessionTopic<FetchPart> topic = part.topic();
        TopicImage found = topic.usesId() ? image.topic(topic.resolvedId()) : image.topic(topic.name());
        if ((found != null || !topic.usesId())
                && !mayRead(context, ofBroker, found == null ? topic.name() : found.name())) {
            part.deny();
        } else if (found == null) {
            part.locate(null, topic.usesId() ? ErrorCode.UNKNOWN_TOPIC_ID : ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
        } else if (part.partition() < 0
                || part.partition() >= found.partitions().size()) {
            part.locate(null, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
        } else {
            Uuid id = found.id();
            topic.resolve(id);
            part.locate(shards.shardOf(id, part.partition()), ErrorCode.NONE);
        }
    }
}
