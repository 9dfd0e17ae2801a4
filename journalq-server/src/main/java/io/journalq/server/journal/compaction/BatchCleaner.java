package io.journalq.server.journal.compaction;

import io.journalq.common.record.BatchReader;
import io.journalq.common.record.BatchRewriter;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.BitSet;
import java.util.HashSet;
import java.util.Set;

/**
 * Decides what to do with each batch of a log, from the first batch on. Superseded and aborted records are removed.
 * Tombstones and the markers of transactions without data are removed after a delay. The delay begins when a batch with
 * such a record is cleaned for the first time, and is stored in the batch itself (KIP-534). The first batch of a leader
 * epoch stays, without messages, if an older epoch has batches: a replica that copies the log knows epochs only by their
 * batches. Single pass, one thread.
 */
public final class BatchCleaner implements AutoCloseable {
    private final CompactionRules rules;
    private final BatchReader reader;
    private final BatchRewriter rewriter;
    private final BitSet kept = new BitSet();
    /** Producers that have data in the log since their last marker. */
    private final Set<Long> producersWithData = new HashSet<>();

    /** Leader epoch of the batch before; {@link RecordBatch#NO_LEADER_EPOCH} before the first one. */
    private int lastEpoch = RecordBatch.NO_LEADER_EPOCH;

    private ByteBuf replacement;
    private int recordCount;
    private boolean hasTombstone;

    /** The decision on a batch. */
    public enum Fate {
        /** The batch stays unchanged. */
        KEPT,
        /** {@link BatchCleaner#takeReplacement} returns the batch that replaces it. */
        REPLACED,
        DROPPED
    }

    /**
     * Starts a pass.
     *
     * @param reader {@link #clean} reads its current batch
     */
    public BatchCleaner(CompactionRules rules, BatchReader reader, ByteBufAllocator allocator) {
        this.rules = rules;
        this.reader = reader;
        this.rewriter = new BatchRewriter(allocator);
    }

    /**
     * Decides on the reader's current batch.
     *
     * @param payload the buffer that the reader reads
     * @param mustStay whether a part of the batch must remain, because no batch follows it yet
     */
    public Fate clean(ByteBuf payload, boolean mustStay) {
        int at = reader.batchIndex();
        boolean control = RecordBatch.isControl(payload, at);
        boolean emptyTransaction = observe(payload, at, control);
        boolean begins = beginsEpoch(payload, at);
        boolean isCovered = RecordBatch.nextOffset(payload, at) <= rules.newestUpTo();
        long horizonMs =
                RecordBatch.hasDeleteHorizon(payload, at) ? RecordBatch.baseTimestamp(payload, at) : Long.MAX_VALUE;
        if (control) {
            recordCount = RecordBatch.recordCount(payload, at);
            kept.clear();
            // Without its record, a marker would not say what became of the transaction.
            if (!emptyTransaction || rules.nowMs() < horizonMs || begins) {
                kept.set(0, recordCount);
            }
        } else {
            // The leader may have set the time of a tombstone whose older records are still here.
            select(payload, at, !isCovered || rules.nowMs() < horizonMs);
        }
        boolean setHorizon =
                horizonMs == Long.MAX_VALUE && (emptyTransaction || (hasTombstone && !control)) && isCovered;
        return decide(payload, at, setHorizon, begins || mustStay);
    }

    private boolean beginsEpoch(ByteBuf payload, int at) {
        int epoch = RecordBatch.leaderEpoch(payload, at);
        boolean begins = lastEpoch != RecordBatch.NO_LEADER_EPOCH && epoch != lastEpoch;
        lastEpoch = epoch;
        return begins;
    }

    private Fate decide(ByteBuf payload, int at, boolean setHorizon, boolean mustStay) {
        if (kept.isEmpty()) {
            if (!mustStay && !rules.isLastOfProducer(payload, at)) {
                return Fate.DROPPED;
            }
            if (recordCount == 0 && RecordBatch.compressionId(payload, at) == CompressionCodec.NONE.id()) {
                return Fate.KEPT;
            }
        } else if (kept.cardinality() == recordCount && !setHorizon) {
            return Fate.KEPT;
        }
        long horizonMs = setHorizon ? rules.deleteHorizonMs() : BatchRewriter.SAME_HORIZON;
        replacement = rewriter.rewrite(reader, kept, horizonMs);
        return Fate.REPLACED;
    }

    /** The replacement of the last batch; the caller releases it. */
    public ByteBuf takeReplacement() {
        ByteBuf taken = replacement;
        replacement = null;
        return taken;
    }

    /** Tracks transactions. Returns true for a marker whose transaction has no data left. */
    private boolean observe(ByteBuf payload, int at, boolean control) {
        if (!RecordBatch.isTransactional(payload, at)) {
            return false;
        }
        long producerId = RecordBatch.producerId(payload, at);
        if (control) {
            return !producersWithData.remove(producerId) && !rules.isLastOfProducer(payload, at);
        }
        producersWithData.add(producerId);
        return false;
    }

    private void select(ByteBuf payload, int at, boolean keepTombstones) {
        kept.clear();
        hasTombstone = false;
        recordCount = RecordBatch.recordCount(payload, at);
        if (recordCount == 0) {
            return;
        }
        boolean aborted = RecordBatch.isTransactional(payload, at)
                && rules.ends().isAborted(RecordBatch.producerId(payload, at), RecordBatch.baseOffset(payload, at));
        for (int number = 0; !aborted && reader.next(); number++) {
            ByteBuf key = reader.key();
            if (key != null && rules.newest().offsetOf(key) <= reader.offset()) {
                boolean tombstone = reader.valueSizeBytes() < 0;
                if (!tombstone || keepTombstones) {
                    kept.set(number);
                    hasTombstone |= tombstone;
                }
            }
        }
    }

    @Override
    public void close() {
        if (replacement != null) {
            replacement.release();
            replacement = null;
        }
        rewriter.close();
    }
}
