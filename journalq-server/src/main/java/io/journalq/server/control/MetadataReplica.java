package io.journalq.server.control;

import io.journalq.common.protocol.Message;
import io.journalq.server.metadata.ClusterVersion;
import io.journalq.server.metadata.MetadataDelta;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.MetadataMachine;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * The metadata of this broker: applies what the log has committed, and publishes the resulting images with what has
 * changed. Deciders are separate machines that begin with the newest image. Called by the log, except for the methods
 * that any thread may call.
 */
public final class MetadataReplica implements MetadataLog.Replica {
    private final MetadataMachine machine;
    private final MetadataPublisher publisher;
    private volatile MetadataImage newest = MetadataImage.EMPTY;

    /** @param machine without state */
    public MetadataReplica(MetadataMachine machine, MetadataPublisher publisher) {
        this.machine = machine;
        this.publisher = publisher;
    }

    @Override
    public void replay(List<Message> records) {
        publish(machine.replay(records));
    }

    @Override
    public void restore(List<Message> snapshot) {
        publish(machine.restore(snapshot));
    }

    private void publish(MetadataDelta delta) {
        newest = delta.now();
        publisher.publish(delta);
    }

    @Override
    public List<Message> snapshot() {
        return machine.snapshot();
    }

    @Override
    public int level() {
        return ClusterVersion.of(newest);
    }

    /** The id of this broker. Any thread. */
    int nodeId() {
        return machine.nodeId();
    }

    /** The image with everything that is applied, and that may not be published yet. Any thread. */
    MetadataImage image() {
        return newest;
    }

    /** Completed when everything that is applied now is published. Any thread. */
    CompletableFuture<Void> published() {
        return publisher.published();
    }

    /** A machine with the state of {@code image}, which decides on operations. Any thread. */
    MetadataMachine newDecider(MetadataImage image) {
        return machine.decider(image);
    }
}
