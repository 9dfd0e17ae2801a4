package io.journalq.common.record;

import io.journalq.common.protocol.ErrorCode;
import java.util.List;

/**
 * What {@link BatchValidator} found. The validator reuses it: read it before the next call, on the validator's thread.
 * Everything but error and message is meaningful for a sound batch only.
 */
public final class BatchValidation {
    ErrorCode error = ErrorCode.NONE;
    String message;
    List<RecordError> recordErrors = List.of();
    Exceeded exceeded;
    boolean undecided;
    int sizeBytes;
    int decompressedSizeBytes;
    int recordCount;
    long maxTimestampMs;
    int maxTimestampOffsetDelta;
    long producerId;
    short producerEpoch;
    int baseSequence;
    boolean transactional;
    CompressionCodec codec;

    BatchValidation() {}

    /**
     * What is wrong with one record (KIP-467).
     *
     * @param index of the record within its batch, from 0
     * @param message in words for the producer
     */
    public record RecordError(int index, String message) {}

    /** The limits of {@link BatchRules} that a batch may go beyond. */
    public enum Exceeded {
        BATCH_SIZE,
        DECOMPRESSED_SIZE,
        HEADERS
    }

    /** Which limit the batch was refused for; null when it was not for one. */
    public Exceeded exceeded() {
        return exceeded;
    }

    public boolean isSound() {
        return error == ErrorCode.NONE && !undecided;
    }

    /** Whether there was not room enough to look into the batch: it is neither sound nor in error. */
    public boolean isUndecided() {
        return undecided;
    }

    /** {@link ErrorCode#NONE} for a sound batch. */
    public ErrorCode error() {
        return error;
    }

    /** What is wrong, in words for the producer; null for a sound batch. */
    public String message() {
        return message;
    }

    /**
     * The records that made the batch unsound, at most {@link BatchValidator#MAX_RECORD_ERRORS}; empty where the batch as a
     * whole is at fault. Not overwritten by the next call.
     */
    public List<RecordError> recordErrors() {
        return recordErrors;
    }

    /** Size of the batch in bytes, header included. */
    public int sizeBytes() {
        return sizeBytes;
    }

    /**
     * Size of its records without compression in bytes; 0 for a batch that came so, or was not looked into. Of an undecided one
     * so much was decompressed in vain.
     */
    public int decompressedSizeBytes() {
        return decompressedSizeBytes;
    }

    public int recordCount() {
        return recordCount;
    }

    /** Largest timestamp of the records in milliseconds, as the batch now says. */
    public long maxTimestampMs() {
        return maxTimestampMs;
    }

    /**
     * Which record carries the largest timestamp, the first of several: its offset less the batch's base offset. That
     * of the last record where records were not looked into.
     */
    public int maxTimestampOffsetDelta() {
        return maxTimestampOffsetDelta;
    }

    /** {@link RecordBatch#NO_PRODUCER_ID} for a producer without idempotence. */
    public long producerId() {
        return producerId;
    }

    public short producerEpoch() {
        return producerEpoch;
    }

    /** Sequence number of the first record, {@link RecordBatch#NO_SEQUENCE} for a producer without idempotence. */
    public int baseSequence() {
        return baseSequence;
    }

    public boolean isTransactional() {
        return transactional;
    }

    public CompressionCodec codec() {
        return codec;
    }
}
