package io.journalq.client.fetch;

import io.journalq.common.id.TopicPartition;
import io.netty.buffer.ByteBuf;

/**
 * What one Fetch answer holds of one partition, walked through once and so known to be whole batches. Belongs to the
 * consumer's thread.
 *
 * @param batches a view of the answer's frame: it lives as long as the frame
 * @param startOffset the position asked for; records before it, which may share its batch, are not the application's
 * @param nextOffset the position after the last batch
 * @param recordCount records at or after {@code startOffset}
 */
public record FetchedPartition(
        TopicPartition topicPartition, ByteBuf batches, long startOffset, long nextOffset, int recordCount) {}
