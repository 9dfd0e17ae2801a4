package io.journalq.sim.cluster;

import io.journalq.common.id.Uuid;
import io.journalq.sim.workload.LogReader;

/** Hears what clients of a cluster learn, at the moment when a broker responds. */
public interface ClusterListener {
    /** A broker acknowledges a record at an offset. */
    void onAcknowledged(ClusterPartition partition, int leader, long offset, String id);

    /**
     * A broker returns a record.
     *
     * @param committed whether the consumer reads only committed records
     */
    void onRead(ClusterPartition partition, LogReader.Found found, boolean committed);

    /** A coordinator says that a transaction has ended. */
    void onTransactionEnded(String transactionalId, boolean commit);

    /** A coordinator acknowledges the offset of a group. */
    void onCommitted(String group, long offset);

    /** A group sends a commit, which may take effect at any time from now on. */
    void onCommit(String group, long offset);

    /** A coordinator returns the offset of a group, which commits no more. */
    void onPosition(String group, long offset);

    /** A broker gives a producer an id. */
    void onProducerId(long producerId);

    /** A controller has created a topic. */
    void onTopic(String name, Uuid id);
}
