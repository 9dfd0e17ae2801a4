/**
 * Reads the assigned partitions: positions, offset lookups, fetch sessions, and the responses that wait for a poll. Fetch
 * requests go through {@code network}. Batches are handed out as they arrived; {@link io.journalq.client.ConsumerRecords}
 * decodes their records. Must not know groups.
 */
package io.journalq.client.internal.fetch;
