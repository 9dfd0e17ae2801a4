/**
 * From a record to its acknowledgement: partition choice, batches, sequence numbers, retries. In: records of any thread.
 * Out: Produce requests through {@code network}, results to whoever waits. Must not know sockets.
 */
package io.journalq.client.produce;
