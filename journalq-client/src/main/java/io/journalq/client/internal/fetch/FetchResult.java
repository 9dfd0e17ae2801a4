package io.journalq.client.internal.fetch;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FetchResponse;
import io.netty.buffer.ByteBuf;
import java.util.List;

/**
 * A Fetch response with data or errors for the application. The event loop passes it to the thread of the consumer,
 * which releases the frame.
 *
 * @param session the session that received the response
 * @param frame the buffer that the batches refer to, with a reference owned by this object
 */
record FetchResult(BrokerFetchSession session, ByteBuf frame, List<Part> parts) {
    /**
     * The data of one partition: batches or an error.
     *
     * @param generation the generation of the partition at the time of the request
     * @param offset the requested offset
     * @param batches null with an error
     * @param aborted the aborted transactions that have records in {@code batches}, if only committed records are read
     */
    record Part(
            TopicPartition id,
            int generation,
            long offset,
            ErrorCode error,
            ByteBuf batches,
            List<FetchResponse.AbortedTransaction> aborted) {}
}
