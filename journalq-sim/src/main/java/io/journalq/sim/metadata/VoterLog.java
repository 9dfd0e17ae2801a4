package io.journalq.sim.metadata;

import io.journalq.server.control.MetadataBatch;
import io.journalq.server.control.MetadataLog;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** The metadata log as one voter sees it. One thread. */
final class VoterLog implements MetadataLog {
    private final MetadataQuorum quorum;
    private final int nodeId;
    private Consumer<Role> listener = role -> {};
    private Role role = Role.FOLLOWING;

    VoterLog(MetadataQuorum quorum, int nodeId) {
        this.quorum = quorum;
        this.nodeId = nodeId;
    }

    void become(Role next) {
        role = next;
        listener.accept(next);
    }

    @Override
    public void open(Replica replica) {
        listener.accept(role);
    }

    @Override
    public CompletableFuture<Void> propose(MetadataBatch batch) {
        return role == Role.LEADING
                ? quorum.propose(nodeId, batch)
                : CompletableFuture.failedFuture(new IOException("this broker does not lead the metadata quorum"));
    }

    @Override
    public void onRole(Consumer<Role> roleListener) {
        listener = roleListener;
    }

    @Override
    public Members members() {
        return quorum.members();
    }

    @Override
    public boolean electsLeader() {
        return true;
    }

    @Override
    public void fence(IOException reason) {
        become(Role.FAILED);
    }

    @Override
    public void close() {
        become(Role.FOLLOWING);
    }
}
