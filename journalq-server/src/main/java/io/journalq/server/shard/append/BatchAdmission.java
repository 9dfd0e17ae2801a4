package io.journalq.server.shard.append;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.record.BatchValidation;
import io.journalq.common.record.BatchValidator;
import io.journalq.common.record.InvalidBatchException;
import io.journalq.common.record.RecordBatch;
import io.journalq.common.record.TransactionMarker;
import io.journalq.server.journal.Journal;
import io.journalq.server.loop.Limit;
import io.journalq.server.loop.LoopCounters;
import io.journalq.server.loop.TopicCounters;
import io.journalq.server.producerstate.PartitionTransactions;
import io.journalq.server.producerstate.PartitionTransactions.MarkerVerdict;
import io.journalq.server.producerstate.ProducerDedup;
import io.journalq.server.replication.ReplicaMachine;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides whether a batch or a marker may be appended to a partition's journal, and stages it there. Checks that its
 * bytes are valid, that its producer sends it in order and for the first time, and that it matches the producer's
 * transaction. On the partition's loop.
 */
public final class BatchAdmission {
    private static final Logger log = LoggerFactory.getLogger(BatchAdmission.class);
    private static final long PRODUCERS_TIME = -1L;

    private final AppendResources resources;
    private final TopicPartition name;
    private final Journal journal;
    private final PartitionProducers producers;
    private final ReplicaMachine replica;
    private final PartitionWriter writer;
    private final TopicCounters topicCounters;
    private AppendSettings settings;

    /** Why appends are rejected; NONE while they are admitted. */
    private ErrorCode unavailable = ErrorCode.NONE;

    /**
     * Admits nothing before {@link #follow} is called.
     *
     * @param replica knows the leader epoch of staged batches
     * @param writer receives every staged append
     * @param topicCounters of the partition's topic
     */
    public BatchAdmission(
            AppendResources resources,
            TopicPartition name,
            Journal journal,
            PartitionProducers producers,
            ReplicaMachine replica,
            PartitionWriter writer,
            TopicCounters topicCounters) {
        this.resources = resources;
        this.name = name;
        this.journal = journal;
        this.producers = producers;
        this.replica = replica;
        this.writer = writer;
        this.topicCounters = topicCounters;
    }

    /** Applies the topic's configuration. */
    public void follow(AppendSettings newSettings) {
        settings = newSettings;
        writer.follow(newSettings);
    }

    AppendSettings settings() {
        return settings;
    }

    /** Rejects all later appends, or admits them again if {@code error} is NONE. */
    public void refuseAll(ErrorCode error) {
        unavailable = error;
    }

    /** Rejects an append if appends are no longer admitted, or too few replicas are in sync for it. */
    boolean refuses(Append append) {
        if (unavailable != ErrorCode.NONE) {
            append.refuse(unavailable, null);
            return true;
        }
        if (!replica.hasEnoughReplicas() && writer.awaitsReplicas(append)) {
            append.refuse(ErrorCode.NOT_ENOUGH_REPLICAS, null);
            return true;
        }
        return false;
    }

    /**
     * Stages an append, or finds that its batch is already in the journal. Otherwise rejects it.
     *
     * @return false if the batch must first be validated off the loop; the append is then unchanged
     */
    boolean admit(Append append) {
        if (refuses(append)) {
            return true;
        }
        long nowMs = resources.clock().millis();
        if (append instanceof MarkerAppend marker) {
            admitMarker(marker, nowMs);
            return true;
        }
        ByteBuf records = append.records();
        int sizeBytes = records == null ? 0 : records.readableBytes();
        InlineValidationBudget budget = resources.inlineBudget();
        BatchValidation validation = resources
                .validator()
                .validate(records, append.produceVersion(), settings.rules(), nowMs, budget.maxBytes(sizeBytes));
        budget.onValidated(validation, sizeBytes);
        if (validation.isUndecided()) {
            return false;
        }
        if (!validation.isSound()) {
            append.refuse(validation);
            return true;
        }
        ByteBuf recompressed = null;
        if (settings.recompresses(validation.codec())) {
            if (!budget.allowsRecompression(Math.max(sizeBytes, validation.decompressedSizeBytes()))) {
                return false;
            }
            try {
                recompressed = OffLoopValidation.recompress(records, settings);
            } catch (InvalidBatchException corrupt) {
                append.refuse(ErrorCode.INVALID_RECORD, corrupt.getMessage());
                return true;
            }
        }
        enter(append, validation, recompressed, settings, nowMs);
        return true;
    }

    /** Stages or rejects an append whose batch was validated off the loop. */
    void admit(OffLoopValidation validated) {
        if (refuses(validated.append())) {
            validated.drop();
        } else if (!validated.refusesUnsound()) {
            enter(
                    validated.append(),
                    validated.validation(),
                    validated.takeRecompressed(),
                    validated.settings(),
                    resources.clock().millis());
        }
    }

    /**
     * Passes an append to the writer, unless the state of its producer or transaction does not allow it.
     *
     * @param recompressed the batch to store, released here; null to store the batch as it was sent
     */
    private void enter(
            Append append, BatchValidation checked, ByteBuf recompressed, AppendSettings itsSettings, long nowMs) {
        boolean fromMemory = writer.acknowledgesFromMemory(append);
        boolean staged;
        try {
            staged = isSmallEnough(append, recompressed, itsSettings)
                    && stageOrFind(append, checked, recompressed, itsSettings, nowMs, fromMemory);
        } finally {
            if (recompressed != null) {
                recompressed.release();
            }
        }
        if (staged && fromMemory) {
            writer.acknowledgeFromMemory(append);
        } else if (staged) {
            writer.writeAndAcknowledge(append);
        }
    }

    private static boolean isSmallEnough(Append append, ByteBuf recompressed, AppendSettings settings) {
        if (recompressed == null
                || recompressed.readableBytes() <= settings.rules().maxBatchSizeBytes()) {
            return true;
        }
        append.refuse(
                Limit.BATCH_BYTES,
                ErrorCode.MESSAGE_TOO_LARGE,
                "the batch is larger than the topic's max.message.bytes in the topic's compression.type");
        return false;
    }

    /**
     * Stages a batch, or finds that it is already in the journal.
     *
     * @param copies whether the batch stays in memory after this cycle. In this case a copy is staged, because the
     *     batch may be a small part of a large buffer
     * @return false if the append was rejected
     */
    private boolean stageOrFind(
            Append append,
            BatchValidation checked,
            ByteBuf recompressed,
            AppendSettings itsSettings,
            long nowMs,
            boolean copies) {
        if (checked.producerId() != RecordBatch.NO_PRODUCER_ID) {
            ProducerDedup.Verdict verdict = producers
                    .dedup()
                    .check(
                            checked.producerId(),
                            checked.producerEpoch(),
                            checked.baseSequence(),
                            checked.recordCount());
            if (verdict == ProducerDedup.Verdict.DUPLICATE) {
                long baseOffset = producers.dedup().duplicateBaseOffset();
                append.place(
                        baseOffset,
                        baseOffset + checked.recordCount(),
                        producers.dedup().duplicateAppendTimeMs());
                return true;
            }
            if (verdict == ProducerDedup.Verdict.OLD_DUPLICATE) {
                append.placeOldDuplicate(producers.dedup().duplicateBaseOffset());
                return true;
            }
            if (refusesProducer(append, checked, verdict)) {
                return false;
            }
        }
        long appendTimeMs = itsSettings.rules().logAppendTime() ? nowMs : PRODUCERS_TIME;
        if (recompressed != null) {
            stage(append, recompressed, checked, appendTimeMs, nowMs);
        } else if (copies) {
            stageCopy(append, checked, appendTimeMs, nowMs);
        } else {
            stage(append, append.records(), checked, appendTimeMs, nowMs);
        }
        return true;
    }

    /** Rejects a batch that is not the next one of its producer, or does not match the producer's transaction. */
    private boolean refusesProducer(Append append, BatchValidation checked, ProducerDedup.Verdict verdict) {
        if (verdict.error() != ErrorCode.NONE) {
            append.refuse(verdict.error(), null);
            return true;
        }
        PartitionTransactions transactions = producers.transactions();
        if (append.isInTransaction() && transactions.isOutdated(append.verificationGuard())) {
            append.refuse(ErrorCode.NOT_LEADER_OR_FOLLOWER, null);
            return true;
        }
        boolean verified =
                append.isInTransaction() && transactions.isVerified(checked.producerId(), append.verificationGuard());
        ErrorCode refusal = transactions.checkBatch(checked.producerId(), checked.isTransactional(), verified);
        if (refusal != ErrorCode.NONE) {
            boolean tooMany = refusal == ErrorCode.NOT_ENOUGH_REPLICAS;
            append.refuse(tooMany ? Limit.PARTITION_TRANSACTIONS : null, refusal, null);
            return true;
        }
        if (verdict == ProducerDedup.Verdict.APPEND_AFTER_LOSS) {
            log.warn(
                    "acknowledged records of a producer are lost, as the delivery mode allows; continuing behind them:"
                            + " partition={} producerId={} epoch={} nextSequence={}",
                    name,
                    checked.producerId(),
                    checked.producerEpoch(),
                    checked.baseSequence());
        }
        return false;
    }

    private void stageCopy(Append append, BatchValidation checked, long appendTimeMs, long nowMs) {
        ByteBuf records = append.records();
        ByteBuf copy = PooledByteBufAllocator.DEFAULT.buffer(records.readableBytes());
        try {
            copy.writeBytes(records, records.readerIndex(), records.readableBytes());
            stage(append, copy, checked, appendTimeMs, nowMs);
        } finally {
            copy.release();
        }
    }

    private void stage(Append append, ByteBuf records, BatchValidation checked, long appendTimeMs, long nowMs) {
        if (appendTimeMs != PRODUCERS_TIME) {
            BatchValidator.stampLogAppendTime(records, records.readerIndex(), appendTimeMs);
        }
        long baseOffset = journal.append(records, replica.leaderEpoch());
        append.keep(records.readableBytes());
        LoopCounters counters = resources.cycle().counters();
        counters.onAppended(checked.recordCount(), checked.sizeBytes());
        topicCounters.onAppended(resources.cycle().index(), checked.recordCount(), checked.sizeBytes());
        ProducerDedup dedup = producers.dedup();
        long forgotten = dedup.forgottenCount();
        dedup.replay(
                checked.producerId(),
                checked.producerEpoch(),
                checked.baseSequence(),
                checked.recordCount(),
                baseOffset,
                appendTimeMs,
                nowMs);
        if (dedup.forgottenCount() != forgotten) {
            counters.onLimit(Limit.PARTITION_PRODUCERS);
        }
        if (checked.isTransactional()) {
            producers.transactions().replayBatch(checked.producerId(), baseOffset, nowMs);
        }
        append.place(baseOffset, baseOffset + checked.recordCount(), appendTimeMs);
    }

    /** Stages a marker, or finds that it is already in the journal. Otherwise rejects it. */
    private void admitMarker(MarkerAppend append, long nowMs) {
        TransactionMarker marker = append.marker();
        PartitionTransactions transactions = producers.transactions();
        MarkerVerdict verdict = transactions.check(marker, append.transactionVersion());
        if (verdict == MarkerVerdict.REPEATED) {
            long offset = transactions.repeatedMarkerOffset();
            append.place(offset, offset + 1, PRODUCERS_TIME);
        } else if (verdict == MarkerVerdict.APPEND) {
            stageMarker(append, marker, nowMs);
        } else {
            append.refuse(verdict.error(), null);
            return;
        }
        transactions.onMarker(
                marker.producerId(),
                append.transactionVersion(),
                resources.guards().onMarker());
        append.keep(TransactionMarker.BATCH_SIZE_BYTES);
        writer.writeAndAcknowledge(append);
    }

    private void stageMarker(MarkerAppend append, TransactionMarker marker, long nowMs) {
        ByteBuf batch = marker.encode(PooledByteBufAllocator.DEFAULT, nowMs);
        try {
            long offset = journal.append(batch, replica.leaderEpoch());
            producers.onMarkerStaged(marker, offset, nowMs);
            append.place(offset, offset + 1, PRODUCERS_TIME);
        } finally {
            batch.release();
        }
    }
}
