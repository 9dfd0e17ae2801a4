package io.journalq.client.internal.produce;

import io.journalq.client.error.JournalQException;
import io.journalq.common.id.TopicPartition;

/**
 * Decides when batches may be sent, and is notified of batches that failed. An open transaction implements it. On the
 * event loop.
 */
public interface Gate {
    /** The gate of a producer without transactions. */
    Gate OPEN = new Gate() {
        @Override
        public boolean admits(TopicPartition partition) {
            return true;
        }

        @Override
        public short newestProduceVersion() {
            return ProduceCall.NEWEST_VERSION;
        }

        @Override
        public void onFailed(JournalQException cause) {}
    };

    /** Whether batches of a partition may be sent now. If not, the gate calls {@link Sender#onAdmitted} later. */
    boolean admits(TopicPartition partition);

    /** The newest version of Produce that may be used. */
    short newestProduceVersion();

    /** A batch has failed after all retries. */
    void onFailed(JournalQException cause);
}
