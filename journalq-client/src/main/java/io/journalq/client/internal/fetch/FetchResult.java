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
     * The data of one partition: batches, an error, or where the log of the leader diverges from what was read.
     *
     * @param generation the generation of the partition at the time of the request
     * @param offset the requested offset
     * @param batches null unless there are batches
     * @param aborted the aborted transactions that have records in {@code batches}, if only committed records are read
     * @param diverging the last leader epoch that the leader's log shares with what was read, and the end of that epoch
     *     (KIP-320); null unless they diverge
     */
    record Part(
            TopicPartition id,
            int generation,
            long offset,
            ErrorCode error,
            ByteBuf batches,
            List<FetchResponse.AbortedTransaction> aborted,
            FetchResponse.EpochEndOffset diverging) {}
}
