/**
 * From a record to its acknowledgement: partitioning, batching, sequence numbers, retries. Any thread adds records. Produce
 * requests go through {@code network}; results go to the callers that wait for them. Must not know sockets, except the
 * blocking connection of {@link io.journalq.client.internal.produce.DirectSender}.
 */
package io.journalq.client.internal.produce;
