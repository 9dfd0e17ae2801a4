package io.journalq.client;

import io.journalq.client.error.JournalQException;

/**
 * A snapshot of the counters of a producer, since its creation. The counters are read one after the other, so they may
 * differ by sends in progress. The failures that it counts are also logged: see {@code docs/guides/client.md}.
 *
 * @param records records acknowledged, or sent with {@link Acks#NONE}
 * @param batches batches acknowledged, or sent with {@link Acks#NONE}
 * @param requests Produce requests sent, including retries
 * @param sentBytes bytes of batches in these requests, compressed
 * @param failedRecords records that failed after all retries
 * @param retriedBatches batches sent again after an error
 * @param directSends synchronous sends for which the calling thread did the network I/O itself
 * @param bufferedBytes bytes of the buffer memory currently in use
 * @param unreachableBrokers failed attempts to connect to a broker while no other broker could be reached either
 * @param unknownTopics Metadata responses in which a topic that the producer uses did not exist
 * @param lostCoordinators times that the coordinator of the transactional id was lost, moved or not available
 * @param authorizationFailures requests that a broker refused because the client has no permission
 * @param lastError the last failure that was logged, or that was not logged because the same cause had just been; null
 *     if there was none
 */
public record ProducerMetrics(
        long records,
        long batches,
        long requests,
        long sentBytes,
        long failedRecords,
        long retriedBatches,
        long directSends,
        long bufferedBytes,
        long unreachableBrokers,
        long unknownTopics,
        long lostCoordinators,
        long authorizationFailures,
        JournalQException lastError) {}
