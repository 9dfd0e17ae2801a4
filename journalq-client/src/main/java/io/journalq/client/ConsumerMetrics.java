package io.journalq.client;

/**
 * What a consumer did since it was made. A snapshot.
 *
 * @param fetches Fetch answers received
 * @param fetchedBytes bytes of batches in them, as compressed
 * @param records records handed to the application by {@code poll}
 * @param failedFetches Fetch requests that failed and were sent again
 * @param failedCommits automatic commits that failed for good; what they were to commit may be read again
 */
public record ConsumerMetrics(long fetches, long fetchedBytes, long records, long failedFetches, long failedCommits) {}
