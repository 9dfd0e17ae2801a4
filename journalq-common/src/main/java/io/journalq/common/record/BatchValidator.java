package io.journalq.common.record;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.record.BatchValidation.RecordError;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Validates the records of one partition in a Produce request (version 3 and later) before they are appended. They must
 * be exactly one complete batch of magic 2 with a valid CRC and a header that matches the records. Invalid bytes result
 * in an error code and message, never in an exception. A valid batch causes no garbage except a view of its bytes.
 *
 * <p>Changes the bytes in one case: if the largest timestamp in the header is not that of the records, the header is
 * corrected and the CRC computed again, as in Kafka. The time index and retention depend on it.
 *
 * <p>Reusable, one thread. The error codes are those of Kafka 4.
 */
public final class BatchValidator {
    /** The first version of Produce that allows zstd (KIP-110). */
    public static final int FIRST_PRODUCE_VERSION_WITH_ZSTD = 7;

    /** The maximum number of invalid records that are reported for a batch. */
    public static final int MAX_RECORD_ERRORS = 100;

    /** The maximum number of invalid records in the message for the whole batch, as in Kafka. */
    private static final int RECORD_ERRORS_IN_MESSAGE = 3;

    /** The number of records between two yield points. */
    private static final int RECORDS_IN_A_PIECE = 1_024;

    private final DecompressionRoom room;
    private final RecordCursor cursor = new RecordCursor();
    private final BatchValidation result = new BatchValidation();

    /**
     * Creates a validator.
     *
     * @param room decompresses batches whose records are checked; the caller closes it
     */
    public BatchValidator(DecompressionRoom room) {
        this.room = room;
    }

    /**
     * Validates the readable bytes of {@code records}, without changing their indexes.
     *
     * @param records the records of the partition; null counts as empty
     * @param produceVersion the version of the request
     * @param nowMs the current time of the broker in milliseconds since 1970 UTC
     * @return the result, which the next call overwrites
     */
    public BatchValidation validate(ByteBuf records, int produceVersion, BatchRules rules, long nowMs) {
        return validate(records, produceVersion, rules, nowMs, rules.maxDecompressedSizeBytes());
    }

    /**
     * Like the other method, but gives up if the batch needs more room than {@code roomBytes} when it is decompressed,
     * or probably will. Such a batch is {@link BatchValidation#isUndecided}, and nothing else is known about it.
     *
     * @param roomBytes may be less than the rules allow
     */
    public BatchValidation validate(ByteBuf records, int produceVersion, BatchRules rules, long nowMs, int roomBytes) {
        result.undecided = false;
        result.decompressedSizeBytes = 0;
        result.error = ErrorCode.NONE;
        result.message = null;
        result.recordErrors = List.of();
        result.exceeded = null;
        if (checkFrame(records, rules) && checkHeader(records, records.readerIndex(), produceVersion, rules, nowMs)) {
            readSummary(records, records.readerIndex());
            if (rules.deepCheck() || rules.sealRequired()) {
                checkRecords(records, records.readerIndex(), rules, nowMs, roomBytes);
            }
        }
        return result;
    }

    /**
     * Sets the timestamps of a batch to the time of the broker ({@code message.timestamp.type=LogAppendTime}) and
     * computes its CRC again. The batch must have been validated.
     *
     * @param index the index of the first byte of the batch in {@code buffer}
     */
    public static void stampLogAppendTime(ByteBuf buffer, int index, long nowMs) {
        int attributes = RecordBatch.attributes(buffer, index) | RecordBatch.LOG_APPEND_TIME_FLAG;
        RecordBatch.setAttributes(buffer, index, (short) attributes);
        setMaxTimestamp(buffer, index, nowMs);
    }

    private static void setMaxTimestamp(ByteBuf buffer, int index, long timestampMs) {
        RecordBatch.setMaxTimestamp(buffer, index, timestampMs);
        RecordBatch.setCrc(buffer, index, Crc32c.ofBatch(buffer, index, RecordBatch.sizeBytes(buffer, index)));
    }

    /** Checks that the bytes are one complete batch of magic 2 that is not too large and has a valid CRC. */
    private boolean checkFrame(ByteBuf records, BatchRules rules) {
        int bytes = records == null ? 0 : records.readableBytes();
        if (bytes == 0) {
            return fail(
                    ErrorCode.INVALID_RECORD, "a produce request must contain exactly one batch for each partition");
        }
        if (bytes <= RecordBatch.MAGIC) {
            return fail(ErrorCode.CORRUPT_MESSAGE, "the batch is truncated");
        }
        int index = records.readerIndex();
        int magic = RecordBatch.magic(records, index);
        if (magic == 0 || magic == 1) {
            return fail(ErrorCode.INVALID_RECORD, "batches of magic 0 and 1 are not accepted; send magic 2");
        }
        if (magic != RecordBatch.CURRENT_MAGIC) {
            return fail(ErrorCode.CORRUPT_MESSAGE, "unknown magic");
        }
        int lengthBytes = records.getInt(index + RecordBatch.LENGTH);
        if (lengthBytes < RecordBatch.HEADER_SIZE_BYTES - RecordBatch.LOG_OVERHEAD_BYTES
                || lengthBytes > bytes - RecordBatch.LOG_OVERHEAD_BYTES) {
            return fail(ErrorCode.CORRUPT_MESSAGE, "the batch is truncated, or its length is wrong");
        }
        int sizeBytes = lengthBytes + RecordBatch.LOG_OVERHEAD_BYTES;
        if (sizeBytes < bytes) {
            boolean another = bytes - sizeBytes >= RecordBatch.HEADER_SIZE_BYTES
                    && RecordBatch.magic(records, index + sizeBytes) == RecordBatch.CURRENT_MAGIC;
            return another
                    ? fail(
                            ErrorCode.INVALID_RECORD,
                            "a produce request must contain exactly one batch for each partition")
                    : fail(ErrorCode.CORRUPT_MESSAGE, "there are bytes after the batch");
        }
        if (sizeBytes > rules.maxBatchSizeBytes()) {
            return exceed(
                    BatchValidation.Exceeded.BATCH_SIZE,
                    ErrorCode.MESSAGE_TOO_LARGE,
                    "the batch is larger than the topic's max.message.bytes");
        }
        if (RecordBatch.crc(records, index) != Crc32c.ofBatch(records, index, sizeBytes)) {
            return fail(ErrorCode.CORRUPT_MESSAGE, "wrong checksum");
        }
        return true;
    }

    private boolean checkHeader(ByteBuf records, int index, int produceVersion, BatchRules rules, long nowMs) {
        if (RecordBatch.isControl(records, index)) {
            return fail(ErrorCode.INVALID_RECORD, "clients must not write control batches");
        }
        CompressionCodec codec = CompressionCodec.of(RecordBatch.compressionId(records, index));
        if (codec == null) {
            return fail(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, "unknown compression");
        }
        if (codec == CompressionCodec.ZSTD && produceVersion < FIRST_PRODUCE_VERSION_WITH_ZSTD) {
            return fail(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, "zstd requires Produce version 7 or later");
        }
        int count = RecordBatch.recordCount(records, index);
        if (count <= 0 || RecordBatch.lastOffsetDelta(records, index) != count - 1) {
            return fail(
                    ErrorCode.INVALID_RECORD, "the record count and the offsets do not match, or there are no records");
        }
        if (RecordBatch.isLogAppendTime(records, index)) {
            return fail(ErrorCode.INVALID_TIMESTAMP, "clients must not set the log append time");
        }
        boolean dated = RecordBatch.maxTimestamp(records, index) != RecordBatch.NO_TIMESTAMP;
        if (!rules.deepCheck() && dated && !isDateAllowed(RecordBatch.maxTimestamp(records, index), rules, nowMs)) {
            return fail(ErrorCode.INVALID_TIMESTAMP, "the largest timestamp is too far from the broker's time");
        }
        return checkProducer(records, index);
    }

    private boolean checkProducer(ByteBuf records, int index) {
        long producerId = RecordBatch.producerId(records, index);
        if (producerId == RecordBatch.NO_PRODUCER_ID) {
            return !RecordBatch.isTransactional(records, index)
                    || fail(ErrorCode.INVALID_RECORD, "a transactional batch without a producer id");
        }
        if (producerId < 0 || RecordBatch.producerEpoch(records, index) < 0) {
            return fail(ErrorCode.INVALID_RECORD, "a negative producer id or epoch");
        }
        return RecordBatch.baseSequence(records, index) >= 0
                || fail(ErrorCode.INVALID_RECORD, "a batch with a producer id must have a base sequence");
    }

    private void readSummary(ByteBuf records, int index) {
        result.sizeBytes = records.readableBytes();
        result.recordCount = RecordBatch.recordCount(records, index);
        result.maxTimestampMs = RecordBatch.maxTimestamp(records, index);
        result.maxTimestampOffsetDelta = result.recordCount - 1;
        result.producerId = RecordBatch.producerId(records, index);
        result.producerEpoch = RecordBatch.producerEpoch(records, index);
        result.baseSequence = RecordBatch.baseSequence(records, index);
        result.transactional = RecordBatch.isTransactional(records, index);
        result.codec = CompressionCodec.of(RecordBatch.compressionId(records, index));
    }

    private void checkRecords(ByteBuf records, int index, BatchRules rules, long nowMs, int roomBytes) {
        ByteBuf decompressed = null;
        try {
            int start = index + RecordBatch.HEADER_SIZE_BYTES;
            int end = index + result.sizeBytes;
            if (result.codec == CompressionCodec.NONE) {
                cursor.reset(records, start, end, result.recordCount);
            } else {
                ByteBuf compressed = records.slice(start, end - start);
                if (roomBytes < rules.maxDecompressedSizeBytes()
                        && result.codec.likelySizeBytes(compressed) > roomBytes) {
                    result.undecided = true;
                    return;
                }
                decompressed = room.decompress(
                        result.codec, compressed, Math.min(rules.maxDecompressedSizeBytes(), roomBytes));
                result.decompressedSizeBytes = decompressed.readableBytes();
                cursor.reset(decompressed, 0, decompressed.writerIndex(), result.recordCount);
            }
            long claimedMaxMs = result.maxTimestampMs;
            if (checkEachRecord(RecordBatch.baseTimestamp(records, index), rules, nowMs)
                    && !rules.logAppendTime()
                    && result.maxTimestampMs != claimedMaxMs) {
                setMaxTimestamp(records, index, result.maxTimestampMs);
            }
        } catch (InvalidBatchException.DecompressedTooLargeException bomb) {
            if (roomBytes < rules.maxDecompressedSizeBytes()) {
                result.undecided = true;
                result.decompressedSizeBytes = roomBytes;
                return;
            }
            // MESSAGE_TOO_LARGE, because producers then split the batch.
            exceed(
                    BatchValidation.Exceeded.DECOMPRESSED_SIZE,
                    ErrorCode.MESSAGE_TOO_LARGE,
                    bomb.getMessage() + " (the topic's max.decompressed.bytes)");
        } catch (InvalidBatchException e) {
            // The CRC is valid, so the producer created the batch like this, and a retry cannot succeed.
            // CORRUPT_MESSAGE is retriable.
            fail(ErrorCode.INVALID_RECORD, e.getMessage());
        } finally {
            cursor.clear();
            if (decompressed != null) {
                decompressed.release();
            }
        }
    }

    private boolean checkEachRecord(long baseTimestampMs, BatchRules rules, long nowMs) {
        long maxMs = Long.MIN_VALUE;
        int expectedDelta = 0;
        int sealMode = SealMark.NONE;
        Unsound unsound = null;
        while (cursor.next()) {
            if (cursor.check() > rules.maxHeaders()) {
                return exceed(
                        BatchValidation.Exceeded.HEADERS,
                        ErrorCode.INVALID_RECORD,
                        "a record has more than " + rules.maxHeaders() + " headers (the topic's max.message.headers)");
            }
            if (cursor.offsetDelta() != expectedDelta) {
                return fail(ErrorCode.INVALID_RECORD, "the records' offsets are not consecutive");
            }
            if (rules.sealRequired()) {
                sealMode = expectedDelta == 0 ? cursor.sealMode() : sealMode;
                if (!checkSeal(sealMode, expectedDelta, rules)) {
                    return false;
                }
            }
            long timestampMs = baseTimestampMs + cursor.timestampDelta();
            boolean keyMissing = rules.keysRequired() && cursor.keySizeBytes() < 0;
            if (keyMissing || !isDateAllowed(timestampMs, rules, nowMs)) {
                unsound = unsound == null ? new Unsound() : unsound;
                unsound.add(expectedDelta, keyMissing, timestampMs);
            }
            if (timestampMs > maxMs) {
                maxMs = timestampMs;
                result.maxTimestampOffsetDelta = expectedDelta;
            }
            expectedDelta++;
            if (expectedDelta % RECORDS_IN_A_PIECE == 0) {
                room.yieldPoint().pass();
            }
        }
        result.maxTimestampMs = maxMs;
        return unsound == null || unsound.fail();
    }

    /**
     * Checks that the record is part of a sealed batch. Whether the seal is genuine, only its readers know.
     *
     * @param mode that of the first record
     */
    private boolean checkSeal(int mode, int index, BatchRules rules) {
        if (mode == SealMark.BATCH) {
            if (rules.keysRequired()) {
                return fail(
                        ErrorCode.INVALID_RECORD,
                        "a compacted topic requires sealed records; the batch is sealed in mode batch, which has no"
                                + " keys");
            }
            if (result.codec != CompressionCodec.NONE) {
                return fail(ErrorCode.INVALID_RECORD, "the sealed batch was compressed after it was sealed");
            }
            boolean empty = cursor.keySizeBytes() < 0 && cursor.valueSizeBytes() == 0;
            return (empty && (index == 0 || cursor.check() == 0))
                    || fail(ErrorCode.INVALID_RECORD, "record " + index + " of the sealed batch has readable content");
        }
        boolean tombstone = cursor.valueSizeBytes() < 0 && cursor.check() == 0; // which has nothing to seal
        int ofRecord = tombstone ? SealMark.NONE : cursor.sealMode();
        return tombstone
                || ofRecord == SealMark.RECORD
                || ofRecord == SealMark.TOKEN
                || ofRecord == SealMark.SUBJECT
                || fail(
                        ErrorCode.INVALID_RECORD,
                        "record " + index + " is not sealed, and the topic requires it (encryption.required)");
    }

    /**
     * Collects records that are complete but violate the rules of the topic. One invalid timestamp makes it an error of
     * timestamps (KIP-467).
     */
    private final class Unsound {
        private final List<RecordError> errors = new ArrayList<>();
        private int count;
        private boolean dates;

        void add(int index, boolean keyMissing, long timestampMs) {
            count++;
            dates |= !keyMissing;
            if (errors.size() < MAX_RECORD_ERRORS) {
                errors.add(new RecordError(
                        index,
                        keyMissing
                                ? "a compacted topic requires a key in every record"
                                : "the timestamp " + timestampMs + " is too far from the broker's time"));
            }
        }

        boolean fail() {
            result.recordErrors = List.copyOf(errors);
            String first = errors.stream()
                    .limit(RECORD_ERRORS_IN_MESSAGE)
                    .map(error -> "record " + error.index() + ": " + error.message())
                    .collect(Collectors.joining("; "));
            return BatchValidator.this.fail(
                    dates ? ErrorCode.INVALID_TIMESTAMP : ErrorCode.INVALID_RECORD,
                    count + " of " + result.recordCount + " records are not accepted: " + first
                            + (count > RECORD_ERRORS_IN_MESSAGE ? "; and others" : ""));
        }
    }

    private static boolean isDateAllowed(long timestampMs, BatchRules rules, long nowMs) {
        if (rules.logAppendTime() || timestampMs == RecordBatch.NO_TIMESTAMP) {
            return true;
        }
        if (timestampMs < 0) {
            return false;
        }
        long aheadMs = timestampMs - nowMs;
        return aheadMs <= rules.timestampAfterMaxMs() && -aheadMs <= rules.timestampBeforeMaxMs();
    }

    private boolean exceed(BatchValidation.Exceeded limit, ErrorCode error, String message) {
        result.exceeded = limit;
        return fail(error, message);
    }

    private boolean fail(ErrorCode error, String message) {
        result.error = error;
        result.message = message;
        return false;
    }
}
