package io.journalq.common.record;

/**
 * What a topic asks of the batches that producers send to it. Immutable; build one per topic configuration, not one per
 * request.
 *
 * @param maxBatchSizeBytes largest batch as sent, header included ({@code max.message.bytes})
 * @param maxDecompressedSizeBytes largest size of a batch's records after decompression
 * @param maxHeaders most headers of one record
 * @param timestampBeforeMaxMs how far before now a record may be dated ({@code message.timestamp.before.max.ms})
 * @param timestampAfterMaxMs how far after now a record may be dated ({@code message.timestamp.after.max.ms})
 * @param logAppendTime whether the broker's clock dates the records, so that the producer's dates do not matter
 * @param keysRequired whether every record needs a key (compacted topics)
 * @param deepCheck whether to look into each record, decompressing where needed; without it only the batch header, its
 *     CRC and its codec are checked, and the two rules on records' own dates and keys cannot be
 */
public record BatchRules(
        int maxBatchSizeBytes,
        int maxDecompressedSizeBytes,
        int maxHeaders,
        long timestampBeforeMaxMs,
        long timestampAfterMaxMs,
        boolean logAppendTime,
        boolean keysRequired,
        boolean deepCheck) {
    /** What holds for a topic without configuration of its own. */
    public static final BatchRules DEFAULT = new BatchRules(
            1024 * 1024 + RecordBatch.LOG_OVERHEAD_BYTES,
            BatchReader.DEFAULT_MAX_DECOMPRESSED_SIZE_BYTES,
            10_000,
            Long.MAX_VALUE,
            3_600_000L,
            false,
            false,
            true);
}
