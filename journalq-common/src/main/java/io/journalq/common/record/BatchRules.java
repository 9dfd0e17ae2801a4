package io.journalq.common.record;

/**
 * The rules of a topic for the batches that producers send. Immutable. Create one for each topic configuration, not for
 * each request.
 *
 * @param maxBatchSizeBytes the maximum size of a batch as sent, including the header ({@code max.message.bytes})
 * @param maxDecompressedSizeBytes the maximum size of the records of a batch after decompression
 * @param maxHeaders the maximum number of headers of a record
 * @param timestampBeforeMaxMs how far a timestamp may be in the past ({@code message.timestamp.before.max.ms})
 * @param timestampAfterMaxMs how far a timestamp may be in the future ({@code message.timestamp.after.max.ms})
 * @param logAppendTime whether the broker sets the timestamps, so that those of the producer do not matter
 * @param keysRequired whether every record must have a key (compacted topics)
 * @param deepCheck whether to check each record, which may require decompression; otherwise only the header, the CRC
 *     and the codec are checked, but not the timestamps and keys of records
 * @param sealRequired whether every batch must be sealed ({@code encryption.required}); each record is checked then
 */
public record BatchRules(
        int maxBatchSizeBytes,
        int maxDecompressedSizeBytes,
        int maxHeaders,
        long timestampBeforeMaxMs,
        long timestampAfterMaxMs,
        boolean logAppendTime,
        boolean keysRequired,
        boolean deepCheck,
        boolean sealRequired) {
    /** The rules of a topic without configurations of its own. */
    public static final BatchRules DEFAULT = new BatchRules(
            1024 * 1024 + RecordBatch.LOG_OVERHEAD_BYTES,
            BatchReader.DEFAULT_MAX_DECOMPRESSED_SIZE_BYTES,
            10_000,
            Long.MAX_VALUE,
            3_600_000L,
            false,
            false,
            true,
            false);

    /** The same rules for batches that need not be sealed. */
    public BatchRules withoutSeal() {
        return new BatchRules(
                maxBatchSizeBytes,
                maxDecompressedSizeBytes,
                maxHeaders,
                timestampBeforeMaxMs,
                timestampAfterMaxMs,
                logAppendTime,
                keysRequired,
                deepCheck,
                false);
    }
}
