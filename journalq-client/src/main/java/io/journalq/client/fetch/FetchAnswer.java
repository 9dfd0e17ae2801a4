package io.journalq.client.fetch;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FetchResponse;
import io.netty.buffer.ByteBuf;
import java.util.List;

/**
 * One Fetch answer that holds something for the application, on its way from the event loop to the consumer's thread,
 * which releases the frame.
 *
 * @param session through which it came
 * @param frame a reference to what the parts' batches point into
 */
record FetchAnswer(FetchSession session, ByteBuf frame, List<Part> parts) {
    /**
     * What it holds of one partition: batches, or an error.
     *
     * @param generation of the partition when it was asked for
     * @param offset that was asked for
     * @param batches null with an error
     * @param aborted the aborted transactions that have records in {@code batches}, when only committed ones are read
     */
    record Part(
            TopicPartition id,
            int generation,
            long offset,
            ErrorCode error,
            ByteBuf batches,
            List<FetchResponse.AbortedTransaction> aborted) {}
}
