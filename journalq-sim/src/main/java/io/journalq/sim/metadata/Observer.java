package io.journalq.sim.metadata;

import io.journalq.server.control.MetadataPublisher;
import io.journalq.server.control.MetadataReplica;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.MetadataMachine;

/** The metadata of one broker that replays the log. One thread. */
final class Observer {
    private final MetadataPublisher publisher = new MetadataPublisher(Runnable::run);
    private final MetadataReplica replica;
    private final CommittedLog log;
    private int next;

    Observer(int nodeId, int partitions, CommittedLog log) {
        MetadataMachine.Limits limits = new MetadataMachine.Limits(nodeId, 1, partitions, partitions);
        this.replica = new MetadataReplica(new MetadataMachine(limits), publisher);
        this.log = log;
    }

    MetadataReplica replica() {
        return replica;
    }

    MetadataPublisher publisher() {
        return publisher;
    }

    MetadataImage image() {
        return publisher.current();
    }

    /** Replays everything that is committed. */
    void catchUp() {
        for (; next < log.size(); next++) {
            replica.replay(log.read(next));
        }
    }
}
