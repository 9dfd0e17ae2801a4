package io.journalq.client.seal;

import io.journalq.common.id.TopicPartition;
import io.netty.buffer.ByteBuf;

/** Opens the sealed batches that one consumer reads. Belongs to the thread of the consumer. */
public interface BatchOpener extends AutoCloseable {
    /** Creates the opener of one consumer. A factory can be used for several consumers. */
    interface Factory {
        /**
         * Creates an opener. Does not block.
         *
         * @param keys the topics of keys, over the connection settings of the consumer
         */
        BatchOpener opener(KeyLog keys);
    }

    /**
     * Starts to read a partition at a position that the application or its group has chosen, so that batches that were
     * read before may come again.
     *
     * @param offset the position
     * @param state what {@link #state} returned when the position was committed, or an empty string
     */
    void start(TopicPartition partition, long offset, String state);

    /**
     * The log of a partition has lost its records at and behind an offset, and the position has moved back there. Later
     * batches of the same senders can have these offsets. Batches that were read must still not come again.
     *
     * @param offset the new position
     */
    void truncate(TopicPartition partition, long offset);

    /** Forgets a partition that is no longer assigned. */
    void stop(TopicPartition partition);

    /**
     * Opens a batch. May block while keys are read.
     *
     * @param batches holds a complete batch at {@code index}, whose CRC has been checked
     * @param out receives the plain batch with the offsets of the sealed one. Its CRC need not be valid. Nothing is
     *     written if this call throws
     * @throws io.journalq.client.error.SealViolationException if the batch cannot be trusted or opened
     */
    void open(TopicPartition partition, ByteBuf batches, int index, ByteBuf out);

    /** Returns what has to be known to continue behind the last opened batch after a restart, or an empty string. */
    String state(TopicPartition partition);

    /** The number of batches that were missing before a later one. Any thread. */
    long missingBatches();

    /** Forgets the keys. */
    @Override
    void close();
}
