package io.journalq.client;

/**
 * A snapshot of the counters of a producer, since its creation. The counters are read one after the other, so they may
 * differ by sends in progress.
 *
 * @param records records acknowledged, or sent with {@link Acks#NONE}
 * @param batches batches acknowledged, or sent with {@link Acks#NONE}
 * @param requests Produce requests sent, including retries
 * @param sentBytes bytes of batches in these requests, compressed
 * @param failedRecords records that failed after all retries
 * @param retriedBatches batches sent again after an error
 * @param directSends synchronous sends for which the calling thread did the network I/O itself
 * @param bufferedBytes bytes of the buffer memory currently in use
 */
public record ProducerMetrics(
        long records,
        long batches,
        long requests,
        long sentBytes,
        long failedRecords,
        long retriedBatches,
        long directSends,
        long bufferedBytes) {}
