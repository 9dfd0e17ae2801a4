package io.journalq.client;

import io.journalq.client.record.ProducerRecord;
import io.journalq.client.record.RecordMetadata;

/**
 * Sees every record that a producer sends, and can change it. See {@link Producer.Builder#interceptor}.
 *
 * <p>Several threads can call an interceptor at the same time.
 */
public interface ProducerInterceptor {
    /**
     * Called by the thread that sends, before the partition is chosen.
     *
     * @return the record to send instead, for example with another header (see {@link ProducerRecord#toBuilder}); not
     *     null. For {@link Producer#sendBatch}, the topic and partition of the record are ignored
     * @throws RuntimeException if the record must not be sent; the send throws it
     */
    default ProducerRecord onSend(ProducerRecord record) {
        return record;
    }

    /**
     * Called when a record is acknowledged. Within a transaction, this is before the commit. Must not block, because
     * it may run on a thread of the client. An exception is logged.
     *
     * @param record the record that was sent, as changed by all interceptors
     */
    default void onAcknowledged(ProducerRecord record, RecordMetadata metadata) {}

    /**
     * Called when a send has failed after all retries. Must not block, because it may run on a thread of the client. An
     * exception is logged.
     *
     * @param record the record that was sent, as changed by all interceptors
     * @param failure usually a {@link io.journalq.client.error.JournalQException}
     */
    default void onFailed(ProducerRecord record, Throwable failure) {}
}
