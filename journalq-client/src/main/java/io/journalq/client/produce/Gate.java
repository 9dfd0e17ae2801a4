package io.journalq.client.produce;

import io.journalq.client.JournalQException;
import io.journalq.common.id.TopicPartition;

/** What batches have to pass before they go out, and who hears of those that fail: an open transaction. On the event loop. */
public interface Gate {
    /** For a producer without transactions. */
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

    /** Whether batches of a partition may go out now. When not, {@link Sender#onAdmitted} must be called later. */
    boolean admits(TopicPartition partition);

    /** Newest version of Produce that may be used. */
    short newestProduceVersion();

    /** A batch failed for good. */
    void onFailed(JournalQException cause);
}
