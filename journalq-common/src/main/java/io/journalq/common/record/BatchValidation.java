package io.journalq.common.record;

import io.journalq.common.protocol.ErrorCode;
import java.util.List;

/**
 * The result of {@link BatchValidator}. The validator reuses it: read it before the next call, on the thread of the
 * validator. Except for error and message, the values are meaningful only for a valid batch.
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
     * An error of one record (KIP-467).
     *
     * @param index the index of the record in its batch, counted from 0
     * @param message the error message for the producer
     */
    public record RecordError(int index, String message) {}

    /** The limits of {@link BatchRules} that a batch can exceed. */
    public enum Exceeded {
        BATCH_SIZE,
        DECOMPRESSED_SIZE,
        HEADERS
    }

    /** The limit that the batch exceeds, or null if it exceeds none. */
    public Exceeded exceeded() {
        return exceeded;
    }

    public boolean isSound() {
        return error == ErrorCode.NONE && !undecided;
    }

    /** Whether there was not enough room to check the batch, so that it is neither valid nor invalid. */
    public boolean isUndecided() {
        return undecided;
    }

    /** The error, or {@link ErrorCode#NONE} for a valid batch. */
    public ErrorCode error() {
        return error;
    }

    /** The error message for the producer, or null for a valid batch. */
    public String message() {
        return message;
    }

    /**
     * The invalid records, at most {@link BatchValidator#MAX_RECORD_ERRORS}. Empty if the error concerns the whole
     * batch. The next call does not change this list.
     */
    public List<RecordError> recordErrors() {
        return recordErrors;
    }

    /** The size of the batch in bytes, including the header. */
    public int sizeBytes() {
        return sizeBytes;
    }

    /**
     * The size of the records after decompression in bytes. It is 0 if the batch is not compressed or its records were
     * not checked. For an undecided batch, it is the number of bytes that were decompressed before the check was given
     * up.
     */
    public int decompressedSizeBytes() {
        return decompressedSizeBytes;
    }

    public int recordCount() {
        return recordCount;
    }

    /** The largest timestamp of the records in milliseconds, which is now also in the header. */
    public long maxTimestampMs() {
        return maxTimestampMs;
    }

    /**
     * The offset of the first record with the largest timestamp, relative to the base offset. If the records were not
     * checked, that of the last record.
     */
    public int maxTimestampOffsetDelta() {
        return maxTimestampOffsetDelta;
    }

    /** The producer id, or {@link RecordBatch#NO_PRODUCER_ID} without idempotence. */
    public long producerId() {
        return producerId;
    }

    public short producerEpoch() {
        return producerEpoch;
    }

    /** The sequence number of the first record, or {@link RecordBatch#NO_SEQUENCE} without idempotence. */
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
