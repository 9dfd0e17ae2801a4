package io.journalq.client.transaction;

import io.journalq.client.JournalQException;
import io.journalq.client.produce.Gate;
import io.journalq.common.id.TopicPartition;

/** A gate that is there before what decides at it. Set once, before anything is sent; then on the event loop. */
final class LateGate implements Gate {
    private volatile Gate gate = Gate.OPEN;

    void open(Gate decides) {
        gate = decides;
    }

    @Override
    public boolean admits(TopicPartition partition) {
        return gate.admits(partition);
    }

    @Override
    public short newestProduceVersion() {
        return gate.newestProduceVersion();
    }

    @Override
    public void onFailed(JournalQException cause) {
        gate.onFailed(cause);
    }
}
