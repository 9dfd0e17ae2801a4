package io.journalq.server.gateway.consume;

import io.journalq.common.check.Check;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.RecordsData;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.common.record.BatchReader;
import io.journalq.common.record.InvalidBatchException;
import io.journalq.common.record.RecordBatch;
import io.journalq.server.gateway.http.Caller;
import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemType;
import io.journalq.server.loop.Loop;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads records for a client, through the broker's Fetch handler. It knows partitions by numbers: those in their topic,
 * or, if it reads several topics, numbers that its owner has given. The log is the buffer: fetched records are
 * kept only while the client reads. If it stops for {@link #DROP_MS}, they are dropped, and fetched again when the client
 * goes on. Records in files use no memory, but keep a deleted segment on the disk, so that they are dropped, too. On the
 * loop of its caller.
 *
 * <p>All readers share the memory for fetched records, and reserve it before their records are read. If it is used up,
 * they wait for it in order of arrival. A reader that waits holds none. Records that a client does not read are dropped
 * earlier if half of the memory is used up, and at once if others wait for it.
 */
public final class Tail {
    private static final Logger log = LoggerFactory.getLogger(Tail.class);

    private static final int FETCH_VERSION = 12;
    private static final byte READ_COMMITTED = 1;
    private static final int NO_SESSION = -1;

    /** Size of a fetch for records that become JSON, unless a single batch is larger. */
    public static final int FETCH_BYTES = 64 * 1024;

    /**
     * Minimum size of a fetch if the last one found records in files: they use no memory, and are often in several
     * partitions.
     */
    private static final int FILE_FETCH_BYTES = 2 * 1024 * 1024;

    /** Larger batches are not decompressed on the loop. */
    private static final int MAX_DECOMPRESSED_BYTES = 16 * 1024 * 1024;

    private static final int DROP_MS = 1_000;

    /** The same, if half of the memory for fetched records is used up. A client that reads has gone on before. */
    private static final int EARLY_DROP_MS = 20;

    /** Time until the next attempt to fetch large batches while the memory for responses is used up. */
    private static final int SHORTAGE_MS = 20;

    private final Caller caller;
    private final IntFunction<TopicPartition> names;
    private final int fetchBytes;
    private final BatchReader reader;
    private final WholeBatches whole = new WholeBatches();

    /** The next offset of each partition. */
    private final Map<Integer, Long> positions = new TreeMap<>();

    /** The offset of each partition at which its reading ends. */
    private final Map<Integer, Long> ends = new TreeMap<>();

    /** Results of the last fetch that were not begun. */
    private final ArrayDeque<Fetched> fetched = new ArrayDeque<>();

    /** The records that are being read; null if there are none. */
    private RecordsData records;

    private AbortedBatches aborted;
    private int partition;
    private ErrorCode error = ErrorCode.NONE;
    private boolean inBatch;
    private boolean refused;
    private int throttleMs;

    /** Whether the last fetch found records in files, and few others. */
    private boolean inFiles;

    /** Whether the last fetch of batches found more than {@link #FETCH_BYTES} in memory. */
    private boolean largeInMemory;

    /** Memory that the fetch in flight has reserved, or waits for. */
    private long reservedBytes;

    /** Size of the fetched records in memory, which counts against the memory for them. */
    private long heldBytes;

    /** The part of {@link #heldBytes} that is decompressed records. */
    private long heldDecompressedBytes;

    /** Where the batches of the last {@link #nextBatches} begin in {@link #records}; negative if there are none. */
    private int batchesFrom = -1;

    private int batchesTo;
    private int batchRecords;

    private Loop.Timer drop;
    private boolean fetching;
    private boolean closed;
    private Runnable onIdle = () -> {};

    /** What comes next. */
    public enum Step {
        /** The next record of {@link Tail#partition}, or its next batches, depending on the method. */
        RECORD,
        /** The results of {@link Tail#partition} begin. They may have no records. */
        PARTITION,
        /** {@link Tail#partition} was read up to its end. */
        END,
        /** The position of {@link Tail#partition} is not in its log. */
        OUT_OF_RANGE,
        /** {@link Tail#partition} cannot be read, because of {@link Tail#error}. */
        FAILED,
        /** All that was fetched has been read. */
        FETCH
    }

    /** Results of the partition with a number. */
    private record Fetched(int number, FetchResponse.PartitionData data) {}

    /**
     * Reads one topic.
     *
     * @param fetchBytes size of a fetch, unless a single batch is larger
     */
    public Tail(Caller caller, String topic, int fetchBytes) {
        this(caller, number -> new TopicPartition(topic, number), fetchBytes);
    }

    /**
     * Reads several topics.
     *
     * @param names the partition with a number. A partition that is read again from another position gets another number
     *     first
     * @param fetchBytes size of a fetch, unless a single batch is larger
     */
    public Tail(Caller caller, IntFunction<TopicPartition> names, int fetchBytes) {
        this.caller = caller;
        this.names = names;
        this.fetchBytes = fetchBytes;
        this.reader = new BatchReader(caller.allocator(), MAX_DECOMPRESSED_BYTES, false);
    }

    /** Sets the positions at which the reading begins. */
    public void begin(Map<Integer, Long> offsets) {
        positions.putAll(offsets);
    }

    /** Sets where the reading ends. Without this, it does not end. */
    void endAt(Map<Integer, Long> offsets) {
        ends.clear();
        ends.putAll(offsets);
    }

    /** The next offset of each partition. */
    public Map<Integer, Long> positions() {
        return positions;
    }

    private long end(int number) {
        return ends.getOrDefault(number, Long.MAX_VALUE);
    }

    /** Whether the partition was read up to its end. */
    boolean isAtEnd(int number) {
        return positions.get(number) >= end(number);
    }

    /** The partition of the last step. */
    public int partition() {
        return partition;
    }

    /** The current record, and its batch. */
    public BatchReader record() {
        return reader;
    }

    /** Why the partition cannot be read. */
    public ErrorCode error() {
        return error;
    }

    /** Whether the results of the partition have records. */
    public boolean hasRecords() {
        return records != null;
    }

    /** Whether records of the last fetch are left. */
    boolean hasRest() {
        return records != null || !fetched.isEmpty();
    }

    /**
     * Fetches what comes next. Nothing of an earlier fetch may be left.
     *
     * @param partitions in the order in which they have their turns
     * @param waitMs how long the broker may wait for a record
     * @param onFetched is called when {@link #next} can be called, unless the reading has ended before
     */
    public void fetch(Collection<Integer> partitions, int waitMs, Runnable onFetched) {
        if (closed) {
            return;
        }
        if (largeInMemory && caller.memory().isFullOfResponses()) {
            // They become responses as they are.
            caller.schedule(() -> fetch(partitions, waitMs, onFetched), SHORTAGE_MS);
            return;
        }
        if (throttleMs > 0) {
            int delayMs = throttleMs;
            throttleMs = 0;
            caller.schedule(() -> fetch(partitions, waitMs, onFetched), delayMs);
            return;
        }
        int maxBytes = maxBytes();
        Map<TopicPartition, Integer> asked = new HashMap<>();
        Map<String, List<FetchRequest.FetchPartition>> byTopic = new LinkedHashMap<>();
        for (int number : partitions) {
            if (!positions.containsKey(number)) {
                continue; // It was given up while the fetch was delayed.
            }
            TopicPartition name = names.apply(number);
            asked.put(name, number);
            byTopic.computeIfAbsent(name.topic(), topic -> new ArrayList<>())
                    .add(new FetchRequest.FetchPartition()
                            .setPartition(name.partition())
                            .setFetchOffset(positions.get(number))
                            .setPartitionMaxBytes(maxBytes));
        }
        FetchRequest request = new FetchRequest()
                .setMaxWaitMs(waitMs)
                .setMinBytes(waitMs == 0 ? 0 : 1)
                .setMaxBytes(maxBytes)
                .setSessionEpoch(NO_SESSION)
                .setIsolationLevel(READ_COMMITTED)
                .setTopics(byTopic.entrySet().stream()
                        .map(topic -> new FetchRequest.FetchTopic()
                                .setTopic(topic.getKey())
                                .setPartitions(topic.getValue()))
                        .toList());
        fetching = true;
        caller.fetch(FETCH_VERSION, request, this::reserve, response -> onFetched(response, asked, onFetched));
    }

    /** The fetch has found records. An earlier attempt can have found some that could not be read. */
    private boolean reserve(long sizeBytes, Runnable granted) {
        caller.memory().giveBackFromFetched(reservedBytes);
        reservedBytes = sizeBytes;
        return caller.memory().reserveForFetched(sizeBytes, granted);
    }

    /** Holds what was fetched instead of what was reserved for it. Records of other brokers were not reserved. */
    private void hold(long bytes) {
        heldBytes += bytes;
        if (bytes > reservedBytes) {
            caller.memory().takeForFetched(bytes - reservedBytes);
        } else {
            caller.memory().giveBackFromFetched(reservedBytes - bytes);
        }
        reservedBytes = 0;
    }

    private int maxBytes() {
        if (caller.memory().isFullOfResponses()) {
            return Math.min(fetchBytes, FETCH_BYTES);
        }
        return inFiles ? Math.max(fetchBytes, FILE_FETCH_BYTES) : fetchBytes;
    }

    private void onFetched(ApiMessage message, Map<TopicPartition, Integer> asked, Runnable onFetched) {
        fetching = false;
        refused = !(message instanceof FetchResponse);
        inFiles = false;
        long fetchedBytes = 0;
        if (message instanceof FetchResponse response) {
            throttleMs = response.throttleTimeMs();
            for (FetchResponse.FetchableTopicResponse each : response.responses()) {
                for (FetchResponse.PartitionData data : each.partitions()) {
                    TopicPartition name = new TopicPartition(each.topic(), data.partitionIndex());
                    fetched.add(new Fetched(asked.get(name), data));
                    if (data.records().buffer() == null) {
                        inFiles = true;
                    } else {
                        fetchedBytes += data.records().sizeBytes();
                    }
                }
            }
        }
        hold(fetchedBytes);
        if (!refused) {
            inFiles &= heldBytes <= fetchBytes;
            largeInMemory = fetchBytes > FETCH_BYTES && heldBytes > FETCH_BYTES;
        }
        if (closed) {
            drop();
            onIdle.run();
        } else {
            onFetched.run();
        }
    }

    /**
     * Steps forward in what was fetched.
     *
     * @throws io.journalq.common.record.InvalidBatchException if a batch cannot be decompressed, or a record cannot be
     *     decoded
     */
    public Step next() {
        if (refused) {
            error = ErrorCode.UNKNOWN_SERVER_ERROR;
            return Step.FAILED;
        }
        Check.that(records == null || records.buffer() != null, "records in files are read as whole batches");
        while (true) {
            while (inBatch && reader.next()) {
                long offset = reader.offset();
                if (offset >= end(partition)) {
                    pass(end(partition));
                    releaseRecords();
                    return Step.END;
                } else if (offset >= positions.get(partition)) {
                    reader.check(); // before anything of it is written, or the position is behind it
                    positions.put(partition, offset + 1);
                    return Step.RECORD;
                }
            }
            if (inBatch) {
                inBatch = false;
                pass(reader.nextOffset());
            }
            if (records != null && reader.nextBatch()) {
                inBatch = aborted.isReadable(records.buffer(), reader.batchIndex());
                if (!inBatch) {
                    pass(reader.nextOffset());
                }
            } else {
                releaseRecords();
                return fetched.isEmpty() ? Step.FETCH : beginPartition(fetched.remove());
            }
        }
    }

    /**
     * Steps forward as {@link #next}, but by whole batches. Batches of aborted transactions, and markers, are left out.
     *
     * @param maxBytes size at which a step ends, behind a batch
     * @param maxRecords records at which a step ends, behind a batch
     */
    public Step nextBatches(int maxBytes, long maxRecords) {
        if (refused) {
            error = ErrorCode.UNKNOWN_SERVER_ERROR;
            return Step.FAILED;
        }
        try {
            return stepByBatches(maxBytes, maxRecords);
        } catch (IOException unreadable) {
            log.error("cannot read: {}", names.apply(partition), unreadable);
            error = ErrorCode.KAFKA_STORAGE_ERROR;
            return Step.FAILED;
        }
    }

    private Step stepByBatches(int maxBytes, long maxRecords) throws IOException {
        while (true) {
            batchesFrom = -1;
            batchRecords = 0;
            while (records != null
                    && (batchesFrom < 0 || (batchesTo - batchesFrom < maxBytes && batchRecords < maxRecords))
                    && whole.next()) {
                pass(RecordBatch.nextOffset(whole.log(), whole.logIndex()));
                if (aborted.isReadable(whole.log(), whole.logIndex())) {
                    batchesFrom = batchesFrom < 0 ? whole.index() : batchesFrom;
                    batchesTo = whole.nextIndex();
                    batchRecords += RecordBatch.recordCount(whole.log(), whole.logIndex());
                } else if (batchesFrom >= 0) {
                    break;
                }
            }
            if (batchesFrom >= 0) {
                return Step.RECORD;
            }
            releaseRecords();
            return fetched.isEmpty() ? Step.FETCH : beginPartition(fetched.remove());
        }
    }

    /** The current batches, which the caller releases. The first can begin before the position. */
    public RecordsData takeBatches() {
        return whole.part(batchesFrom, batchesTo);
    }

    /** The number of records in the current batches. */
    public int batchRecords() {
        return batchRecords;
    }

    private void pass(long offset) {
        positions.merge(partition, Math.min(offset, end(partition)), Math::max);
    }

    private Step beginPartition(Fetched next) {
        FetchResponse.PartitionData data = next.data;
        partition = next.number;
        error = ErrorCode.of(data.errorCode());
        boolean forgotten = !positions.containsKey(partition);
        if (error == ErrorCode.NONE && data.records().sizeBytes() > 0 && !forgotten) {
            records = data.records();
            aborted = new AbortedBatches(data.abortedTransactions());
            whole.reset(records);
            if (records.buffer() != null) {
                reader.reset(records.buffer());
            }
            return Step.PARTITION;
        }
        data.records().release();
        if (forgotten) {
            return Step.PARTITION;
        }
        return switch (error) {
            case NONE -> Step.PARTITION;
            case OFFSET_OUT_OF_RANGE -> Step.OUT_OF_RANGE;
            default -> Step.FAILED;
        };
    }

    /** The problem of a batch that cannot be decompressed. */
    public Problem problem(InvalidBatchException unreadable) {
        return new Problem(
                ProblemType.INTERNAL_ERROR,
                "a batch of partition " + names.apply(partition).partition() + " at offset " + positions.get(partition)
                        + " cannot be decompressed here: " + unreadable.getMessage(),
                "read it with a Kafka client");
    }

    /** Continues at another offset of a partition. */
    public void seek(int number, long offset) {
        positions.put(number, offset);
    }

    /** Reads a partition no more, nor what was fetched of it. */
    public void forget(int number) {
        positions.remove(number);
        if (records != null && partition == number) {
            releaseRecords();
        }
    }

    /**
     * Runs {@code work} when the client has read most of a response. Keeps the fetched records for a while.
     *
     * @param response to which the records are written
     */
    public void awaitClient(HttpExchange response, Runnable work) {
        long decompressedBytes = Math.max(0, reader.decompressedBytes() - heldDecompressedBytes);
        heldDecompressedBytes += decompressedBytes;
        hold(decompressedBytes);
        if (caller.memory().isFullOfFetched() || caller.memory().isFullOfResponses()) {
            drop();
        } else {
            keep();
        }
        response.whenWritable(() -> {
            goOn();
            work.run();
        });
    }

    /** Keeps the fetched records for a while, because the client takes no more now. */
    public void keep() {
        if (drop == null && (heldBytes > 0 || hasRest())) {
            drop = caller.schedule(this::drop, caller.memory().isHalfFullOfFetched() ? EARLY_DROP_MS : DROP_MS);
        }
    }

    /** The client takes more. Ends {@link #keep}. */
    public void goOn() {
        if (drop != null) {
            drop.cancel();
            drop = null;
        }
    }

    private void releaseRecords() {
        inBatch = false;
        reader.close();
        if (records != null) {
            records.release();
            records = null;
        }
    }

    /** Drops what was fetched and not read. It can be fetched again. */
    public void drop() {
        goOn();
        refused = false;
        releaseRecords();
        fetched.forEach(each -> each.data.records().release());
        fetched.clear();
        caller.memory().giveBackFromFetched(heldBytes);
        heldBytes = 0;
        heldDecompressedBytes = 0;
    }

    /** Ends the reading. */
    public void close() {
        closed = true;
        drop();
    }

    /**
     * Ends the reading while its caller goes on.
     *
     * @param idle is called when no fetch is in flight any more; not called if none is
     * @return whether a fetch is in flight
     */
    public boolean close(Runnable idle) {
        onIdle = idle;
        close();
        return fetching;
    }
}
