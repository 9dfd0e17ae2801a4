package io.journalq.server.api.data;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.RecordsData;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.server.journal.transaction.AbortedTransaction;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.shard.Shard;
import io.journalq.server.shard.partition.PartitionHost;
import io.journalq.server.shard.read.PartitionRead;
import io.journalq.server.shard.read.PartitionReader;
import java.util.List;

/**
 * One partition of a fetch session: the position of its client, and the offsets that the client was sent last.
 *
 * <p>Belongs to its connection's loop, except for {@link #read}, {@link #unparkOnShard} and {@link #parkOnShard}. The
 * partition's loop calls these while the connection's loop does not use the part.
 */
final class FetchPart extends PartitionReader {
    private static final long UNKNOWN = -1L;

    private final Listener listener;
    private final SessionTopic<FetchPart> topic;
    private final int partition;
    private long fetchOffset;
    private int maxSizeBytes;
    private int currentLeaderEpoch;
    private int lastFetchedEpoch;
    /** The first offset of the replica that fetches. */
    private long replicaStartOffset;

    private Shard shard;
    private PartitionHost host;
    /** Whether the client may not read the partition. */
    private boolean denied;

    private ErrorCode missingError = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION;
    private PartitionRead found;
    private RecordsData records;
    /** Number of offsets from the position of the client to the end of {@link #records}. */
    private long recordCount;

    private List<AbortedTransaction> aborted = List.of();

    private boolean ready;
    private boolean forgotten;
    /** Whether a replica has not read everything, as of the last read. */
    private boolean hasMore;
    /** The broker that the consumer should read from instead, as of the last read. */
    private int preferredReplica = NearestReplica.LEADER;

    private long highWatermark = UNKNOWN;
    private long lastStableOffset = UNKNOWN;
    private long logStartOffset = UNKNOWN;
    private long toldHighWatermark = UNKNOWN;
    private long toldLastStableOffset = UNKNOWN;
    private long toldLogStartOffset = UNKNOWN;

    /** The session of a part. On its connection's loop, except for {@link #readsCommitted}. */
    interface Listener {
        /** The cycle of the connection's loop. Any thread. */
        LoopCycle cycle();

        /** Whether the client reads records only after their transactions have ended. Changes only between requests. */
        boolean readsCommitted();

        /** Whether an in-sync follower may serve the consumer. Changes only between requests. */
        boolean readsAnyReplica();

        /** The replica that the consumer should read from, see {@link NearestReplica#find}. On the partition's loop. */
        int nearestReplica(PartitionHost host, long offset);

        /** Broker id of the replica that fetches; -1 for a consumer. Changes only between requests. */
        int replicaId();

        /** Identifies the life of that replica's broker. */
        long replicaEpoch();

        /** The partition has news, see {@link PartitionReader#onNews}. */
        void onNews(FetchPart part, long grownBytes);
    }

    FetchPart(Listener listener, SessionTopic<FetchPart> topic, int partition) {
        this.listener = listener;
        this.topic = topic;
        this.partition = partition;
    }

    /** Where the fetch begins. */
    long fetchOffset() {
        return fetchOffset;
    }

    /** Applies a request's settings for the partition. */
    void update(FetchRequest.FetchPartition wanted) {
        fetchOffset = wanted.fetchOffset();
        maxSizeBytes = Math.max(0, wanted.partitionMaxBytes());
        currentLeaderEpoch = wanted.currentLeaderEpoch();
        lastFetchedEpoch = wanted.lastFetchedEpoch();
        replicaStartOffset = wanted.logStartOffset();
        // A follower can have dropped a response, and then it says so (KIP-1166).
        toldHighWatermark = Math.min(toldHighWatermark, wanted.highWatermark());
    }

    SessionTopic<FetchPart> topic() {
        return topic;
    }

    int partition() {
        return partition;
    }

    /** The shard to read on; null when the topic is unknown. */
    Shard shard() {
        return shard;
    }

    /**
     * Sets the shard to read on.
     *
     * @param newShard null when there is no such partition
     * @param errorWhenMissing the error for the client when there is none
     */
    void locate(Shard newShard, ErrorCode errorWhenMissing) {
        if (newShard != shard) {
            host = null;
        }
        shard = newShard;
        missingError = errorWhenMissing;
        denied = false;
    }

    /** The client may not read the partition. It stays parked on its shard, if it is, until its session ends. */
    void deny() {
        missingError = ErrorCode.TOPIC_AUTHORIZATION_FAILED;
        denied = true;
    }

    /** Whether there is a shard to read on. */
    boolean isReadable() {
        return shard != null && !denied;
    }

    boolean isReady() {
        return ready;
    }

    void setReady(boolean isReady) {
        ready = isReady;
    }

    boolean isForgotten() {
        return forgotten;
    }

    void forget() {
        forgotten = true;
    }

    /** The result of the last read; null once it was taken. */
    PartitionRead found() {
        return found;
    }

    PartitionRead takeFound() {
        PartitionRead taken = found;
        found = null;
        return taken;
    }

    void setFound(PartitionRead read) {
        found = read;
    }

    /** The records for the response; null when there are none. */
    RecordsData takeRecords() {
        RecordsData taken = records;
        records = null;
        return taken;
    }

    /** @param endOffset offset behind the last of the records */
    void setRecords(RecordsData newRecords, long endOffset, List<AbortedTransaction> abortedAmongThem) {
        records = newRecords;
        recordCount = Math.max(0, endOffset - fetchOffset);
        aborted = abortedAmongThem;
    }

    /** Counts records that were taken for the response. */
    void countFetched(RecordsData taken, int receivers) {
        host.topicCounters()
                .onFetched(listener.cycle().index(), receivers * recordCount, (long) receivers * taken.sizeBytes());
    }

    /** The transactions that a read-committed consumer skips in {@link #takeRecords}. */
    List<AbortedTransaction> takeAborted() {
        List<AbortedTransaction> taken = aborted;
        aborted = List.of();
        return taken;
    }

    /** Drops the records that the last read found. */
    void dropFound() {
        PartitionRead dropped = takeFound();
        if (dropped != null && dropped.slice() != null) {
            dropped.slice().release();
        }
    }

    /** Remembers the offsets of the last read. */
    void remember(PartitionRead read) {
        highWatermark = read.highWatermark();
        lastStableOffset = read.lastStableOffset();
        logStartOffset = read.logStartOffset();
    }

    long highWatermark() {
        return highWatermark;
    }

    long lastStableOffset() {
        return lastStableOffset;
    }

    /** Whether the client has not read all available records, as of the last read. */
    boolean hasUnread() {
        if (listener.replicaId() >= 0) {
            return hasMore;
        }
        return fetchOffset < (readsCommitted() ? lastStableOffset : highWatermark);
    }

    long logStartOffset() {
        return logStartOffset;
    }

    /** Whether the last read found other offsets than the client was sent. */
    boolean hasFoundNewOffsets() {
        return found != null
                && (found.highWatermark() != toldHighWatermark || found.logStartOffset() != toldLogStartOffset);
    }

    /** Whether the offsets have changed since they were last sent to the client. */
    boolean hasNewOffsets() {
        return highWatermark != toldHighWatermark
                || lastStableOffset != toldLastStableOffset
                || logStartOffset != toldLogStartOffset;
    }

    /** Whether the last read found another replica that the consumer should read from. */
    boolean isRedirected() {
        return preferredReplica != NearestReplica.LEADER;
    }

    /** The broker that the consumer should read from; {@link NearestReplica#LEADER} for this one. */
    int preferredReplica() {
        return preferredReplica;
    }

    void markTold() {
        toldHighWatermark = highWatermark;
        toldLastStableOffset = lastStableOffset;
        toldLogStartOffset = logStartOffset;
    }

    /**
     * Reads on the shard's loop. If less than {@code wantedBytes} are found, parks until there is news.
     *
     * @return size of the records found
     */
    int read(int budgetBytes, boolean atLeastOneBatch, int wantedBytes) {
        preferredReplica = NearestReplica.LEADER;
        if (host == null || host.isClosed()) {
            host = shard.host(topic.resolvedId(), partition);
        }
        if (host == null) {
            found = PartitionRead.failed(shard.errorOfMissing(topic.resolvedId(), partition));
            return 0;
        }
        if (listener.replicaId() >= 0) {
            return readAsReplica(budgetBytes, atLeastOneBatch, wantedBytes);
        }
        preferredReplica = listener.nearestReplica(host, fetchOffset);
        found = readAsConsumer(isRedirected() ? 0 : budgetBytes, atLeastOneBatch && !isRedirected());
        if (found.error() != ErrorCode.NONE || found.divergingEpoch() != null) {
            preferredReplica = NearestReplica.LEADER;
        }
        if (isRedirected()) {
            return 0;
        }
        host.log().markRead(this);
        int sizeBytes = found.sizeBytes();
        if (sizeBytes < wantedBytes) {
            host.log().park(this);
        }
        return sizeBytes;
    }

    private PartitionRead readAsConsumer(int budgetBytes, boolean atLeastOneBatch) {
        int sizeBytes = Math.min(budgetBytes, maxSizeBytes);
        return listener.readsAnyReplica() && !host.leads()
                ? host.replication()
                        .readAsFollower(
                                fetchOffset,
                                currentLeaderEpoch,
                                lastFetchedEpoch,
                                sizeBytes,
                                atLeastOneBatch,
                                readsCommitted())
                : host.read(
                        fetchOffset,
                        currentLeaderEpoch,
                        lastFetchedEpoch,
                        sizeBytes,
                        atLeastOneBatch,
                        readsCommitted());
    }

    private int readAsReplica(int budgetBytes, boolean atLeastOneBatch, int wantedBytes) {
        host.replication().onFetcher(listener.replicaId(), replicaStartOffset, this);
        found = host.replication()
                .readAsReplica(
                        listener.replicaId(),
                        listener.replicaEpoch(),
                        fetchOffset,
                        currentLeaderEpoch,
                        lastFetchedEpoch,
                        Math.min(budgetBytes, maxSizeBytes),
                        atLeastOneBatch);
        host.log().markReadByReplica(this);
        int sizeBytes = found.sizeBytes();
        hasMore = fetchOffset < host.journal().writtenOffset();
        if (sizeBytes < wantedBytes) {
            host.log().parkReplica(this, toldHighWatermark, shard.cycle());
        }
        return sizeBytes;
    }

    /** There is no such partition, or the client may not read it. */
    void failMissing() {
        preferredReplica = NearestReplica.LEADER;
        found = PartitionRead.failed(missingError);
    }

    /** It is not fetched any more: ends parking. On the shard's loop. */
    void unparkOnShard() {
        if (host != null) {
            unpark();
            if (listener.replicaId() >= 0) {
                host.replication().onForgotten(listener.replicaId(), this);
            }
        }
    }

    /** Parks again, because there was too little news. On the shard's loop. */
    void parkOnShard() {
        if (host != null && listener.replicaId() >= 0) {
            host.log().parkReplica(this, toldHighWatermark, shard.cycle());
        } else if (host != null) {
            host.log().park(this);
        }
    }

    @Override
    protected boolean readsCommitted() {
        return listener.readsCommitted();
    }

    @Override
    protected void onNews(long grownBytes) {
        Shard located = shard;
        if (located == null || !located.cycle().loop().inLoop()) {
            // The topic was deleted, perhaps created again, and the client has named the partition before the loop on
            // which it is still parked has closed the old one.
            listener.cycle().enqueue(() -> listener.onNews(this, grownBytes));
        } else if (located.cycle() == listener.cycle()) {
            listener.onNews(this, grownBytes);
        } else {
            located.cycle().handBack(listener.cycle(), () -> listener.onNews(this, grownBytes));
        }
    }
}
