package io.journalq.client.admin;

/**
 * What a broker has found in a range of its replica of a partition. Immutable.
 *
 * @param startOffset first offset of the replica; if it is behind the beginning of the range, nothing was read
 * @param highWatermark the high watermark that the replica knows; nothing behind it is read
 * @param mayHaveGaps whether compaction may have removed records, so that replicas differ
 * @param endOffset everything in the range before this offset was read
 * @param damagedUntil if the records at {@code endOffset} are damaged or missing, the offset of the first healthy batch
 *     behind them; otherwise -1
 * @param sizeBytes size of the batches that were read
 * @param batches their number
 * @param checksum CRC-32C of their headers, which contain the CRCs of their records
 */
public record ReplicaCheck(
        long startOffset,
        long highWatermark,
        boolean mayHaveGaps,
        long endOffset,
        long damagedUntil,
        int sizeBytes,
        int batches,
        int checksum) {
    /** Whether the records at {@link #endOffset} are damaged or missing. */
    public boolean isDamaged() {
        return damagedUntil >= 0;
    }
}
