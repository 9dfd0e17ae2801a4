package io.journalq.server.shard;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.record.BatchValidation;
import io.journalq.common.record.BatchValidator;
import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.Journal;
import io.journalq.server.replication.ProducerDedup;
import io.netty.buffer.ByteBuf;

/**
 * Decides whether a batch may enter a partition's journal, and stages it there: its bytes are sound, and its producer
 * sends it in order and for the first time. On the partition's loop.
 */
final class BatchAdmission {
    private static final long PRODUCERS_TIME = -1L;

    private final BatchValidator validator;
    private final ProducerDedup producers;
    private final Journal journal;

    BatchAdmission(BatchValidator validator, ProducerDedup producers, Journal journal) {
        this.validator = validator;
        this.producers = producers;
        this.journal = journal;
    }

    /**
     * Stages a batch, or finds that it is there already; else refuses the append.
     *
     * @return whether {@code append} now waits for the journal to be written
     */
    boolean admit(Append append, PartitionSettings settings, int leaderEpoch, long nowMs) {
        ByteBuf records = append.records();
        BatchValidation checked = validator.validate(records, append.produceVersion(), settings.rules(), nowMs);
        if (!checked.isSound()) {
            append.refuse(checked.error(), checked.message());
            return false;
        }
        if (checked.isTransactional()) {
            append.refuse(ErrorCode.INVALID_TXN_STATE, "transactions are not served");
            return false;
        }
        if (checked.producerId() != RecordBatch.NO_PRODUCER_ID) {
            ProducerDedup.Verdict verdict = producers.check(
                    checked.producerId(), checked.producerEpoch(), checked.baseSequence(), checked.recordCount());
            if (verdict == ProducerDedup.Verdict.DUPLICATE) {
                long baseOffset = producers.duplicateBaseOffset();
                append.place(baseOffset, baseOffset + checked.recordCount(), producers.duplicateAppendTimeMs());
                return true;
            }
            if (verdict != ProducerDedup.Verdict.APPEND) {
                append.refuse(verdict.error(), null);
                return false;
            }
        }
        stage(append, checked, settings.rules().logAppendTime() ? nowMs : PRODUCERS_TIME, leaderEpoch, nowMs);
        return true;
    }

    private void stage(Append append, BatchValidation checked, long appendTimeMs, int leaderEpoch, long nowMs) {
        ByteBuf records = append.records();
        if (appendTimeMs != PRODUCERS_TIME) {
            BatchValidator.stampLogAppendTime(records, records.readerIndex(), appendTimeMs);
        }
        long baseOffset = journal.append(records, leaderEpoch);
        producers.replay(
                checked.producerId(),
                checked.producerEpoch(),
                checked.baseSequence(),
                checked.recordCount(),
                baseOffset,
                appendTimeMs,
                nowMs);
        append.place(baseOffset, baseOffset + checked.recordCount(), appendTimeMs);
    }
}
