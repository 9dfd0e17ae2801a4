package io.journalq.client;

import io.journalq.client.error.JournalQException;

/**
 * A snapshot of the counters of a consumer, since its creation. The failures that it counts are also logged: see {@code
 * docs/guides/client.md}.
 *
 * @param fetches Fetch responses received
 * @param fetchedBytes bytes of batches in these responses, compressed
 * @param records records that {@code poll} returned
 * @param failedFetches Fetch requests that failed and were sent again, and partitions in Fetch responses that had an
 *     error or had lost records
 * @param failedCommits automatic commits that failed after all retries; the records concerned may be read again
 * @param unreachableBrokers failed attempts to connect to a broker while no other broker could be reached either
 * @param unknownTopics Metadata responses in which a topic that the consumer uses did not exist
 * @param lostCoordinators times that the coordinator of the group was lost, moved or not available
 * @param authorizationFailures requests that a broker refused because the client has no permission
 * @param missingBatches sealed batches that were missing before a later one of the same sender; 0 without a policy. Aborted
 *     transactions and failed batches count, too
 * @param lastError the last failure that was logged, or that was not logged because the same cause had just been; null
 *     if there was none
 */
public record ConsumerMetrics(
        long fetches,
        long fetchedBytes,
        long records,
        long failedFetches,
        long failedCommits,
        long unreachableBrokers,
        long unknownTopics,
        long lostCoordinators,
        long authorizationFailures,
        long missingBatches,
        JournalQException lastError) {}
