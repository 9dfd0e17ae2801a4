package io.journalq.server.api.data;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.memory.TextSize;
import io.journalq.server.shard.Shard;
import io.journalq.server.shard.partition.PartitionHost;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The partitions that one client fetches, kept between its requests so that each request names only the changes
 * (KIP-227). A partition that was read to its end is parked on its shard. A partition that has news, or whose last read
 * found records, is in the ready queue. The cost of a fetch therefore depends on its ready partitions, not on all
 * partitions of the session.
 *
 * <p>On its connection's loop. A fetch without a session uses an instance once.
 */
final class FetchSession implements FetchPart.Listener {
    /** The id of a fetch without a session. */
    static final int NO_SESSION = 0;

    /** Estimated heap of a partition that is parked on its shard. */
    private static final int PARTITION_BYTES = 236;

    /** Estimated heap of a topic without its partitions and the characters of its name. */
    private static final int TOPIC_BYTES = 300;

    private static final int NO_REPLICA = -1;
    private static final int FIRST_INCREMENTAL_EPOCH = 1;
    private static final byte READ_COMMITTED = 1;

    private final int id;
    private final boolean usesTopicIds;
    private final LoopCycle cycle;
    private final SessionBudget budget;
    private final Map<Object, SessionTopic<FetchPart>> topics = new LinkedHashMap<>();
    private final ArrayDeque<FetchPart> ready = new ArrayDeque<>();
    private int nextEpoch = FIRST_INCREMENTAL_EPOCH;
    private int partCount;

    /** Number of partitions counted in the limit of all sessions. */
    private int counted;

    private long sizeBytes;
    private long readyBytes;
    private PendingRequest pending;
    private boolean readsCommitted;
    private int replicaId = NO_REPLICA;
    private long replicaEpoch;
    /** Chooses the replica of a consumer; null if it reads from the leader. */
    private NearestReplica nearest;

    private String rack = "";
    private boolean readsAnyReplica;
    private boolean closed;

    /** The current fetch of a session. */
    interface PendingRequest {
        /** A partition of the session has news, and is in the ready queue now. */
        void onNews(FetchPart part, long grownBytes);

        /** The wait time has passed: responds with the available records. */
        void onTimeout();

        /** The session has ended, usually because the client has disconnected. */
        void abandon();
    }

    /** @param budget shared by all sessions; the partitions of a fetch without a session are not counted */
    FetchSession(int id, boolean usesTopicIds, LoopCycle cycle, SessionBudget budget) {
        this.id = id;
        this.budget = budget;
        this.usesTopicIds = usesTopicIds;
        this.cycle = cycle;
    }

    /**
     * What a request adds to a session.
     *
     * @param partitions number of partitions
     * @param bytes heap of these and of their topics
     */
    record Growth(int partitions, long bytes) {
        /** Everything that a request names. */
        static Growth of(FetchRequest request) {
            return beyond(Map.of(), request, false);
        }

        private static Growth beyond(
                Map<Object, SessionTopic<FetchPart>> known, FetchRequest request, boolean usesTopicIds) {
            int partitions = 0;
            long bytes = 0;
            for (FetchRequest.FetchTopic topic : request.topics()) {
                SessionTopic<FetchPart> there =
                        known.isEmpty() ? null : known.get(usesTopicIds ? topic.topicId() : topic.topic());
                bytes += there == null ? sizeOfTopic(topic.topic()) : 0;
                for (FetchRequest.FetchPartition partition : topic.partitions()) {
                    partitions += there == null || !there.parts().containsKey(partition.partition()) ? 1 : 0;
                }
            }
            return new Growth(partitions, bytes + (long) PARTITION_BYTES * partitions);
        }
    }

    /** What a request adds to this session. Partitions that it names again are there already. */
    Growth growth(FetchRequest request) {
        return Growth.beyond(topics, request, usesTopicIds);
    }

    private static long sizeOfTopic(String name) {
        return (long) TOPIC_BYTES + (name == null ? 0 : TextSize.bytes(name));
    }

    /** The session has grown, or shrunk if negative. A fetch without a session is charged with its request. */
    private void charge(long moreBytes) {
        if (id != NO_SESSION) {
            sizeBytes += moreBytes;
            budget.memory().add(moreBytes);
        }
    }

    int id() {
        return id;
    }

    boolean usesTopicIds() {
        return usesTopicIds;
    }

    @Override
    public LoopCycle cycle() {
        return cycle;
    }

    int nextEpoch() {
        return nextEpoch;
    }

    /**
     * Expects the next epoch in the next request. The largest epoch is followed by 1, because 0 means a new session.
     */
    void advanceEpoch() {
        nextEpoch = nextEpoch == Integer.MAX_VALUE ? FIRST_INCREMENTAL_EPOCH : nextEpoch + 1;
    }

    boolean isClosed() {
        return closed;
    }

    int partCount() {
        return partCount;
    }

    PendingRequest pending() {
        return pending;
    }

    void setPending(PendingRequest fetch) {
        pending = fetch;
    }

    @Override
    public boolean readsCommitted() {
        return readsCommitted;
    }

    /**
     * Sets where a consumer reads.
     *
     * @param anyReplica whether it may read from a follower
     * @param consumerRack empty if it has none
     * @param chosenBy chooses the replica; null for the leader
     */
    void setReader(boolean anyReplica, String consumerRack, NearestReplica chosenBy) {
        readsAnyReplica = anyReplica;
        rack = consumerRack;
        nearest = chosenBy;
    }

    @Override
    public boolean readsAnyReplica() {
        return readsAnyReplica;
    }

    @Override
    public int nearestReplica(PartitionHost host, long offset) {
        return nearest == null ? NearestReplica.LEADER : nearest.find(rack, host, offset);
    }

    /** Sets which replica fetches; -1 for a consumer. */
    void setReplica(int brokerId, long brokerEpoch) {
        replicaId = brokerId;
        replicaEpoch = brokerEpoch;
    }

    @Override
    public int replicaId() {
        return replicaId;
    }

    @Override
    public long replicaEpoch() {
        return replicaEpoch;
    }

    /** Counts {@code taken} more partitions, which the request is about to add. */
    void count(int taken) {
        counted += taken;
    }

    /** Corrects the count, after partitions were removed or turned out to be there before. */
    private void settle() {
        if (id != NO_SESSION && counted != partCount) {
            budget.giveBack(counted - partCount);
            counted = partCount;
        }
    }

    /** Adds, changes and removes partitions as requested. */
    void update(FetchRequest request) {
        boolean committed = request.isolationLevel() == READ_COMMITTED;
        if (committed != readsCommitted) {
            readsCommitted = committed;
            forEachPart(this::markReady);
        }
        for (FetchRequest.FetchTopic wanted : request.topics()) {
            if (wanted.partitions().isEmpty()) {
                continue;
            }
            Object key = key(wanted.topic(), wanted.topicId());
            SessionTopic<FetchPart> topic = topics.get(key);
            if (topic == null) {
                topic = new SessionTopic<>(wanted.topic(), wanted.topicId());
                topics.put(key, topic);
                charge(sizeOfTopic(topic.name()));
            }
            for (FetchRequest.FetchPartition wantedPart : wanted.partitions()) {
                FetchPart part = topic.parts().get(wantedPart.partition());
                if (part == null) {
                    part = new FetchPart(this, topic, wantedPart.partition());
                    topic.parts().put(wantedPart.partition(), part);
                    partCount++;
                    charge(PARTITION_BYTES);
                }
                part.update(wantedPart);
                markReady(part);
            }
        }
        for (FetchRequest.ForgottenTopic forgotten : request.forgottenTopicsData()) {
            forget(forgotten);
        }
        settle();
    }

    private void forget(FetchRequest.ForgottenTopic forgotten) {
        Object key = key(forgotten.topic(), forgotten.topicId());
        SessionTopic<FetchPart> topic = topics.get(key);
        if (topic == null) {
            return;
        }
        List<FetchPart> gone = new ArrayList<>();
        for (int partition : forgotten.partitions()) {
            FetchPart part = topic.parts().remove(partition);
            if (part != null) {
                part.forget();
                gone.add(part);
                partCount--;
                charge(-PARTITION_BYTES);
            }
        }
        if (topic.parts().isEmpty()) {
            topics.remove(key);
            charge(-sizeOfTopic(topic.name()));
        }
        unpark(gone);
    }

    private Object key(String name, Uuid topicId) {
        return usesTopicIds ? topicId : name;
    }

    @Override
    public void onNews(FetchPart part, long grownBytes) {
        if (closed || part.isForgotten()) {
            return;
        }
        markReady(part);
        readyBytes += grownBytes;
        if (pending != null) {
            pending.onNews(part, grownBytes);
        }
    }

    /** Adds {@code part} to the ready queue, for the next pass. */
    void markReady(FetchPart part) {
        if (!part.isReady()) {
            part.setReady(true);
            ready.add(part);
        }
    }

    /** Counts records that a pass found and left for later. */
    void addReadyBytes(long sizeBytes) {
        readyBytes += sizeBytes;
    }

    /** Size of the records that are known to be ready. */
    long readyBytes() {
        return readyBytes;
    }

    /** Returns the ready partitions in the order of the queue, and empties it. */
    List<FetchPart> takeReady() {
        List<FetchPart> taken = new ArrayList<>(ready.size());
        for (FetchPart part = ready.poll(); part != null; part = ready.poll()) {
            part.setReady(false);
            if (!part.isForgotten()) {
                taken.add(part);
            }
        }
        readyBytes = 0;
        return taken;
    }

    void forEachPart(Consumer<FetchPart> action) {
        for (SessionTopic<FetchPart> topic : topics.values()) {
            topic.parts().values().forEach(action);
        }
    }

    /** Removes every partition. A current fetch ends without records. */
    void close() {
        if (closed) {
            return;
        }
        closed = true;
        budget.giveBack(counted);
        charge(-sizeBytes);
        List<FetchPart> parts = new ArrayList<>();
        forEachPart(parts::add);
        unpark(parts);
        if (pending != null) {
            pending.abandon();
        }
    }

    /** Ends the parking of partitions, on the loops of their shards. */
    static void unpark(List<FetchPart> parts) {
        IdentityHashMap<Shard, List<FetchPart>> partsByShard = new IdentityHashMap<>();
        for (FetchPart part : parts) {
            if (part.shard() != null) {
                partsByShard
                        .computeIfAbsent(part.shard(), absent -> new ArrayList<>())
                        .add(part);
            }
        }
        partsByShard.forEach(
                (shard, onShard) -> shard.cycle().execute(() -> onShard.forEach(FetchPart::unparkOnShard)));
    }

    /** Groups partitions by shard, for a pass on several shards. */
    static Map<Shard, List<FetchPart>> byShard(List<FetchPart> parts) {
        Map<Shard, List<FetchPart>> partsByShard = new HashMap<>();
        for (FetchPart part : parts) {
            partsByShard
                    .computeIfAbsent(part.shard(), absent -> new ArrayList<>())
                    .add(part);
        }
        return partsByShard;
    }
}
