package io.journalq.sim.cluster;

import io.journalq.common.id.Uuid;

/** Hears what clients of a cluster learn, at the moment when a broker responds. */
public interface ClusterListener {
    /** A broker acknowledges a record at an offset. */
    void onAcknowledged(ClusterPartition partition, int leader, long offset, String id);

    /** A broker returns a record of a leader epoch. */
    void onRead(ClusterPartition partition, long offset, int epoch, String id);

    /** A coordinator acknowledges the offset of a group. */
    void onCommitted(String group, long offset);

    /** A group does not know whether its commit has taken effect. */
    void onCommitUnknown(String group, long offset);

    /** A coordinator returns the offset of a group, which commits no more. */
    void onPosition(String group, long offset);

    /** A broker gives a producer an id. */
    void onProducerId(long producerId);

    /** A controller has created a topic. */
    void onTopic(String name, Uuid id);
}
