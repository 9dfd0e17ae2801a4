package io.journalq.client.internal.fetch;

import io.journalq.client.error.JournalQException;
import io.journalq.client.internal.network.BrokerConnection;
import io.journalq.client.internal.network.Call;
import io.journalq.client.internal.network.Cluster;
import io.journalq.client.internal.network.ClusterView;
import io.journalq.client.internal.network.Errors;
import io.journalq.client.internal.network.FailureLog;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/**
 * The part of a consumer that runs on the event loop. Keeps one Fetch request per broker in flight: it sends the next
 * one as soon as the response arrives, unless the application falls behind. It reads only batch headers, to find the
 * next offset. Belongs to the event loop, except for methods that say otherwise.
 */
final class FetchLoop implements Cluster.Listener {
    /**
     * The maximum number of responses of one broker that wait for the application. It bounds the memory of the
     * consumer.
     */
    private static final int MAX_UNCONSUMED = 2;

    /** The newest version that identifies topics by name. Later versions use only ids. */
    private static final short NEWEST_VERSION = 12;

    private static final short FIRST_VERSION_WITH_RACKS = 11;

    /** Time after which the leader is asked again which replica it prefers. */
    private static final long PREFERENCE_NANOS = TimeUnit.MINUTES.toNanos(5);

    /** Time for which leaders are asked for records, because a preferred replica has failed. */
    private static final long NO_RACK_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final ConsumerConfig config;
    private final Consumer<FetchResult> handOver;
    private final Map<TopicPartition, FetchTarget> targets = new HashMap<>();
    private final Map<String, Integer> targetsByTopic = new HashMap<>();
    private final Map<Integer, BrokerFetchSession> sessions = new HashMap<>();
    private Cluster cluster;
    /** Before this time, requests do not name the rack, so that leaders respond with records. */
    private long noRackUntilNanos = System.nanoTime();

    final LongAdder fetches = new LongAdder();
    final LongAdder fetchedBytes = new LongAdder();

    /**
     * Creates a loop without partitions.
     *
     * @param handOver receives each response that has data or errors, on the event loop
     */
    FetchLoop(ConsumerConfig config, Consumer<FetchResult> handOver) {
        this.config = config;
        this.handOver = handOver;
    }

    void setCluster(Cluster cluster) {
        this.cluster = cluster;
    }

    /**
     * Sets the position of a partition. Responses to earlier requests for the partition are ignored.
     *
     * @param lastFetchedEpoch the leader epoch of the last batch before {@code offset}, or -1 if unknown
     */
    void start(TopicPartition id, long offset, int lastFetchedEpoch, int generation) {
        FetchTarget target = targets.get(id);
        if (target == null) {
            target = new FetchTarget(id);
            targets.put(id, target);
            targetsByTopic.merge(id.topic(), 1, Integer::sum);
        }
        target.offset = offset;
        target.lastFetchedEpoch = lastFetchedEpoch;
        target.generation = generation;
        target.stopped = false;
        target.blocked = false;
        cluster.metadata().track(id.topic());
        place(target);
        if (target.node >= 0) {
            sessions.get(target.node).put(target);
        }
    }

    void stop(TopicPartition id) {
        FetchTarget target = targets.remove(id);
        if (target == null) {
            return;
        }
        if (target.node >= 0) {
            sessions.get(target.node).remove(target);
        }
        if (targetsByTopic.merge(id.topic(), -1, Integer::sum) == 0) {
            targetsByTopic.remove(id.topic());
            cluster.metadata().untrack(id.topic());
        }
    }

    /** Sends all requests that can be sent. */
    void fetchAll() {
        sessions.values().forEach(this::fetch);
    }

    /** Notes that the application has consumed a response. Any thread. */
    void consumed(BrokerFetchSession session) {
        session.unconsumed.decrementAndGet();
        if (session.full) {
            cluster.execute(() -> fetch(session));
        }
    }

    @Override
    public void onView(ClusterView view) {
        for (FetchTarget target : targets.values()) {
            // A pause spares a leader that has refused. It ends when another one leads.
            target.blocked &= view.leaderEpoch(target.id.topic(), target.id.partition()) <= target.leaderEpoch;
            place(target);
        }
        fetchAll();
    }

    @Override
    public void onConnectionReady(BrokerConnection connection) {
        BrokerFetchSession session = sessions.get(connection.nodeId());
        if (session != null) {
            fetch(session);
        }
    }

    @Override
    public void onTick(long nowNanos) {
        for (FetchTarget target : targets.values()) {
            if (target.preferredReplica >= 0 && nowNanos - target.preferredUntilNanos >= 0) {
                target.preferredReplica = -1;
                place(target);
            }
            if (target.blocked && nowNanos - target.blockedUntilNanos >= 0) {
                target.blocked = false;
                place(target);
            }
        }
        fetchAll();
    }

    @Override
    public void onConnectionClosed(BrokerConnection connection) {
        leaveSoon(connection.nodeId());
    }

    /**
     * A broker has failed: what is read there although other brokers lead it is read from the leaders. In a task of its
     * own, because connections also end while sessions are visited.
     */
    private void leaveSoon(int nodeId) {
        if (!config.rack().isEmpty() && !cluster.isClosed()) {
            cluster.execute(() -> leave(nodeId));
        }
    }

    private void leave(int nodeId) {
        boolean left = false;
        for (FetchTarget target : targets.values()) {
            if (target.preferredReplica == nodeId) {
                left = true;
                leaveReplica(target);
            }
        }
        if (left) {
            fetchAll();
        }
    }

    /** Reads a partition from its leader, because the preferred replica has failed or refuses. The leader may not know yet. */
    private void leaveReplica(FetchTarget target) {
        target.preferredReplica = -1;
        noRackUntilNanos = System.nanoTime() + NO_RACK_NANOS;
        cluster.metadata().requestUpdate();
        place(target);
    }

    private String rack() {
        return System.nanoTime() - noRackUntilNanos >= 0 ? config.rack() : "";
    }

    /** Moves a partition to the session of its current leader, or of the replica that this one prefers. */
    private void place(FetchTarget target) {
        ClusterView view = cluster.metadata().view();
        int leader = target.blocked || target.stopped ? -1 : view.leader(target.id.topic(), target.id.partition());
        int node = leader;
        if (leader >= 0 && target.preferredReplica >= 0) {
            if (view.brokers().containsKey(target.preferredReplica)) {
                node = target.preferredReplica;
            } else {
                target.preferredReplica = -1;
            }
        }
        int leaderEpoch = view.leaderEpoch(target.id.topic(), target.id.partition());
        boolean sameEpoch = target.leaderEpoch == leaderEpoch;
        target.leaderEpoch = leaderEpoch;
        if (target.node >= 0 && target.node == node) {
            if (!sameEpoch) {
                sessions.get(node).put(target);
            }
            return;
        }
        if (target.node >= 0) {
            sessions.get(target.node).remove(target);
        }
        if (node >= 0) {
            sessions.computeIfAbsent(node, BrokerFetchSession::new).put(target);
        } else if (!target.blocked && !target.stopped) {
            reportIfMissing(target.id);
            cluster.metadata().requestUpdate();
        }
    }

    private void reportIfMissing(TopicPartition id) {
        ClusterView.Topic topic = cluster.metadata().view().topics().get(id.topic());
        if (topic != null && id.partition() >= topic.partitionCount()) {
            cluster.failureLog()
                    .report(FailureLog.Cause.UNKNOWN_TOPIC, id.toString(), topic.noPartition(id.partition()));
        }
    }

    private void fetch(BrokerFetchSession session) {
        if (session.inFlight || session.isEmpty() || cluster.isClosed()) {
            return;
        }
        if (session.unconsumed.get() >= MAX_UNCONSUMED) {
            session.full = true;
            if (session.unconsumed.get() >= MAX_UNCONSUMED) {
                return;
            }
        }
        session.full = false;
        BrokerConnection connection = cluster.connection(session.nodeId);
        if (connection == null || !connection.isReady()) {
            // The connection reports when it is ready. If it has broken, the tick opens a new one.
            return;
        }
        session.inFlight = true;
        connection.send(new FetchCall(session));
        connection.flush();
    }

    private void pause(FetchTarget target) {
        target.blocked = true;
        target.blockedUntilNanos = System.nanoTime()
                + TimeUnit.MILLISECONDS.toNanos(config.client().retryBackoff().initialMs());
        place(target);
    }

    private void accept(BrokerFetchSession session, FetchResponse response, ByteBuf frame) {
        List<FetchResult.Part> parts = new ArrayList<>();
        for (FetchResponse.FetchableTopicResponse topic : response.responses()) {
            for (FetchResponse.PartitionData data : topic.partitions()) {
                FetchTarget target = targets.get(new TopicPartition(topic.topic(), data.partitionIndex()));
                if (target != null && target.isCurrentFor(session)) {
                    accept(session, target, data, parts);
                }
            }
        }
        if (!parts.isEmpty()) {
            session.unconsumed.incrementAndGet();
            handOver.accept(new FetchResult(session, frame.retain(), parts));
        }
        nameLeaders(response);
    }

    /** Moves partitions to the leaders that the broker names instead of itself. */
    private void nameLeaders(FetchResponse response) {
        for (FetchResponse.FetchableTopicResponse topic : response.responses()) {
            for (FetchResponse.PartitionData data : topic.partitions()) {
                FetchResponse.LeaderIdAndEpoch leader = data.currentLeader();
                // Responses of these versions contain no addresses.
                cluster.metadata()
                        .onNamedLeader(
                                topic.topic(), data.partitionIndex(), leader.leaderId(), leader.leaderEpoch(), null);
            }
        }
    }

    private void accept(
            BrokerFetchSession session,
            FetchTarget target,
            FetchResponse.PartitionData data,
            List<FetchResult.Part> parts) {
        ErrorCode error = ErrorCode.of(data.errorCode());
        boolean diverges = error == ErrorCode.NONE && data.divergingEpoch().epoch() >= 0;
        if ((error != ErrorCode.NONE || diverges) && target.preferredReplica == session.nodeId) {
            // Also if the offset is out of range, or the logs diverge: the leader knows whether that is so.
            leaveReplica(target);
        } else if (diverges) {
            parts.add(part(target, error, null, List.of(), data.divergingEpoch()));
            suspend(target);
        } else if (error == ErrorCode.NONE && data.preferredReadReplica() >= 0) {
            prefer(target, data.preferredReadReplica());
        } else if (error == ErrorCode.NONE) {
            ByteBuf batches = data.records() == null ? null : data.records().buffer();
            if (batches != null && batches.isReadable()) {
                fetchedBytes.add(batches.readableBytes());
                List<FetchResponse.AbortedTransaction> aborted =
                        data.abortedTransactions() == null ? List.of() : data.abortedTransactions();
                parts.add(part(target, error, batches, aborted, null));
                advance(target, batches);
                session.put(target);
            }
        } else if (error.retriable()) {
            report(target.id, error);
            cluster.metadata().requestUpdate();
            pause(target);
        } else {
            if (error != ErrorCode.OFFSET_OUT_OF_RANGE) {
                report(target.id, error);
            }
            parts.add(part(target, error, null, List.of(), null));
            suspend(target);
        }
    }

    private static FetchResult.Part part(
            FetchTarget target,
            ErrorCode error,
            ByteBuf batches,
            List<FetchResponse.AbortedTransaction> aborted,
            FetchResponse.EpochEndOffset diverging) {
        return new FetchResult.Part(target.id, target.generation, target.offset, error, batches, aborted, diverging);
    }

    /** Stops reading until the thread of the consumer sets a position. */
    private void suspend(FetchTarget target) {
        target.stopped = true;
        place(target);
    }

    private void prefer(FetchTarget target, int replica) {
        target.preferredReplica = replica;
        target.preferredUntilNanos = System.nanoTime() + PREFERENCE_NANOS;
        if (!cluster.metadata().view().brokers().containsKey(replica)) {
            cluster.metadata().requestUpdate();
            pause(target);
        } else {
            place(target);
        }
    }

    private void report(TopicPartition id, ErrorCode error) {
        cluster.failureLog()
                .report(FailureLog.Cause.FAILED_FETCH, "topic " + id.topic(), Errors.of(error, id.toString(), null));
    }

    /**
     * Moves the next request behind the last complete batch, according to the headers. The consumer verifies the batches
     * later.
     */
    private static void advance(FetchTarget target, ByteBuf batches) {
        int at = batches.readerIndex();
        int end = batches.writerIndex();
        while (end - at >= RecordBatch.HEADER_SIZE_BYTES) {
            int lengthBytes = batches.getInt(at + RecordBatch.LENGTH);
            if (lengthBytes < RecordBatch.HEADER_SIZE_BYTES - RecordBatch.LOG_OVERHEAD_BYTES
                    || lengthBytes > end - at - RecordBatch.LOG_OVERHEAD_BYTES) {
                break;
            }
            long nextOffset = RecordBatch.nextOffset(batches, at);
            if (nextOffset > target.offset) {
                target.offset = nextOffset;
                target.lastFetchedEpoch = RecordBatch.leaderEpoch(batches, at);
            }
            at += lengthBytes + RecordBatch.LOG_OVERHEAD_BYTES;
        }
    }

    /** A Fetch request. */
    private final class FetchCall extends Call {
        private final BrokerFetchSession session;

        private FetchCall(BrokerFetchSession session) {
            super(ApiKey.FETCH, (long) config.client().requestTimeoutMs() + config.fetchMaxWaitMs());
            this.session = session;
        }

        @Override
        protected short newestVersion() {
            return NEWEST_VERSION;
        }

        @Override
        protected ApiMessage request(short version) {
            FetchRequest request = new FetchRequest()
                    .setMaxWaitMs(config.fetchMaxWaitMs())
                    .setIsolationLevel(config.isolationLevel())
                    .setMinBytes(config.fetchMinBytes())
                    .setMaxBytes(config.fetchMaxBytes());
            if (version >= FIRST_VERSION_WITH_RACKS) {
                request.setRackId(rack());
            }
            session.fill(request, config.partitionMaxBytes(), version);
            return request;
        }

        @Override
        protected void onResponse(ApiMessage message, ByteBuf frame, short version) {
            FetchResponse response = (FetchResponse) message;
            session.inFlight = false;
            fetches.increment();
            ErrorCode error = ErrorCode.of(response.errorCode());
            if (error == ErrorCode.NONE) {
                session.accepted(response.sessionId());
                accept(session, response, frame);
                if (config.rack().isEmpty()) {
                    fetch(session);
                } else {
                    // Partitions may have moved to other sessions.
                    fetchAll();
                }
                return;
            }
            session.reset();
            if (error != ErrorCode.FETCH_SESSION_ID_NOT_FOUND && error != ErrorCode.INVALID_FETCH_SESSION_EPOCH) {
                report(Errors.of(error, "fetch", null));
                cluster.metadata().requestUpdate();
                return;
            }
            // Brokers forget sessions. The next request lists all partitions.
            cluster.failureLog().count(FailureLog.Cause.FAILED_FETCH);
            fetch(session);
        }

        @Override
        protected void onFailure(JournalQException cause) {
            session.inFlight = false;
            report(cause);
            session.reset();
            cluster.metadata().requestUpdate();
            leaveSoon(session.nodeId);
        }

        private void report(JournalQException cause) {
            cluster.failureLog().report(FailureLog.Cause.FAILED_FETCH, "broker " + session.nodeId, cause);
        }
    }
}
