package io.journalq.client.internal.fetch;

import io.journalq.common.id.TopicPartition;
import io.netty.buffer.ByteBuf;

/**
 * The data of one partition in a Fetch response. It has been verified, so it consists of complete batches. Belongs to
 * the thread of the consumer.
 *
 * @param batches a slice of the response frame; valid as long as the frame
 * @param startOffset the requested position; a batch may contain records before it, which are skipped
 * @param nextOffset the position after the last batch
 * @param recordCount the number of records at or after {@code startOffset}
 */
public record FetchedPartition(
        TopicPartition topicPartition, ByteBuf batches, long startOffset, long nextOffset, int recordCount) {}
