package io.journalq.client;

import io.journalq.client.group.CommittedOffset;
import io.journalq.common.id.TopicPartition;
import java.util.Map;

/** Sees the records and the commits of a consumer. See {@link Consumer.Builder#interceptor}. */
public interface ConsumerInterceptor {
    /**
     * Called by the thread that polls, before {@code poll} returns records. {@link ConsumerRecords#count()}, {@link
     * ConsumerRecords#partitions()} and {@link ConsumerRecords#visit} copy nothing. An exception is logged.
     *
     * @param records not empty; they cannot be changed
     */
    default void onRecords(ConsumerRecords records) {}

    /**
     * Called when the group coordinator has stored offsets, also those of automatic commits. Must not block, because it
     * runs on a thread of the client. An exception is logged. Not called for offsets that a transaction commits.
     *
     * @param offsets by partition: the offset of the next record to read
     */
    default void onCommitted(Map<TopicPartition, CommittedOffset> offsets) {}
}
