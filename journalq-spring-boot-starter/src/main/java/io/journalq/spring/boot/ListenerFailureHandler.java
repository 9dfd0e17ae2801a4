package io.journalq.spring.boot;

import io.journalq.client.ConsumerRecord;

/**
 * Decides about a record for which a {@link JournalQListener} failed in all attempts. A bean of this type replaces the
 * default, which logs the record's topic, partition and offset. It can send the record to another topic, for example.
 */
@FunctionalInterface
public interface ListenerFailureHandler {
    /**
     * Called on the thread of the listener. When it returns, the listener goes on with the next record.
     *
     * @param cause what the listener or a deserializer threw
     * @throws RuntimeException to have the record delivered again, after {@code journalq.listener.retry-delay}
     */
    void onFailure(ConsumerRecord record, Exception cause);
}
