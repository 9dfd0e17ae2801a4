package io.journalq.client.error;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ErrorCode;

/**
 * A consumer that opens sealed batches has received a batch that is not sealed, cannot be opened, or is not where its
 * sender has put it. No record of it is returned. The position of the consumer stays before the batch; {@code seek}
 * behind it to skip it.
 */
public final class SealViolationException extends JournalQException {
    /** What is wrong with a batch. */
    public enum Reason {
        /** The batch is not sealed. */
        PLAIN_BATCH,
        /** The envelope or the key packet is not valid. */
        MALFORMED,
        /** The key packet is missing, or is not signed by a sender that may write to the topic. */
        UNKNOWN_SENDER,
        /** This consumer has no key for the batch. */
        NO_KEY,
        /** The batch was changed, or comes from another partition, topic or epoch. */
        WRONG_TAG,
        /** The sender signs its batches, and this one does not have its signature: a reader has made it. */
        WRONG_SIGNATURE,
        /** The batch was read before, or batches are not in the order in which they were sent. */
        WRONG_ORDER,
        /** Batches that were sent before this one are missing, and the policy refuses gaps. */
        MISSING_BATCHES
    }

    private final TopicPartition partition;
    private final long offset;
    private final Reason reason;

    public SealViolationException(TopicPartition partition, long offset, Reason reason, String detail) {
        this(partition, offset, reason, detail, null);
    }

    public SealViolationException(
            TopicPartition partition, long offset, Reason reason, String detail, Throwable cause) {
        super(
                "the batch of " + partition + " at offset " + offset + " is not returned: " + detail
                        + "; to skip it, seek behind it",
                ErrorCode.CORRUPT_MESSAGE,
                false,
                cause);
        this.partition = partition;
        this.offset = offset;
        this.reason = reason;
    }

    public TopicPartition partition() {
        return partition;
    }

    /** The offset of the first record of the batch. */
    public long offset() {
        return offset;
    }

    public Reason reason() {
        return reason;
    }
}
