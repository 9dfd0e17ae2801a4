package io.journalq.server.shard;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.record.BatchValidation;
import io.journalq.common.record.BatchValidator;
import io.journalq.common.record.CorruptBatchException;
import io.journalq.common.record.RecordBatch;
import io.journalq.common.record.TransactionMarker;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.transaction.AbortedTransaction;
import io.journalq.server.loop.Limit;
import io.journalq.server.loop.LoopCounters;
import io.journalq.server.replication.EndedTransaction;
import io.journalq.server.replication.PartitionTransactions;
import io.journalq.server.replication.PartitionTransactions.MarkerVerdict;
import io.journalq.server.replication.ProducerDedup;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides whether a batch or a marker may enter a partition's journal, and stages it there: its bytes are sound, its
 * producer sends it in order and for the first time, and it fits the producer's transaction. On the partition's loop.
 */
final class BatchAdmission {
    private static final Logger log = LoggerFactory.getLogger(BatchAdmission.class);
    private static final long PRODUCERS_TIME = -1L;

    private final TopicPartition name;
    private final BatchValidator validator;
    private final InlineRoom room;
    private final ProducerDedup producers;
    private final PartitionTransactions transactions;
    private final Journal journal;
    private final LoopCounters counters;

    /** Ends of aborted transactions that are staged. */
    private final List<AbortedTransaction> unwrittenAborts = new ArrayList<>();

    /** @param validator shared by the partitions of a loop, as {@code room} is */
    BatchAdmission(BatchValidator validator, InlineRoom room, RecoveredPartition partition, LoopCounters counters) {
        this.name = partition.name();
        this.validator = validator;
        this.room = room;
        this.producers = partition.producers();
        this.transactions = partition.transactions();
        this.journal = partition.journal();
        this.counters = counters;
    }

    /** What became of an append. */
    enum Outcome {
        /** It waits for the journal to be written. */
        STAGED,
        REFUSED,
        /** Nothing: the batch has to be looked into by a thread that may block. */
        TOO_LARGE_HERE
    }

    /**
     * Stages a batch, or finds that it is there already; else refuses the append, or leaves it as it is.
     *
     * @param staysInMemory whether the batch waits for longer than this cycle: then a copy is staged, as it may be a small
     *     part of a large buffer
     */
    Outcome admit(Append append, PartitionSettings settings, int leaderEpoch, long nowMs, boolean staysInMemory) {
        ByteBuf records = append.records();
        int sizeBytes = records == null ? 0 : records.readableBytes();
        BatchValidation checked = validator.validate(
                records, append.produceVersion(), settings.rules(), nowMs, room.roomBytes(sizeBytes));
        room.onChecked(checked, sizeBytes);
        if (checked.isUndecided()) {
            return Outcome.TOO_LARGE_HERE;
        }
        if (!checked.isSound()) {
            append.refuse(checked);
            return Outcome.REFUSED;
        }
        ByteBuf recompressed = null;
        if (settings.recompresses(checked.codec())) {
            if (!room.allowsRecompression(Math.max(sizeBytes, checked.decompressedSizeBytes()))) {
                return Outcome.TOO_LARGE_HERE;
            }
            try {
                recompressed = LargeBatchCheck.recompress(records, settings);
            } catch (CorruptBatchException corrupt) {
                append.refuse(ErrorCode.INVALID_RECORD, corrupt.getMessage());
                return Outcome.REFUSED;
            }
        }
        return enter(append, checked, recompressed, settings, leaderEpoch, nowMs, staysInMemory);
    }

    /** The same for a batch that was looked into elsewhere. */
    Outcome admit(LargeBatchCheck check, int leaderEpoch, long nowMs, boolean staysInMemory) {
        return check.refusesUnsound()
                ? Outcome.REFUSED
                : enter(
                        check.append(),
                        check.validation(),
                        check.takeRecompressed(),
                        check.settings(),
                        leaderEpoch,
                        nowMs,
                        staysInMemory);
    }

    /** @param recompressed the form to keep, released here; null for that in which it came */
    private Outcome enter(
            Append append,
            BatchValidation checked,
            ByteBuf recompressed,
            PartitionSettings settings,
            int leaderEpoch,
            long nowMs,
            boolean staysInMemory) {
        try {
            if (recompressed != null
                    && recompressed.readableBytes() > settings.rules().maxBatchSizeBytes()) {
                append.refuse(
                        Limit.BATCH_BYTES,
                        ErrorCode.MESSAGE_TOO_LARGE,
                        "the batch is larger than the topic's max.message.bytes in the topic's compression.type");
                return Outcome.REFUSED;
            }
            if (checked.producerId() != RecordBatch.NO_PRODUCER_ID) {
                Outcome known = checkProducer(append, checked);
                if (known != null) {
                    return known;
                }
            }
            long appendTimeMs = settings.rules().logAppendTime() ? nowMs : PRODUCERS_TIME;
            if (recompressed != null) {
                stage(append, recompressed, checked, appendTimeMs, leaderEpoch, nowMs);
            } else if (staysInMemory) {
                stageCopy(append, checked, appendTimeMs, leaderEpoch, nowMs);
            } else {
                stage(append, append.records(), checked, appendTimeMs, leaderEpoch, nowMs);
            }
            return Outcome.STAGED;
        } finally {
            if (recompressed != null) {
                recompressed.release();
            }
        }
    }

    /** Null when the batch is its producer's next, and fits its transaction. */
    private Outcome checkProducer(Append append, BatchValidation checked) {
        ProducerDedup.Verdict verdict = producers.check(
                checked.producerId(), checked.producerEpoch(), checked.baseSequence(), checked.recordCount());
        if (verdict == ProducerDedup.Verdict.DUPLICATE) {
            long baseOffset = producers.duplicateBaseOffset();
            append.place(baseOffset, baseOffset + checked.recordCount(), producers.duplicateAppendTimeMs());
            return Outcome.STAGED;
        }
        if (verdict.error() != ErrorCode.NONE) {
            append.refuse(verdict.error(), null);
            return Outcome.REFUSED;
        }
        ErrorCode refusal =
                transactions.checkBatch(checked.producerId(), checked.isTransactional(), append.isInTransaction());
        if (refusal != ErrorCode.NONE) {
            boolean tooMany = refusal == ErrorCode.NOT_ENOUGH_REPLICAS;
            append.refuse(tooMany ? Limit.PARTITION_TRANSACTIONS : null, refusal, null);
            return Outcome.REFUSED;
        }
        if (verdict == ProducerDedup.Verdict.APPEND_AFTER_LOSS) {
            log.warn(
                    "acknowledged records of a producer are lost, as the delivery mode allows, and it goes on behind them:"
                            + " partition={} producerId={} epoch={} nextSequence={}",
                    name,
                    checked.producerId(),
                    checked.producerEpoch(),
                    checked.baseSequence());
        }
        return null;
    }

    private void stageCopy(Append append, BatchValidation checked, long appendTimeMs, int leaderEpoch, long nowMs) {
        ByteBuf records = append.records();
        ByteBuf copy = PooledByteBufAllocator.DEFAULT.buffer(records.readableBytes());
        try {
            copy.writeBytes(records, records.readerIndex(), records.readableBytes());
            stage(append, copy, checked, appendTimeMs, leaderEpoch, nowMs);
        } finally {
            copy.release();
        }
    }

    private void stage(
            Append append, ByteBuf records, BatchValidation checked, long appendTimeMs, int leaderEpoch, long nowMs) {
        if (appendTimeMs != PRODUCERS_TIME) {
            BatchValidator.stampLogAppendTime(records, records.readerIndex(), appendTimeMs);
        }
        long baseOffset = journal.append(records, leaderEpoch);
        append.keep(records.readableBytes());
        counters.onAppended(checked.recordCount(), checked.sizeBytes());
        long forgotten = producers.forgottenCount();
        producers.replay(
                checked.producerId(),
                checked.producerEpoch(),
                checked.baseSequence(),
                checked.recordCount(),
                baseOffset,
                appendTimeMs,
                nowMs);
        if (producers.forgottenCount() != forgotten) {
            counters.onLimit(Limit.PARTITION_PRODUCERS);
        }
        if (checked.isTransactional()) {
            transactions.replayBatch(checked.producerId(), baseOffset, nowMs);
        }
        append.place(baseOffset, baseOffset + checked.recordCount(), appendTimeMs);
    }

    /**
     * Stages a marker, or finds that it is there already; else refuses the append.
     *
     * @return whether {@code append} now waits for the journal to be written
     */
    boolean admit(MarkerAppend append, int leaderEpoch, long nowMs) {
        TransactionMarker marker = append.marker();
        MarkerVerdict verdict = transactions.check(marker, append.transactionVersion());
        if (verdict == MarkerVerdict.REPEATED) {
            long offset = transactions.repeatedMarkerOffset();
            append.place(offset, offset + 1, PRODUCERS_TIME);
            return true;
        }
        if (verdict != MarkerVerdict.APPEND) {
            append.refuse(verdict.error(), null);
            return false;
        }
        ByteBuf batch = marker.encode(PooledByteBufAllocator.DEFAULT, nowMs);
        try {
            long offset = journal.append(batch, leaderEpoch);
            EndedTransaction ended = transactions.replayMarker(marker, offset, nowMs);
            if (ended != null && !ended.commit()) {
                unwrittenAborts.add(aborted(ended));
            }
            append.place(offset, offset + 1, PRODUCERS_TIME);
        } finally {
            batch.release();
        }
        return true;
    }

    /**
     * What was staged before {@code offset} is written, what is behind {@code keptOffset} is lost: the journal is told
     * which ends it has.
     */
    void onWritten(long offset, long keptOffset) {
        if (unwrittenAborts.isEmpty()) {
            return;
        }
        for (AbortedTransaction aborted : unwrittenAborts) {
            if (aborted.markerOffset() < offset) {
                journal.derivedState().addAborted(aborted);
            }
        }
        unwrittenAborts.removeIf(aborted -> aborted.markerOffset() < offset || aborted.markerOffset() >= keptOffset);
    }

    static AbortedTransaction aborted(EndedTransaction ended) {
        return new AbortedTransaction(
                ended.producerId(), ended.firstOffset(), ended.markerOffset(), ended.lastStableOffset());
    }
}
