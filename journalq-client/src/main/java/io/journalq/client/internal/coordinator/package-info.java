/**
 * Finds the coordinator of a group or of a transactional id, and sends requests to it with retries. Connections come from
 * {@code network}. Must not know what the requests mean.
 */
package io.journalq.client.internal.coordinator;
