package io.journalq.client.seal;

import io.journalq.common.id.TopicPartition;
import io.netty.buffer.ByteBuf;

/** Seals the batches of one producer, so that only the intended consumers can read them. Thread-safe. */
public interface BatchSealer extends AutoCloseable {
    /** Creates the sealer of one producer. A factory can be used for several producers. */
    interface Factory {
        /**
         * Creates a sealer. Does not block.
         *
         * @param keys the topics of keys, over the connection settings of the producer
         */
        BatchSealer sealer(KeyLog keys);
    }

    /**
     * The place of one batch among the sealed batches of its partition. A batch is sealed once; retries send the same
     * bytes.
     */
    interface Place {
        /**
         * Seals a batch. Any thread; does not block.
         *
         * @param batch a complete batch; this call takes over its reference
         * @return the sealed batch with the record count, the largest timestamp, the producer state and the flags of
         *     {@code batch}. Later changes of the producer state must not break the seal. The caller releases it
         * @throws RuntimeException if the batch cannot be sealed; the batch then fails
         */
        ByteBuf seal(ByteBuf batch);
    }

    /**
     * Prepares to seal records of a topic. Called before each record by the thread that sends it. May block while keys
     * are exchanged.
     *
     * @throws io.journalq.client.error.SealingException if records for the topic cannot be sealed
     */
    void prepare(String topic);

    /**
     * Gives the next batch of a partition its place. The calls for one partition have the order in which its batches are
     * written to the log. The caller holds a lock, so this must neither block nor throw.
     */
    Place place(TopicPartition partition);

    /** Forgets the keys. */
    @Override
    void close();
}
