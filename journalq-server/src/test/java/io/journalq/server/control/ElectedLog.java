package io.journalq.server.control;

import io.journalq.server.metadata.ClusterVersion;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** A log in a journal whose leader is the one that a test elects. It has the role of a follower at first. */
final class ElectedLog implements MetadataLog {
    /** As that of a quorum. */
    static final int MAX_BATCH_BYTES = 1 << 20;

    private final MetadataLog journal;
    private Consumer<Role> listener;
    private volatile Members members = new Members(Members.NO_LEADER, 0, List.of());
    private volatile boolean leads;

    /** Fails the next proposals if set; whether they are committed all the same is up to the test. */
    volatile IOException failure;

    volatile boolean commitsWhenItFails;

    /** Number of proposals that succeed although {@link #failure} is set. */
    volatile int succeeding;

    ElectedLog(MetadataLog journal) {
        this.journal = journal;
    }

    /** Elects a broker. The listener is informed only if it is {@code self}, or was the leader before. */
    void elect(int nodeId, int term, int self) {
        boolean led = leads;
        members = new Members(nodeId, term, List.of(nodeId));
        leads = nodeId == self;
        if (leads || led) {
            listener.accept(leads ? Role.LEADING : Role.FOLLOWING);
        }
    }

    /** The log of this broker cannot be used any more: its files are lost, or a record cannot be applied. */
    void fail() {
        leads = false;
        listener.accept(Role.FAILED);
    }

    /** Commits what another broker has decided. */
    void commit(MetadataBatch batch) {
        journal.propose(batch).join();
    }

    @Override
    public void open(Replica replica) throws IOException {
        journal.onRole(role -> {});
        journal.open(replica);
        listener.accept(Role.FOLLOWING);
    }

    @Override
    public CompletableFuture<Void> propose(MetadataBatch batch) {
        if (!leads) {
            return CompletableFuture.failedFuture(new IOException("this broker does not lead"));
        }
        if (sizeBytes(batch) > MAX_BATCH_BYTES) {
            return CompletableFuture.failedFuture(new IOException("the batch is too large"));
        }
        IOException failing = succeeding > 0 ? null : failure;
        succeeding = Math.max(0, succeeding - 1);
        if (failing == null || commitsWhenItFails) {
            commit(batch);
        }
        return failing == null ? CompletableFuture.completedFuture(null) : CompletableFuture.failedFuture(failing);
    }

    private static int sizeBytes(MetadataBatch batch) {
        ByteBuf encoded = MetadataLogCodec.batch(
                batch.records(), ClusterVersion.FIRST, 1_700_000_000_000L, UnpooledByteBufAllocator.DEFAULT);
        int bytes = encoded.readableBytes();
        encoded.release();
        return bytes;
    }

    @Override
    public int maxBatchBytes() {
        return MAX_BATCH_BYTES;
    }

    @Override
    public void onRole(Consumer<Role> informed) {
        listener = informed;
    }

    @Override
    public Members members() {
        return members;
    }

    @Override
    public boolean electsLeader() {
        return true;
    }

    @Override
    public void fence(IOException reason) {
        journal.fence(reason);
    }

    @Override
    public void close() throws IOException {
        journal.close();
    }
}
