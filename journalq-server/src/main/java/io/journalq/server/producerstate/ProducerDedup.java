package io.journalq.server.producerstate;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.record.RecordBatch;
import io.journalq.server.memory.MemoryAccount;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Keeps the batches of idempotent producers in one partition in order and free of duplicates. For each producer id it
 * remembers the epoch, the last five batches or more, and how many records came before them without a gap. A batch that
 * is sent again gets the response of the first time, or, if it is older than these batches, an error that clients count
 * as a success. A batch that leaves a gap is rejected.
 *
 * <p>A client sends older batches again when the leader changes: after five batches without a response of the last
 * leader, it sends more to the next one, which may have fetched the five.
 *
 * <p>Nothing tells whether an unknown producer was forgotten, and continues, or whether its first batches are still on
 * their way: they were refused by the last leader. Its first batch is therefore rejected with an error that every client
 * retries without a new epoch, unless its sequence is 0. It is accepted when it is sent again and no earlier batch
 * arrived in the meantime. A client sends the oldest batch that it still has first, so the repeated batch is that one.
 *
 * <p>One gap is accepted in the same way: after a loss that the delivery mode allows ({@link #onPossibleLoss}), a
 * producer continues behind batches that were acknowledged and lost. A batch that only overtook an older one is not
 * accepted, because the older one arrives in between.
 *
 * <p>Pure and single-threaded: {@link #check} decides, {@link #replay} changes the state, live and in recovery alike.
 * Bounded: beyond {@link #MAX_PRODUCERS}, or the memory limit for the producers of all partitions, the least recently
 * used producer is removed. {@link #onTick} removes producers that were silent for the expiry time.
 *
 * <p>Source: KIP-98, KIP-360. Five batches, because a producer has at most five requests in flight to a broker.
 */
public final class ProducerDedup {
    /** Batches that are always remembered of each producer. */
    public static final int REMEMBERED_BATCHES = 5;

    /** Maximum number of producers remembered in one partition. */
    public static final int MAX_PRODUCERS = 20_000;

    /** Unknown producers of one partition that send their first batch again. Those beyond that need not. */
    static final int MAX_AWAITED = 100;

    private static final long NO_BATCH = -1L;

    /** Half of all sequences. */
    private static final int MOST_AHEAD = ProducerState.MOST_UNBROKEN;

    private static final float LOAD_FACTOR = 0.75f;
    private static final int INITIAL_CAPACITY = 4;

    /** Estimated heap size of a producer, with or without a transaction. */
    public static final int PRODUCER_BYTES = 600;

    /** Estimated heap size of the first batch of an unknown producer. */
    static final int AWAITED_BYTES = 130;

    /**
     * In order of use, so that the first one is removed next. Created with the first producer: most partitions never
     * have one.
     */
    private Map<Long, ProducerState> statesById = Map.of();

    /**
     * The first batches that unknown producers must send again, by producer id. Created with the first one, and charged
     * like producers.
     */
    private Map<Long, FirstBatch> awaitedById = Map.of();

    /**
     * A producer whose newest batch lies before this offset may have lost acknowledged batches behind it; 0 for none.
     */
    private long lossOffset;

    private MemoryAccount memory = MemoryAccount.UNBOUNDED;
    private long forgottenCount;
    private long duplicateBaseOffset;
    private long duplicateAppendTimeMs;

    private record FirstBatch(short epoch, int sequence) {}

    /** How to handle a batch. */
    public enum Verdict {
        /** New and in order: append it, then call {@link ProducerDedup#replay}. */
        APPEND(ErrorCode.NONE),
        /** Already appended: respond with {@link ProducerDedup#duplicateBaseOffset} once that batch is durable. */
        DUPLICATE(ErrorCode.NONE),
        /**
         * Already appended before the batches that are remembered: respond with the error once everything before {@link
         * ProducerDedup#duplicateBaseOffset} is durable.
         */
        OLD_DUPLICATE(ErrorCode.DUPLICATE_SEQUENCE_NUMBER),
        /**
         * In order except for batches that were lost in an allowed way: append it, then call
         * {@link ProducerDedup#replay}.
         */
        APPEND_AFTER_LOSS(ErrorCode.NONE),
        /**
         * Of an unknown producer, or ahead of the known sequence, perhaps because of a loss: accepted when it is sent
         * again without an earlier batch in between.
         */
        SEND_AGAIN(ErrorCode.NOT_LEADER_OR_FOLLOWER),
        OUT_OF_ORDER(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER),
        FENCED(ErrorCode.INVALID_PRODUCER_EPOCH);

        private final ErrorCode error;

        Verdict(ErrorCode error) {
            this.error = error;
        }

        public ErrorCode error() {
            return error;
        }
    }

    /**
     * Starts charging producers to {@code account}. If it has no room for another producer, the least recently used one
     * is removed.
     */
    public void begin(MemoryAccount account) {
        memory = account;
        memory.add(chargedBytes());
    }

    /** Releases the charged memory, because these producers are no longer kept. */
    public void end() {
        memory.add(-chargedBytes());
        memory = MemoryAccount.UNBOUNDED;
    }

    private long chargedBytes() {
        return (long) PRODUCER_BYTES * statesById.size() + (long) AWAITED_BYTES * awaitedById.size();
    }

    /**
     * The log was recovered and ends at {@code endOffset}, and acknowledged batches behind it may be lost. Until a
     * producer appends again, its next batch may leave a gap. If all remembered batches of a producer are lost, the
     * producer counts as unknown: any sequence may come next.
     */
    public void onPossibleLoss(long endOffset) {
        lossOffset = endOffset;
        statesById.values().forEach(ProducerState::forgetSequenceWhenEmpty);
    }

    /** The last argument of {@link #onPossibleLoss}; 0 if it was not called. */
    long lossOffset() {
        return lossOffset;
    }

    /**
     * Checks a producer's batch. Changes nothing except which producer was used last, and which batch of it must be
     * sent again.
     *
     * @param producerId 0 or more
     * @param baseSequence the first record's sequence number, 0 or more
     * @param recordCount 1 or more
     */
    public Verdict check(long producerId, short epoch, int baseSequence, int recordCount) {
        ProducerState known = statesById.get(producerId);
        if (known == null) {
            return checkUnknown(producerId, epoch, baseSequence);
        }
        if (epoch < known.epoch()) {
            return Verdict.FENCED;
        }
        if (epoch > known.epoch()) {
            return checkOrder(known, epoch, 0, baseSequence);
        }
        if (known.isEmpty()) {
            if (known.sequenceWhenEmpty() == ProducerState.ANY_SEQUENCE) {
                return checkUnknown(producerId, epoch, baseSequence);
            }
            return known.sequenceWhenEmpty() == baseSequence ? Verdict.APPEND : Verdict.OUT_OF_ORDER;
        }
        int slot = known.find(baseSequence, lastSequence(baseSequence, recordCount));
        if (slot >= 0) {
            duplicateBaseOffset = known.baseOffset(slot);
            duplicateAppendTimeMs = known.appendTimeMs(slot);
            return Verdict.DUPLICATE;
        }
        if (known.isOlderRepetition(baseSequence, lastSequence(baseSequence, recordCount))) {
            duplicateBaseOffset = known.oldestOffset();
            return Verdict.OLD_DUPLICATE;
        }
        return checkOrder(known, epoch, ProducerState.after(known.lastSequence(known.slot(0))), baseSequence);
    }

    /** Its records may have been deleted by retention, so any sequence may come next (KIP-360). */
    private Verdict checkUnknown(long producerId, short epoch, int baseSequence) {
        FirstBatch awaited = awaitedById.get(producerId);
        boolean isAwaited = awaited != null && awaited.epoch() == epoch;
        if (baseSequence == 0 || (isAwaited && awaited.sequence() == baseSequence)) {
            return Verdict.APPEND;
        }
        if (isAwaited && isAhead(baseSequence, awaited.sequence())) {
            return Verdict.OUT_OF_ORDER;
        }
        if (awaited == null) {
            if (awaitedById.size() >= MAX_AWAITED || !memory.hasRoom(AWAITED_BYTES)) {
                return Verdict.APPEND;
            }
            if (awaitedById.isEmpty()) {
                awaitedById = new LinkedHashMap<>(INITIAL_CAPACITY);
            }
            memory.add(AWAITED_BYTES);
        }
        awaitedById.put(producerId, new FirstBatch(epoch, baseSequence));
        return Verdict.SEND_AGAIN;
    }

    private Verdict checkOrder(ProducerState known, short epoch, int expected, int baseSequence) {
        if (baseSequence == expected) {
            return Verdict.APPEND;
        }
        if (!known.mayHaveLostBatches(lossOffset) || !isAhead(baseSequence, expected)) {
            return Verdict.OUT_OF_ORDER;
        }
        if (known.isAwaited(epoch, baseSequence)) {
            return Verdict.APPEND_AFTER_LOSS;
        }
        if (known.isAnyAwaited(epoch) && isAhead(baseSequence, known.awaitedSequence())) {
            return Verdict.OUT_OF_ORDER;
        }
        known.await(epoch, baseSequence);
        return Verdict.SEND_AGAIN;
    }

    /** Base offset of the duplicate that the last {@link #check} found, or an offset behind an old duplicate. */
    public long duplicateBaseOffset() {
        return duplicateBaseOffset;
    }

    /** Append time of that batch in milliseconds since 1970 UTC; -1 if the topic keeps the producers' timestamps. */
    public long duplicateAppendTimeMs() {
        return duplicateAppendTimeMs;
    }

    /**
     * Applies a batch of the journal. Batches come in offset order; one without a producer id is ignored.
     *
     * @param appendTimeMs the batch's append time if the topic keeps append times, else -1
     * @param nowMs when this batch was appended, or the time of recovery; for expiry
     */
    public void replay(
            long producerId,
            short epoch,
            int baseSequence,
            int recordCount,
            long baseOffset,
            long appendTimeMs,
            long nowMs) {
        if (producerId == RecordBatch.NO_PRODUCER_ID) {
            return;
        }
        ProducerState state = stateFor(producerId);
        state.use(nowMs);
        if (baseSequence == RecordBatch.NO_SEQUENCE) {
            return;
        }
        state.add(epoch, baseSequence, lastSequence(baseSequence, recordCount), baseOffset, appendTimeMs);
        if (!awaitedById.isEmpty() && awaitedById.remove(producerId) != null) {
            memory.add(-AWAITED_BYTES);
        }
    }

    /** Discards the batches from {@code offset} on, which the journal has lost. */
    public void truncateTo(long offset) {
        statesById.values().forEach(state -> state.truncateTo(offset));
    }

    /**
     * Removes the producers that have not appended for {@code expiryMs}. A producer that was only idle can continue,
     * because any sequence of an unknown producer is accepted.
     */
    public void onTick(long nowMs, long expiryMs) {
        // Those that did not come back would be kept for ever.
        memory.add(-(long) AWAITED_BYTES * awaitedById.size());
        awaitedById = Map.of();
        Iterator<ProducerState> oldestFirst = statesById.values().iterator();
        while (oldestFirst.hasNext()) {
            ProducerState oldest = oldestFirst.next();
            if (nowMs - oldest.lastUsedMs() <= expiryMs) {
                return;
            }
            if (oldest.transaction() == null) {
                oldestFirst.remove();
                memory.add(-PRODUCER_BYTES);
            }
        }
    }

    /**
     * Base offset of the newest batch of each producer; -1 if only markers are known. Compaction keeps a part of these
     * batches, so that a restart still knows the producers.
     */
    public Map<Long, Long> newestBatchOffsets() {
        Map<Long, Long> offsets = new TreeMap<>();
        statesById.forEach(
                (id, state) -> offsets.put(id, state.isEmpty() ? NO_BATCH : state.baseOffset(state.slot(0))));
        return offsets;
    }

    /** Number of producers remembered. */
    public int producerCount() {
        return statesById.size();
    }

    /** Number of producers that were removed to make room for others since this was created. */
    public long forgottenCount() {
        return forgottenCount;
    }

    /** Sequence of the last of {@code recordCount} records; sequences wrap from the largest int to 0. */
    static int lastSequence(int baseSequence, int recordCount) {
        return (int) (((long) baseSequence + recordCount - 1) & Integer.MAX_VALUE);
    }

    Map<Long, ProducerState> statesById() {
        return statesById;
    }

    /** Restores a producer's state. */
    void restore(long producerId, ProducerState state) {
        if (put(producerId, state) == null) {
            memory.add(PRODUCER_BYTES);
        }
    }

    private ProducerState put(long producerId, ProducerState state) {
        if (statesById.isEmpty()) {
            statesById = new LinkedHashMap<>(INITIAL_CAPACITY, LOAD_FACTOR, true);
        }
        return statesById.put(producerId, state);
    }

    void forget(long producerId) {
        if (statesById.containsKey(producerId)) {
            statesById.remove(producerId);
            memory.add(-PRODUCER_BYTES);
        }
    }

    ProducerState stateFor(long producerId) {
        ProducerState state = statesById.get(producerId);
        if (state == null) {
            state = new ProducerState();
            boolean isOneTooMany = statesById.size() >= MAX_PRODUCERS || !memory.hasRoom(PRODUCER_BYTES);
            put(producerId, state);
            memory.add(PRODUCER_BYTES);
            if (isOneTooMany) {
                forgetOldest(producerId);
            }
        }
        return state;
    }

    /**
     * Removes the least recently used producer. Producers with open transactions are skipped and count as used, so that
     * the next search does not meet them.
     */
    private void forgetOldest(long newestId) {
        List<Long> passedBy = new ArrayList<>();
        Iterator<Map.Entry<Long, ProducerState>> oldestFirst =
                statesById.entrySet().iterator();
        while (oldestFirst.hasNext()) {
            Map.Entry<Long, ProducerState> oldest = oldestFirst.next();
            if (oldest.getKey() == newestId) {
                break;
            }
            if (oldest.getValue().transaction() == null) {
                oldestFirst.remove();
                memory.add(-PRODUCER_BYTES);
                forgottenCount++;
                break;
            }
            passedBy.add(oldest.getKey());
        }
        passedBy.forEach(statesById::get);
    }

    /** Sequences wrap, so the shorter distance counts. */
    private static boolean isAhead(int sequence, int other) {
        return ProducerState.distance(other, sequence) < MOST_AHEAD;
    }
}
