package io.journalq.client;

/**
 * What a producer did since it was made. A snapshot; the numbers are read one after the other while it works.
 *
 * @param records records acknowledged, or sent with {@link Acks#NONE}
 * @param batches batches acknowledged, or sent with {@link Acks#NONE}
 * @param requests Produce requests sent, retries included
 * @param sentBytes bytes of batches in them, after compression
 * @param failedRecords records whose send failed for good
 * @param retriedBatches batches sent again after an error
 * @param directSends synchronous sends whose caller did its own input and output
 * @param bufferedBytes bytes of the buffer memory in use now
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
