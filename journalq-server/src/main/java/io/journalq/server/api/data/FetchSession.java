package io.journalq.server.api.data;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.memory.TextSize;
import io.journalq.server.shard.Shard;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The partitions that one client fetches, kept between its requests so that each request names only what changed
 * (KIP-227). A partition that was read to its end is parked on its shard; one that has news, or was just read with
 * success, stands in the queue of those that are ready. So a fetch costs what its ready partitions cost, not what all
 * partitions of the session would.
 *
 * <p>On its connection's loop. A fetch without a session uses one of these once.
 */
final class FetchSession implements FetchPart.Listener {
    /** The id of a fetch without a session. */
    static final int NO_SESSION = 0;

    /** What a partition takes of the heap, about, parked on its shard. */
    private static final int PARTITION_BYTES = 220;

    /** A topic without partitions and the characters of its name. */
    private static final int TOPIC_BYTES = 300;

    private static final int FIRST_INCREMENTAL_EPOCH = 1;
    private static final byte READ_COMMITTED = 1;

    private final int id;
    private final boolean usesTopicIds;
    private final LoopCycle cycle;
    private final SessionRoom room;
    private final Map<Object, SessionTopic<FetchPart>> topics = new LinkedHashMap<>();
    private final ArrayDeque<FetchPart> ready = new ArrayDeque<>();
    private int nextEpoch = FIRST_INCREMENTAL_EPOCH;
    private int partCount;

    /** Partitions counted in the room that all sessions share. */
    private int counted;

    private long sizeBytes;
    private long readyBytes;
    private Waiting pending;
    private boolean readsCommitted;
    private boolean closed;

    /** The fetch that is under way in a session. */
    interface Waiting {
        /** A partition of the session has news, and is among the ready ones now. */
        void onNews(FetchPart part, long grownBytes);

        /** The wait time has passed: responds with the records that there are. */
        void onTimeout();

        /** The session has ended, usually because the client is gone. */
        void abandon();
    }

    /** @param room shared by all sessions; partitions of a fetch without a session take none */
    FetchSession(int id, boolean usesTopicIds, LoopCycle cycle, SessionRoom room) {
        this.id = id;
        this.room = room;
        this.usesTopicIds = usesTopicIds;
        this.cycle = cycle;
    }

    /** What the partitions that a request names take, if a session knows none of them. */
    static long sizeBytes(FetchRequest request) {
        long bytes = 0;
        for (FetchRequest.FetchTopic topic : request.topics()) {
            bytes += sizeOfTopic(topic.topic())
                    + (long) PARTITION_BYTES * topic.partitions().size();
        }
        return bytes;
    }

    private static long sizeOfTopic(String name) {
        return (long) TOPIC_BYTES + (name == null ? 0 : TextSize.bytes(name));
    }

    /** The session became larger, or smaller when negative. A fetch without one is a part of its request. */
    private void charge(long moreBytes) {
        if (id != NO_SESSION) {
            sizeBytes += moreBytes;
            room.memory().add(moreBytes);
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

    /** The next request's epoch is one more; after the largest comes 1, as 0 means a new session. */
    void advanceEpoch() {
        nextEpoch = nextEpoch == Integer.MAX_VALUE ? FIRST_INCREMENTAL_EPOCH : nextEpoch + 1;
    }

    boolean isClosed() {
        return closed;
    }

    int partCount() {
        return partCount;
    }

    Waiting pending() {
        return pending;
    }

    void setPending(Waiting fetch) {
        pending = fetch;
    }

    @Override
    public boolean readsCommitted() {
        return readsCommitted;
    }

    /** There is room for {@code taken} more partitions: a request is about to name them. */
    void count(int taken) {
        counted += taken;
    }

    /** Gives back the room of partitions that were there before, or are no more. */
    private void settle() {
        if (id != NO_SESSION && counted != partCount) {
            room.giveBack(counted - partCount);
            counted = partCount;
        }
    }

    /** Takes over the partitions that a request adds, changes or forgets. */
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

    /** Has the next pass read {@code part}. */
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

    /** Size of what is known to be ready. */
    long readyBytes() {
        return readyBytes;
    }

    /** Empties the queue of ready partitions into the returned list, in its order. */
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

    /** Leaves every partition. A fetch that is under way ends without records. */
    void close() {
        if (closed) {
            return;
        }
        closed = true;
        room.giveBack(counted);
        charge(-sizeBytes);
        List<FetchPart> parts = new ArrayList<>();
        forEachPart(parts::add);
        unpark(parts);
        if (pending != null) {
            pending.abandon();
        }
    }

    private static void unpark(List<FetchPart> parts) {
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

    /** Partitions by the shard that they are read on, for a pass that spans several. */
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
