package io.journalq.client.fetch;

import io.journalq.client.JournalQException;
import io.journalq.client.network.BrokerConnection;
import io.journalq.client.network.Call;
import io.journalq.client.network.Cluster;
import io.journalq.client.network.ClusterView;
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
 * The reading side of a consumer on its event loop: one Fetch request at a time per broker, the next one sent as soon as
 * the answer is there, as long as the application keeps up. It steps over batch headers only to know what to ask for
 * next. Everything belongs to the event loop, except where a method says otherwise.
 */
final class FetchLoop implements Cluster.Listener {
    /** Answers of one broker that may wait for the application; with them its memory is bounded. */
    private static final int MAX_UNCONSUMED = 2;

    /** Newest version that names topics; later ones know them by id only. */
    private static final short NEWEST_VERSION = 12;

    private static final short FIRST_VERSION_WITH_SESSIONS = 7;

    private final ConsumerConfig config;
    private final Consumer<FetchAnswer> handOver;
    private final Map<TopicPartition, FetchTarget> targets = new HashMap<>();
    private final Map<String, Integer> targetsByTopic = new HashMap<>();
    private final Map<Integer, FetchSession> sessions = new HashMap<>();
    private Cluster cluster;
    final LongAdder fetches = new LongAdder();
    final LongAdder fetchedBytes = new LongAdder();
    final LongAdder failedFetches = new LongAdder();

    /**
     * A loop that reads nothing yet.
     *
     * @param handOver takes each answer that holds something, on the event loop
     */
    FetchLoop(ConsumerConfig config, Consumer<FetchAnswer> handOver) {
        this.config = config;
        this.handOver = handOver;
    }

    void setCluster(Cluster cluster) {
        this.cluster = cluster;
    }

    /** Reads a partition from an offset on; what was asked before counts no more. */
    void start(TopicPartition id, long offset, int generation) {
        FetchTarget target = targets.get(id);
        if (target == null) {
            target = new FetchTarget(id);
            targets.put(id, target);
            targetsByTopic.merge(id.topic(), 1, Integer::sum);
        }
        target.offset = offset;
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

    /** Sends what can be sent. */
    void fetchAll() {
        sessions.values().forEach(this::fetch);
    }

    /** The application consumed an answer. Any thread. */
    void consumed(FetchSession session) {
        session.unconsumed.decrementAndGet();
        if (session.full) {
            cluster.eventLoop().execute(() -> fetch(session));
        }
    }

    @Override
    public void onView(ClusterView view) {
        targets.values().forEach(this::place);
        fetchAll();
    }

    @Override
    public void onConnectionReady(BrokerConnection connection) {
        FetchSession session = sessions.get(connection.nodeId());
        if (session != null) {
            fetch(session);
        }
    }

    @Override
    public void onTick(long nowNanos) {
        for (FetchTarget target : targets.values()) {
            if (target.blocked && nowNanos - target.blockedUntilNanos >= 0) {
                target.blocked = false;
                place(target);
            }
        }
        fetchAll();
    }

    /** Puts a partition into the session of its leader, or takes it out of one. */
    private void place(FetchTarget target) {
        int leader = target.blocked || target.stopped
                ? -1
                : cluster.metadata().view().leader(target.id.topic(), target.id.partition());
        if (target.node >= 0 && target.node == leader) {
            return;
        }
        if (target.node >= 0) {
            sessions.get(target.node).remove(target);
        }
        if (leader >= 0) {
            sessions.computeIfAbsent(leader, FetchSession::new).put(target);
        } else if (!target.blocked && !target.stopped) {
            cluster.metadata().requestUpdate();
        }
    }

    private void fetch(FetchSession session) {
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
            // It tells when it is ready; the tick opens it again when it broke.
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

    private void accept(FetchSession session, FetchResponse answer, ByteBuf frame) {
        List<FetchAnswer.Part> parts = new ArrayList<>();
        for (FetchResponse.FetchableTopicResponse topic : answer.responses()) {
            for (FetchResponse.PartitionData data : topic.partitions()) {
                FetchTarget target = targets.get(new TopicPartition(topic.topic(), data.partitionIndex()));
                if (target != null && target.isAnsweredBy(session)) {
                    accept(session, target, data, parts);
                }
            }
        }
        if (!parts.isEmpty()) {
            session.unconsumed.incrementAndGet();
            handOver.accept(new FetchAnswer(session, frame.retain(), parts));
        }
    }

    private void accept(
            FetchSession session, FetchTarget target, FetchResponse.PartitionData data, List<FetchAnswer.Part> parts) {
        ErrorCode error = ErrorCode.of(data.errorCode());
        if (error == ErrorCode.NONE) {
            ByteBuf batches = data.records() == null ? null : data.records().buffer();
            if (batches != null && batches.isReadable()) {
                fetchedBytes.add(batches.readableBytes());
                List<FetchResponse.AbortedTransaction> aborted =
                        data.abortedTransactions() == null ? List.of() : data.abortedTransactions();
                parts.add(new FetchAnswer.Part(target.id, target.generation, target.offset, error, batches, aborted));
                target.offset = nextOffset(batches, target.offset);
                session.put(target);
            }
        } else if (error.retriable()) {
            cluster.metadata().requestUpdate();
            pause(target);
        } else {
            parts.add(new FetchAnswer.Part(target.id, target.generation, target.offset, error, null, List.of()));
            target.stopped = true;
            place(target);
        }
    }

    /** Offset after the last whole batch, by the headers alone; whether they are right the consumer finds out. */
    private static long nextOffset(ByteBuf batches, long offset) {
        long next = offset;
        int at = batches.readerIndex();
        int end = batches.writerIndex();
        while (end - at >= RecordBatch.HEADER_SIZE_BYTES) {
            int lengthBytes = batches.getInt(at + RecordBatch.LENGTH);
            if (lengthBytes < RecordBatch.HEADER_SIZE_BYTES - RecordBatch.LOG_OVERHEAD_BYTES
                    || lengthBytes > end - at - RecordBatch.LOG_OVERHEAD_BYTES) {
                break;
            }
            next = Math.max(next, RecordBatch.nextOffset(batches, at));
            at += lengthBytes + RecordBatch.LOG_OVERHEAD_BYTES;
        }
        return next;
    }

    /** One Fetch request. */
    private final class FetchCall extends Call {
        private final FetchSession session;

        private FetchCall(FetchSession session) {
            super(ApiKey.FETCH, config.client().requestTimeoutMs() + config.fetchMaxWaitMs());
            this.session = session;
        }

        @Override
        protected short newestVersion() {
            return NEWEST_VERSION;
        }

        @Override
        protected ApiMessage request(short version) {
            if (version < FIRST_VERSION_WITH_SESSIONS) {
                session.reset();
            }
            FetchRequest request = new FetchRequest()
                    .setMaxWaitMs(config.fetchMaxWaitMs())
                    .setIsolationLevel(config.isolationLevel())
                    .setMinBytes(config.fetchMinBytes())
                    .setMaxBytes(config.fetchMaxBytes());
            session.fill(request, config.partitionMaxBytes(), version >= FIRST_VERSION_WITH_SESSIONS);
            return request;
        }

        @Override
        protected void onAnswer(ApiMessage message, ByteBuf frame, short version) {
            FetchResponse answer = (FetchResponse) message;
            session.inFlight = false;
            fetches.increment();
            ErrorCode error = ErrorCode.of(answer.errorCode());
            if (error == ErrorCode.NONE) {
                session.accepted(answer.sessionId());
                accept(session, answer, frame);
                fetch(session);
                return;
            }
            // The session is unknown or out of step: the next request names everything again.
            failedFetches.increment();
            session.reset();
            if (error != ErrorCode.FETCH_SESSION_ID_NOT_FOUND && error != ErrorCode.INVALID_FETCH_SESSION_EPOCH) {
                cluster.metadata().requestUpdate();
                return;
            }
            fetch(session);
        }

        @Override
        protected void onFailure(JournalQException cause) {
            session.inFlight = false;
            failedFetches.increment();
            session.reset();
            cluster.metadata().requestUpdate();
        }
    }
}
