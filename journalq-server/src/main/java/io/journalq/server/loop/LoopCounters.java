package io.journalq.server.loop;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;

/** Counts the work of one event loop for clients. Only that loop counts, without a full fence; any thread can read. */
public final class LoopCounters {
    private static final int APPENDED_MESSAGES = 0;
    private static final int APPENDED_BYTES = 1;
    private static final int FETCHED_BYTES = 2;
    private static final int VALIDATED_OFF_LOOP = 3;
    private static final int REFUSED_BY_DISK = 4;
    private static final int HAND_OVERS = 5;
    private static final int COUNT = 6;

    private final AtomicLongArray traffic = new AtomicLongArray(COUNT);
    private final AtomicLongArray requestsByApi = new AtomicLongArray(highestApiId() + 1);
    private final AtomicLongArray produceErrors = new AtomicLongArray(highestErrorIndex() + 1);
    private final AtomicLongArray fetchErrors = new AtomicLongArray(highestErrorIndex() + 1);

    /** Rarely counted, by any thread. */
    private final Map<Limit, LongAdder> limits = new EnumMap<>(Limit.class);

    LoopCounters() {
        for (Limit limit : Limit.values()) {
            limits.put(limit, new LongAdder());
        }
    }

    private static int highestApiId() {
        return Arrays.stream(ApiKey.values()).mapToInt(ApiKey::id).max().orElse(0);
    }

    private static int highestErrorIndex() {
        return Arrays.stream(ErrorCode.values())
                .mapToInt(LoopCounters::index)
                .max()
                .orElse(0);
    }

    /** Error codes begin at -1. */
    private static int index(ErrorCode error) {
        return error.code() + 1;
    }

    /** There is only one writer, so a plain read and a release write are enough. Neither needs a full fence. */
    static void add(AtomicLongArray counts, int index, long amount) {
        counts.lazySet(index, counts.getPlain(index) + amount);
    }

    /** A batch was appended to a partition of this loop. */
    public void onAppended(int messages, int sizeBytes) {
        add(traffic, APPENDED_MESSAGES, messages);
        add(traffic, APPENDED_BYTES, sizeBytes);
    }

    /** A batch was too large to be validated on the loop, and was passed to the blocking pool. */
    public void onValidatedOffLoop() {
        add(traffic, VALIDATED_OFF_LOOP, 1);
    }

    /** Appends were refused because the disk of their partition failed. */
    public void onRefusedByDisk(int appends) {
        add(traffic, REFUSED_BY_DISK, appends);
    }

    /** A task with work was handed to another loop. */
    void onHandOver() {
        add(traffic, HAND_OVERS, 1);
    }

    /** Records were added to a Fetch response. */
    public void onFetched(long sizeBytes) {
        add(traffic, FETCHED_BYTES, sizeBytes);
    }

    /** A request for a served API arrived. */
    public void onRequest(short apiId) {
        add(requestsByApi, apiId, 1);
    }

    /** A partition of a Produce request was refused. */
    public void onProduceError(ErrorCode error) {
        add(produceErrors, index(error), 1);
    }

    /** A partition of a Fetch response has an error. */
    public void onFetchError(ErrorCode error) {
        add(fetchErrors, index(error), 1);
    }

    /** A client exceeded a limit. Any thread. */
    public void onLimit(Limit limit) {
        limits.get(limit).increment();
    }

    /** Number of times that clients exceeded {@code limit}. */
    public long limit(Limit limit) {
        return limits.get(limit).sum();
    }

    /** Number of records appended, including those of the internal topics. */
    public long appendedMessages() {
        return traffic.get(APPENDED_MESSAGES);
    }

    /** Their size as received, compressed or not, in bytes. */
    public long appendedBytes() {
        return traffic.get(APPENDED_BYTES);
    }

    /** Number of batches that were too large to be validated on the loop. */
    public long validatedOffLoop() {
        return traffic.get(VALIDATED_OFF_LOOP);
    }

    /** Number of appends that were refused because a disk failed, including those to internal topics. */
    public long refusedByDisk() {
        return traffic.get(REFUSED_BY_DISK);
    }

    /** Number of tasks that were handed to other loops, each with all the work of one iteration for one loop. */
    public long handOvers() {
        return traffic.get(HAND_OVERS);
    }

    /** Size of the records in Fetch responses, in bytes. */
    public long fetchedBytes() {
        return traffic.get(FETCHED_BYTES);
    }

    public long requests(ApiKey api) {
        return requestsByApi.get(api.id());
    }

    public long produceErrors(ErrorCode error) {
        return produceErrors.get(index(error));
    }

    public long fetchErrors(ErrorCode error) {
        return fetchErrors.get(index(error));
    }
}
