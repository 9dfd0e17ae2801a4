package io.journalq.server.loop;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;

/** What one event loop did for clients. Counted by that loop alone, without a fence; read by any thread. */
public final class LoopCounters {
    private static final int APPENDED_MESSAGES = 0;
    private static final int APPENDED_BYTES = 1;
    private static final int FETCHED_BYTES = 2;
    private static final int CHECKED_ELSEWHERE = 3;
    private static final int REFUSED_BY_DISK = 4;
    private static final int COUNT = 5;

    private final AtomicLongArray traffic = new AtomicLongArray(COUNT);
    private final AtomicLongArray requestsByApi = new AtomicLongArray(highestApiId() + 1);
    private final AtomicLongArray produceErrors = new AtomicLongArray(highestErrorIndex() + 1);
    private final AtomicLongArray fetchErrors = new AtomicLongArray(highestErrorIndex() + 1);

    /** Seldom counted, and by any thread. */
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

    /** The only writer: a plain increment, published without a fence that waits. */
    private static void add(AtomicLongArray counts, int index, long amount) {
        counts.lazySet(index, counts.getPlain(index) + amount);
    }

    /** A batch was appended to a partition of this loop. */
    public void onAppended(int messages, int sizeBytes) {
        add(traffic, APPENDED_MESSAGES, messages);
        add(traffic, APPENDED_BYTES, sizeBytes);
    }

    /** A batch was too large for the loop to look into, and went to a thread that may block. */
    public void onCheckedElsewhere() {
        add(traffic, CHECKED_ELSEWHERE, 1);
    }

    /** Appends were refused, as the disk failed under their partition. */
    public void onRefusedByDisk(int appends) {
        add(traffic, REFUSED_BY_DISK, appends);
    }

    /** Records went into an answer to a fetch. */
    public void onFetched(int sizeBytes) {
        add(traffic, FETCHED_BYTES, sizeBytes);
    }

    /** A request came in for an API that exists. */
    public void onRequest(short apiId) {
        add(requestsByApi, apiId, 1);
    }

    /** A partition of a Produce request was refused. */
    public void onProduceError(ErrorCode error) {
        add(produceErrors, index(error), 1);
    }

    /** A partition of a Fetch request was answered with an error. */
    public void onFetchError(ErrorCode error) {
        add(fetchErrors, index(error), 1);
    }

    /** Somebody went beyond a limit. Any thread. */
    public void onLimit(Limit limit) {
        limits.get(limit).increment();
    }

    /** How often somebody did. */
    public long limit(Limit limit) {
        return limits.get(limit).sum();
    }

    /** Messages appended, those of the broker's own topics and of clients alike. */
    public long appendedMessages() {
        return traffic.get(APPENDED_MESSAGES);
    }

    /** Their size as they came, compressed or not, in bytes. */
    public long appendedBytes() {
        return traffic.get(APPENDED_BYTES);
    }

    /** Batches that were too large for the loop to look into. */
    public long checkedElsewhere() {
        return traffic.get(CHECKED_ELSEWHERE);
    }

    /** Appends that were refused as the disk failed, those of the broker's own topics and of clients alike. */
    public long refusedByDisk() {
        return traffic.get(REFUSED_BY_DISK);
    }

    /** Size of the records in answers to fetches, in bytes. */
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
