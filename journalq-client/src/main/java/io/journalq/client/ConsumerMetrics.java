package io.journalq.client;

/**
 * A snapshot of the counters of a consumer, since its creation.
 *
 * @param fetches Fetch responses received
 * @param fetchedBytes bytes of batches in these responses, compressed
 * @param records records that {@code poll} returned
 * @param failedFetches Fetch requests that failed and were sent again
 * @param failedCommits automatic commits that failed after all retries; the records concerned may be read again
 */
public record ConsumerMetrics(long fetches, long fetchedBytes, long records, long failedFetches, long failedCommits) {}
