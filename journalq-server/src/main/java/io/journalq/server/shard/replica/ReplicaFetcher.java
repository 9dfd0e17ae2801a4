package io.journalq.server.shard.replica;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.peer.PeerChannel;
import io.journalq.server.shard.partition.PartitionHost;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fetches the partitions of one loop that one other broker leads, over a connection and an incremental fetch session of
 * its own. The next fetch acknowledges what the last one returned. It is sent at the end of the cycle that writes that or,
 * for partitions that acknowledge only what is on the disk, as soon as it is there. On the loop.
 */
final class ReplicaFetcher {
    private static final Logger log = LoggerFactory.getLogger(ReplicaFetcher.class);

    private static final int FETCH_VERSION = 18;
    private static final int MAX_WAIT_MS = 500;
    /** The same while the log of a partition, or its start, is being synced: the next fetch says when it is. */
    private static final int MAX_WAIT_WHILE_SYNCING_MS = 10;

    /** If the start of a log is not on the disk after this time, the disk is probably full. */
    private static final long START_SYNC_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final int MIN_BYTES = 1;
    private static final int MAX_BYTES = 8 << 20;
    private static final int MAX_PARTITION_BYTES = 1 << 20;
    /** If there is no response after this time, the leader or the way to it is gone. */
    private static final int TIMEOUT_MS = MAX_WAIT_MS + 2_000;

    /** Time between attempts to reach the leader. */
    private static final int RETRY_MS = 50;

    /** A leader that stops responds at once, even if nothing is new. */
    private static final long QUICK_RESPONSE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    private static final int QUICK_RESPONSE_PAUSE_MS = 10;
    /** Time for which a partition is left out because of a throttle. */
    private static final int HELD_BACK_MS = 50;

    /** Shortest time between two connections that are opened because a fetch waits while other partitions are added. */
    private static final long RESTART_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final int FIRST_INCREMENTAL_EPOCH = 1;

    private final LoopCycle cycle;
    private final int leader;
    /** Whether fetches acknowledge only what is on the disk. */
    private final boolean synced;

    private final ReplicaPeers peers;
    private final FetchedBatches batches;
    private final Map<Uuid, Map<Integer, FetchedPartition>> partitions = new LinkedHashMap<>();
    /** Partitions that the leader has in the session, and that are not fetched any more. */
    private final List<FetchedPartition> forgotten = new ArrayList<>();

    /** Partitions that may have to be named in the next request. */
    private final Set<FetchedPartition> due = new LinkedHashSet<>();

    /** Partitions that are left out until their logs are on the disk. */
    private final Set<FetchedPartition> leftOut = new HashSet<>();

    private final Runnable fetchAfterWrite = this::fetchAfterWrite;
    /** Null while there is no connection. */
    private PeerChannel channel;

    private int sessionId;
    private int sessionEpoch;
    private boolean waiting;
    private boolean lookRegistered;
    private boolean fetchTimed;
    /** Whether batches are staged that this cycle writes. */
    private boolean writing;

    /** Number of partitions that the next fetch waits for, because they are not on the disk yet. */
    private int syncing;

    private boolean failing;
    private long askedNanos;
    private long restartedNanos;
    /** When the leader was last told the starts of all logs. */
    private long toldStartsNanos;

    ReplicaFetcher(LoopCycle cycle, int leader, boolean synced, ReplicaPeers peers, PartitionRewrites rewrites) {
        this.cycle = cycle;
        this.leader = leader;
        this.synced = synced;
        this.peers = peers;
        this.batches = new FetchedBatches(cycle.loop(), leader, rewrites);
        this.restartedNanos = cycle.loop().nanoTime() - RESTART_NANOS;
        this.toldStartsNanos = cycle.loop().nanoTime();
    }

    boolean isEmpty() {
        return partitions.isEmpty();
    }

    /** Fetches a partition from now on. Also called if its leader epoch has changed. */
    void add(PartitionHost host) {
        Map<Integer, FetchedPartition> ofTopic =
                partitions.computeIfAbsent(host.topicId(), none -> new LinkedHashMap<>());
        FetchedPartition known = ofTopic.get(host.name().partition());
        if (known == null || known.host() != host) {
            leftOut.remove(known);
            known = new FetchedPartition(host);
            ofTopic.put(host.name().partition(), known);
        } else {
            known.resume();
        }
        host.replication().setLeaderResponds(!failing);
        due.add(known);
        lookSoon();
    }

    /**
     * The oldest records of a partition have expired here, perhaps not at the leader yet. The next requests tell it, so
     * that it sends no consumers here that want to read them.
     */
    void onExpired(PartitionHost host) {
        FetchedPartition known = find(host);
        if (known != null) {
            due.add(known);
        }
    }

    /** Null if it is not fetched. */
    private FetchedPartition find(PartitionHost host) {
        FetchedPartition known = partitions
                .getOrDefault(host.topicId(), Map.of())
                .get(host.name().partition());
        return known == null || known.host() != host ? null : known;
    }

    /** Fetches a partition no more. */
    void remove(PartitionHost host) {
        FetchedPartition known = find(host);
        if (known == null) {
            return;
        }
        Map<Integer, FetchedPartition> ofTopic = partitions.get(host.topicId());
        ofTopic.remove(host.name().partition());
        due.remove(known);
        leftOut.remove(known);
        if (ofTopic.isEmpty()) {
            partitions.remove(host.topicId());
        }
        if (known.isInSession()) {
            forgotten.add(known);
        }
        if (partitions.isEmpty()) {
            close();
        }
    }

    /** Ends the connection. */
    void close() {
        if (channel != null) {
            channel.close();
            endSession();
        }
    }

    private void endSession() {
        channel = null;
        waiting = false;
        newSession();
    }

    private void newSession() {
        sessionId = 0;
        sessionEpoch = 0;
        forgotten.clear();
        for (Map<Integer, FetchedPartition> ofTopic : partitions.values()) {
            for (FetchedPartition partition : ofTopic.values()) {
                partition.leaveSession();
                due.add(partition);
            }
        }
    }

    /** Looks for changed partitions in a task of its own, so that many changes cause one request. */
    private void lookSoon() {
        if (!lookRegistered) {
            lookRegistered = true;
            cycle.enqueue(this::look);
        }
    }

    private void look() {
        lookRegistered = false;
        if (!waiting) {
            fetch();
            return;
        }
        if (due.stream().noneMatch(partition -> !partition.isPaused() && partition.isChanged())) {
            return;
        }
        // A session takes one request at a time, and the current one waits at the leader for too long.
        long sinceNanos = cycle.loop().nanoTime() - restartedNanos;
        if (sinceNanos < RESTART_NANOS) {
            lookRegistered = true;
            cycle.loop().schedule(this::look, TimeUnit.NANOSECONDS.toMillis(RESTART_NANOS - sinceNanos) + 1);
            return;
        }
        restartedNanos = cycle.loop().nanoTime();
        close();
        fetch();
    }

    private void fetchAfter(int ms) {
        if (!fetchTimed) {
            fetchTimed = true;
            cycle.loop()
                    .schedule(
                            () -> {
                                fetchTimed = false;
                                fetch();
                            },
                            ms);
        }
    }

    private void fetchAfterWrite() {
        writing = false;
        fetch();
    }

    private void fetch() {
        if (waiting || fetchTimed || writing || syncing > 0) {
            return;
        }
        for (FetchedPartition partition : List.copyOf(due)) {
            if (partition.isPaused()) {
                continue;
            }
            if (partition.isRejected()) {
                pause(partition);
            } else if (partition.host().replication().isHeldBack()) {
                holdBack(partition);
            } else if (!synced && partition.mustSync()) {
                syncFirst(partition);
            }
        }
        if (!hasFetchable() || (synced && awaitsSync())) {
            return;
        }
        if (channel == null || !channel.isOpen()) {
            ListenerAddress address = peers.addresses().apply(leader);
            if (address == null) {
                fetchAfter(RETRY_MS);
                return;
            }
            endSession();
            channel = peers.channels().open(address.host(), address.port(), cycle.loop());
        }
        PeerChannel asked = channel;
        waiting = true;
        askedNanos = cycle.loop().nanoTime();
        channel.send(request(), FETCH_VERSION, TIMEOUT_MS, new PeerChannel.ResponseListener() {
            @Override
            public void onResponse(ApiMessage response) {
                if (asked == channel) {
                    waiting = false;
                    take((FetchResponse) response);
                }
            }

            @Override
            public void onFailure(IOException reason) {
                if (asked == channel) {
                    fail(reason.getMessage());
                }
            }
        });
    }

    /** Waits until the partitions that the next request may name are on the disk; returns whether any is not. */
    private boolean awaitsSync() {
        List<FetchedPartition> unsynced = new ArrayList<>();
        for (FetchedPartition partition : due) {
            if (!partition.isPaused() && !partition.host().replication().isSynced()) {
                unsynced.add(partition);
            }
        }
        syncing = unsynced.size();
        for (FetchedPartition partition : unsynced) {
            partition.host().replication().whenSynced(error -> onSynced(partition, error));
        }
        return !unsynced.isEmpty();
    }

    private void onSynced(FetchedPartition partition, ErrorCode error) {
        if (error != ErrorCode.NONE && isFetched(partition) && !partition.isPaused()) {
            log.debug(
                    "what was fetched is not on the disk: partition={} error={}",
                    partition.host().name(),
                    error);
            pause(partition);
        }
        syncing--;
        if (syncing == 0) {
            // Once for all partitions of a commit, and behind the acknowledgements of this broker's own producers.
            cycle.onWakeUp(fetchAfterWrite);
        }
    }

    private boolean hasFetchable() {
        for (Map<Integer, FetchedPartition> ofTopic : partitions.values()) {
            for (FetchedPartition partition : ofTopic.values()) {
                if (!partition.isPaused()) {
                    return true;
                }
            }
        }
        return false;
    }

    private FetchRequest request() {
        Map<Uuid, List<FetchRequest.FetchPartition>> asked = new LinkedHashMap<>();
        for (FetchedPartition partition : due) {
            if (!partition.isPaused() && partition.isChanged()) {
                asked.computeIfAbsent(partition.host().topicId(), none -> new ArrayList<>())
                        .add(partition.ask(MAX_PARTITION_BYTES, askedNanos));
            }
        }
        // After a power loss, what is before a start that is not on the disk would be back. The next request tells it.
        due.removeIf(partition -> partition.isPaused() || !partition.isStartUntold());
        if (due.isEmpty()) {
            toldStartsNanos = askedNanos;
        }
        boolean waitsForDisk =
                !leftOut.isEmpty() || (!due.isEmpty() && askedNanos - toldStartsNanos < START_SYNC_NANOS);
        List<FetchRequest.FetchTopic> topics = new ArrayList<>();
        asked.forEach((topicId, ofTopic) ->
                topics.add(new FetchRequest.FetchTopic().setTopicId(topicId).setPartitions(ofTopic)));
        FetchRequest request = new FetchRequest()
                .setReplicaState(new FetchRequest.ReplicaState()
                        .setReplicaId(peers.nodeId())
                        .setReplicaEpoch(peers.brokerEpoch().getAsLong()))
                .setMaxWaitMs(waitsForDisk ? MAX_WAIT_WHILE_SYNCING_MS : MAX_WAIT_MS)
                .setMinBytes(MIN_BYTES)
                .setMaxBytes(MAX_BYTES)
                .setSessionId(sessionId)
                .setSessionEpoch(sessionEpoch)
                .setTopics(topics)
                .setForgottenTopicsData(forgottenTopics());
        forgotten.clear();
        return request;
    }

    private boolean isFetched(FetchedPartition partition) {
        Map<Integer, FetchedPartition> ofTopic = partitions.get(partition.host().topicId());
        return ofTopic != null && ofTopic.get(partition.host().name().partition()) == partition;
    }

    /** Partitions that were removed, except those that were added again. */
    private List<FetchRequest.ForgottenTopic> forgottenTopics() {
        Map<Uuid, List<Integer>> numbers = new LinkedHashMap<>();
        for (FetchedPartition gone : forgotten) {
            Uuid topicId = gone.host().topicId();
            int number = gone.host().name().partition();
            Map<Integer, FetchedPartition> ofTopic = partitions.get(topicId);
            FetchedPartition present = ofTopic == null ? null : ofTopic.get(number);
            if (present == null || !present.isInSession()) {
                numbers.computeIfAbsent(topicId, none -> new ArrayList<>()).add(number);
            }
        }
        List<FetchRequest.ForgottenTopic> topics = new ArrayList<>();
        numbers.forEach((topicId, ofTopic) ->
                topics.add(new FetchRequest.ForgottenTopic().setTopicId(topicId).setPartitions(ofTopic)));
        return topics;
    }

    private void take(FetchResponse response) {
        ErrorCode error = ErrorCode.of(response.errorCode());
        if (error != ErrorCode.NONE) {
            logFailure(error.toString());
            newSession();
            fetchAfter(RETRY_MS);
            return;
        }
        setFailing(false);
        sessionId = response.sessionId();
        if (sessionId == 0) {
            // The leader has no room for a session.
            newSession();
        } else {
            sessionEpoch = sessionEpoch == Integer.MAX_VALUE ? FIRST_INCREMENTAL_EPOCH : sessionEpoch + 1;
        }
        boolean news = false;
        for (FetchResponse.FetchableTopicResponse topic : response.responses()) {
            Map<Integer, FetchedPartition> ofTopic = partitions.getOrDefault(topic.topicId(), Map.of());
            for (FetchResponse.PartitionData data : topic.partitions()) {
                FetchedPartition partition = ofTopic.get(data.partitionIndex());
                if (partition != null) {
                    news |= take(partition, data);
                }
            }
        }
        if (!news && cycle.loop().nanoTime() - askedNanos < QUICK_RESPONSE_NANOS) {
            fetchAfter(QUICK_RESPONSE_PAUSE_MS);
        } else {
            writing = true;
            cycle.onWakeUp(fetchAfterWrite);
        }
    }

    /** Returns whether something is new. */
    private boolean take(FetchedPartition partition, FetchResponse.PartitionData data) {
        due.add(partition);
        FetchedBatches.Result result = batches.take(partition, data);
        switch (result) {
            case PAUSE -> pause(partition);
            case END -> remove(partition.host());
            default -> {
                // The next request says how far the partition is.
            }
        }
        return result == FetchedBatches.Result.NEWS;
    }

    /** The fetches of other partitions are not disturbed when the time is over. */
    private void holdBack(FetchedPartition partition) {
        partition.holdBack();
        leaveOut(partition);
        cycle.loop()
                .schedule(
                        () -> {
                            if (partition.isPaused() && isFetched(partition)) {
                                resume(partition);
                            }
                        },
                        HELD_BACK_MS);
    }

    /** Fetches a partition again when its log is on the disk. The fetches of other partitions go on. */
    private void syncFirst(FetchedPartition partition) {
        long begunNanos = cycle.loop().nanoTime();
        if (partition.host().replication().isSynced()) {
            partition.onSynced(begunNanos, begunNanos);
            return;
        }
        partition.holdBack();
        leaveOut(partition);
        leftOut.add(partition);
        partition.host().replication().whenSynced(error -> {
            leftOut.remove(partition);
            if (!partition.isPaused() || !isFetched(partition)) {
                return;
            }
            if (error == ErrorCode.NONE) {
                partition.onSynced(begunNanos, cycle.loop().nanoTime());
                resume(partition);
            } else {
                pause(partition);
            }
        });
    }

    /** Fetches a partition again, but does not interrupt the current fetch. */
    private void resume(FetchedPartition partition) {
        partition.resume();
        due.add(partition);
        if (!waiting) {
            lookSoon();
        }
    }

    private void leaveOut(FetchedPartition partition) {
        if (partition.isInSession()) {
            partition.leaveSession();
            forgotten.add(partition);
        }
    }

    private void pause(FetchedPartition partition) {
        leaveOut(partition);
        cycle.loop()
                .schedule(
                        () -> {
                            if (partition.isPaused() && isFetched(partition)) {
                                partition.resume();
                                due.add(partition);
                                lookSoon();
                            }
                        },
                        partition.pause());
    }

    private void fail(String reason) {
        logFailure(reason);
        endSession();
        fetchAfter(RETRY_MS);
    }

    /** Logs the first of consecutive failures. */
    private void logFailure(String reason) {
        if (!failing) {
            setFailing(true);
            log.info("cannot fetch from a leader: broker={} reason=\"{}\"", leader, reason);
        }
    }

    private void setFailing(boolean fails) {
        if (failing != fails) {
            failing = fails;
            for (Map<Integer, FetchedPartition> ofTopic : partitions.values()) {
                ofTopic.values()
                        .forEach(partition -> partition.host().replication().setLeaderResponds(!fails));
            }
        }
    }
}
