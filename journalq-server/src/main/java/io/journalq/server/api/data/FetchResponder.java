package io.journalq.server.api.data;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.RecordsData;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.server.api.RequestContext;
import io.journalq.server.journal.file.CorruptJournalException;
import io.journalq.server.journal.read.JournalSlice;
import io.journalq.server.journal.transaction.AbortedTransaction;
import io.journalq.server.loop.LogThrottle;
import io.journalq.server.shard.healing.DamageListener;
import io.journalq.server.shard.read.AbortedLookup;
import io.journalq.server.shard.read.PartitionRead;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates the response of a fetch from the results of its reads. Recent records are sent from their file, or copied if
 * they are few. Older records may have to be read from the disk. The blocking pool reads them before the response is
 * sent. An incremental fetch response only contains partitions with news (KIP-227).
 *
 * <p>One for each fetch, on its connection's loop, except for the reads.
 */
final class FetchResponder {
    private static final Logger log = LoggerFactory.getLogger(FetchResponder.class);

    private static final LogThrottle SHORTAGES = new LogThrottle(log, 1);

    /** Up to this number of partitions, the copied records are smaller than 512 KiB in total. */
    private static final int FEW_PARTS = 16;

    private final FetchSessions sessions;
    private final Executor blockingPool;
    private final LeaderHints hints;
    private final DamageListener damage;
    private final boolean full;
    private boolean hasErrors;
    private RequestContext context;
    private FetchSession session;
    private List<FetchPart> parts;
    private List<SessionTopic<FetchPart>> respondedTopics;
    private List<FetchResponse.FetchableTopicResponse> topicResponses;
    private int outstandingReads;

    /**
     * Prepares the response to a request.
     *
     * @param hints names other leaders
     * @param damage learns of damage
     * @param full whether the response contains every partition, not only those with news
     */
    FetchResponder(
            FetchSessions sessions, Executor blockingPool, LeaderHints hints, DamageListener damage, boolean full) {
        this.sessions = sessions;
        this.blockingPool = blockingPool;
        this.hints = hints;
        this.damage = damage;
        this.full = full;
    }

    /** Responds with the records that the last pass found in {@code foundParts}. Takes ownership of the slices. */
    void send(RequestContext requestContext, FetchSession fetchSession, List<FetchPart> foundParts) {
        context = requestContext;
        session = fetchSession;
        parts = foundParts;
        long roomBytes = roomBytes();
        if (roomBytes > 0) {
            context.whenRoom(roomBytes, this::takeRecords);
        } else {
            takeRecords();
        }
    }

    private long roomBytes() {
        if (context.countsRecords()) {
            return copiedBytes();
        }
        // The copies, and the response into which they are written.
        return parts.size() <= FEW_PARTS ? 0 : 2 * copiedBytes();
    }

    /** Size of the records that are copied instead of being sent from their file. */
    private long copiedBytes() {
        long copiedBytes = 0;
        for (FetchPart part : parts) {
            JournalSlice slice = part.found().slice();
            if (slice != null) {
                copiedBytes += context.wantsMemory() ? slice.sizeBytes() : slice.copiedSizeBytes();
            }
        }
        return copiedBytes;
    }

    private void takeRecords() {
        List<FetchPart> cold = List.of();
        for (FetchPart part : parts) {
            JournalSlice slice = part.found().slice();
            if (slice != null && slice.isWarm() && isKnown(part.found().aborted())) {
                takeWarm(part, slice);
            } else if (slice != null) {
                cold = cold.isEmpty() ? new ArrayList<>() : cold;
                cold.add(part);
            }
        }
        if (cold.isEmpty()) {
            respond();
        } else {
            List<FetchPart> unread = cold;
            sessions.coldReads().add(context, () -> readCold(unread));
        }
    }

    private static boolean isKnown(AbortedLookup aborted) {
        return aborted == null || aborted.known() != null;
    }

    private void takeWarm(FetchPart part, JournalSlice slice) {
        AbortedLookup aborted = part.found().aborted();
        try {
            long endOffset = slice.offsetLimit();
            part.setRecords(toRecordsData(slice), endOffset, aborted == null ? List.of() : aborted.known());
        } catch (IOException failure) {
            onReadFailure(part, failure);
            part.setFound(PartitionRead.failed(ErrorCode.KAFKA_STORAGE_ERROR));
        } catch (OutOfMemoryError noDirectMemory) {
            // Nobody else would respond to a fetch that was parked.
            SHORTAGES.warn("records not read, out of direct memory", "fetch", noDirectMemory.getMessage());
            slice.release();
            part.setFound(PartitionRead.failed(ErrorCode.KAFKA_STORAGE_ERROR));
        }
    }

    /** On the thread that reads the slice. */
    private RecordsData toRecordsData(JournalSlice slice) throws IOException {
        return context.wantsMemory()
                ? RecordsData.of(slice.readFully(PooledByteBufAllocator.DEFAULT))
                : slice.toRecordsData(PooledByteBufAllocator.DEFAULT);
    }

    private void onReadFailure(FetchPart part, IOException failure) {
        if (failure instanceof CorruptJournalException) {
            damage.onDamage(part.topic().resolvedId(), part.partition(), part.fetchOffset());
        }
        log.error("cannot read: topic={} partition={}", part.topic().resolvedId(), part.partition(), failure);
    }

    private void readCold(List<FetchPart> cold) {
        outstandingReads = cold.size();
        for (FetchPart part : cold) {
            JournalSlice slice = part.found().slice();
            AbortedLookup aborted = part.found().aborted();
            if (sessions.isClosed()) {
                slice.release();
                onColdRead(part, ColdRead.NOTHING);
                continue;
            }
            try {
                blockingPool.execute(() -> loadAndPassOn(part, slice, aborted));
            } catch (RejectedExecutionException overloaded) {
                // Without records in the response, the client asks again.
                slice.release();
                onColdRead(part, ColdRead.NOTHING);
            }
        }
    }

    /** Records that were read from the disk. */
    private record ColdRead(RecordsData records, long endOffset, List<AbortedTransaction> aborted) {
        static final ColdRead NOTHING = new ColdRead(RecordsData.EMPTY, 0, List.of());
    }

    private void loadAndPassOn(FetchPart part, JournalSlice slice, AbortedLookup aborted) {
        ColdRead[] read = new ColdRead[1];
        try {
            read[0] = load(part, slice, aborted);
        } finally {
            // Also if memory has run out: without a response, the connection would never continue.
            session.cycle().execute(() -> onColdRead(part, read[0]));
        }
    }

    /**
     * Reads the records into the page cache, in the blocking pool. They are sent from the file, so that unread
     * responses use no memory. Returns null if the disk failed.
     */
    private ColdRead load(FetchPart part, JournalSlice slice, AbortedLookup lookup) {
        try {
            JournalSlice loaded = slice.load();
            try {
                List<AbortedTransaction> aborted = lookup == null ? List.of() : lookup.find(loaded.offsetLimit());
                return aborted == null
                        ? ColdRead.NOTHING
                        : new ColdRead(toRecordsData(loaded), loaded.offsetLimit(), aborted);
            } finally {
                loaded.release();
            }
        } catch (IOException failure) {
            onReadFailure(part, failure);
            return null;
        }
    }

    private void onColdRead(FetchPart part, ColdRead read) {
        if (read == null) {
            part.setFound(PartitionRead.failed(ErrorCode.KAFKA_STORAGE_ERROR));
        } else {
            part.setRecords(read.records(), read.endOffset(), read.aborted());
        }
        outstandingReads--;
        if (outstandingReads == 0) {
            sessions.coldReads().done();
            respond();
        }
    }

    private void respond() {
        respondedTopics = new ArrayList<>();
        topicResponses = new ArrayList<>();
        for (FetchPart part : parts) {
            part.remember(part.found());
        }
        if (full) {
            session.forEachPart(this::add);
        } else {
            parts.forEach(this::addIfNews);
        }
        respondedTopics.forEach(topic -> topic.setResponse(null));
        keepReady();
        session.setPending(null);
        FetchResponse response = new FetchResponse().setSessionId(session.id()).setResponses(topicResponses);
        if (hasErrors) {
            hints.addTo(context, response);
        }
        context.respond(response);
        sessions.onResponded(session);
    }

    /**
     * Queues the partitions that may have more records for the next fetch. Partitions that were left out because of
     * limits come first, then those that returned records, so that each gets its turn. A partition with a nearer
     * follower is queued, too: a consumer that could not read there comes back without naming it again, and it is not
     * parked.
     */
    private void keepReady() {
        for (FetchPart part : parts) {
            if (part.found().slice() == null
                    && (part.hasUnread() || part.isRedirected() || part.found().error() != ErrorCode.NONE)) {
                session.markReady(part);
            }
        }
        for (FetchPart part : parts) {
            if (part.takeFound().slice() != null) {
                session.markReady(part);
            }
            RecordsData unused = part.takeRecords();
            if (unused != null) {
                unused.release(); // of a partition that was removed in the meantime
            }
        }
    }

    private void addIfNews(FetchPart part) {
        PartitionRead found = part.found();
        if (found.slice() != null
                || found.error() != ErrorCode.NONE
                || found.divergingEpoch() != null
                || part.isRedirected()
                || part.hasNewOffsets()) {
            add(part);
        }
    }

    private void add(FetchPart part) {
        SessionTopic<FetchPart> topic = part.topic();
        if (topic.response() == null) {
            topic.setResponse(topic.newResponse().setPartitions(new ArrayList<>()));
            respondedTopics.add(topic);
            topicResponses.add(topic.response());
        }
        topic.response().partitions().add(data(part));
        part.markTold();
    }

    private static List<FetchResponse.AbortedTransaction> aborted(FetchPart part) {
        List<AbortedTransaction> aborted = part.takeAborted();
        List<FetchResponse.AbortedTransaction> transactions = new ArrayList<>(aborted.size());
        for (AbortedTransaction transaction : aborted) {
            transactions.add(new FetchResponse.AbortedTransaction()
                    .setProducerId(transaction.producerId())
                    .setFirstOffset(transaction.firstOffset()));
        }
        return transactions;
    }

    private FetchResponse.PartitionData data(FetchPart part) {
        RecordsData records = part.takeRecords();
        if (records != null) {
            int receivers = context.receivers();
            session.cycle().counters().onFetched((long) receivers * records.sizeBytes());
            part.countFetched(records, receivers);
        }
        FetchResponse.PartitionData data = new FetchResponse.PartitionData()
                .setPartitionIndex(part.partition())
                .setHighWatermark(part.highWatermark())
                .setLastStableOffset(part.lastStableOffset())
                .setLogStartOffset(part.logStartOffset())
                .setPreferredReadReplica(part.preferredReplica())
                .setAbortedTransactions(session.readsCommitted() ? aborted(part) : null)
                .setRecords(records == null ? RecordsData.EMPTY : records);
        PartitionRead found = part.found();
        if (found != null) {
            data.setErrorCode(found.error().code());
            if (found.error() != ErrorCode.NONE) {
                hasErrors = true;
                session.cycle().counters().onFetchError(found.error());
            }
            if (found.divergingEpoch() != null) {
                data.setDivergingEpoch(new FetchResponse.EpochEndOffset()
                        .setEpoch(found.divergingEpoch().epoch())
                        .setEndOffset(found.divergingEpoch().endOffset()));
            }
        }
        return data;
    }
}
