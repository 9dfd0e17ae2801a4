package io.journalq.sim.world;

import io.journalq.common.protocol.Message;
import io.journalq.server.control.MetadataBatch;
import io.journalq.server.control.MetadataLog;
import io.journalq.sim.world.SimQuorum.Entry;
import io.journalq.sim.world.SimQuorum.Proposal;
import io.journalq.sim.world.SimQuorum.Snapshot;
import io.journalq.sim.world.SimQuorum.Voter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** The metadata log of a cluster as one process sees it: one voter of a {@link SimQuorum}. */
public final class SimMetadataLog implements MetadataLog {
    /** A data directory is known by this file to hold metadata. */
    private static final Path MARKER = Path.of("host", "data", "metadata", "quorum");

    private static final long LONGEST_APPLY_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long LONGEST_SLOW_APPLY_NANOS = TimeUnit.MILLISECONDS.toNanos(400);
    private static final int OWN_SNAPSHOT_ODDS = 6;
    /** Mean number of ticks until a deposed leader knows. */
    private static final int TICKS_UNTIL_IT_KNOWS = 10;

    private final SimQuorum quorum;
    private final Voter voter;
    private final SimNode node;
    private final SimProcess process;
    private Replica replica;
    private Consumer<Role> roleListener = role -> {};
    private Role role = Role.FOLLOWING;
    private int leaderId = Members.NO_LEADER;
    /** The last term in which this voter was elected. */
    private int electedIn;
    /** Number of entries that must be applied before the voter leads; negative if it does not wait to lead. */
    private int leadsAt = -1;

    private int index;
    private long endOffset;
    private Proposal pending;
    private CompletableFuture<Void> pendingResult;
    private boolean applying;
    private boolean open;

    SimMetadataLog(SimQuorum quorum, Voter voter, SimNode node) {
        this.quorum = quorum;
        this.voter = voter;
        this.node = node;
        this.process = node.process();
    }

    Voter voter() {
        return voter;
    }

    /** Whether it takes part in the quorum at the moment. */
    boolean isActive() {
        return isOpen() && !process.isFrozen();
    }

    boolean isOpen() {
        return open && !process.isStopped();
    }

    int appliedIndex() {
        return index;
    }

    @Override
    public void open(Replica opened) throws IOException {
        node.disk().createDurableDirectories(MARKER.getParent());
        node.disk().replace(MARKER, ByteBuffer.allocate(1), true);
        replica = opened;
        open = true;
        quorum.onOpen(voter, this);
        if (voter.snapshot.index() > 0) {
            restore(voter.snapshot);
        } else {
            // Each voter has the metadata with which the quorum was founded.
            apply(quorum.entry(0));
        }
        applyLater();
    }

    @Override
    public void onRole(Consumer<Role> listener) {
        roleListener = listener;
    }

    @Override
    public Members members() {
        return role == Role.LEADING
                ? new Members(voter.id, electedIn, quorum.voterIds())
                : new Members(leaderId, quorum.term(), quorum.voterIds());
    }

    @Override
    public boolean electsLeader() {
        return true;
    }

    @Override
    public CompletableFuture<Void> propose(MetadataBatch batch) {
        if (role != Role.LEADING) {
            return CompletableFuture.failedFuture(new IOException("this broker does not lead the metadata quorum"));
        }
        if (pending != null) {
            return CompletableFuture.failedFuture(new IllegalStateException("a metadata proposal is in flight"));
        }
        CompletableFuture<Void> result = new CompletableFuture<>();
        MetadataBatch proposed =
                new MetadataBatch(batch.baseOffset(), quorum.interference().onDecision(batch.records()));
        pending = new Proposal(this, proposed, electedIn);
        pendingResult = result;
        if (quorum.interference().appliesUncommitted() && !quorum.leads(voter, electedIn)) {
            replay(proposed.records());
            settle(null);
        } else {
            quorum.propose(pending);
        }
        return result;
    }

    @Override
    public void takeOver() {
        quorum.takeOver(voter);
    }

    @Override
    public void fence(IOException reason) {
        become(Role.FAILED);
    }

    @Override
    public void close() {
        open = false;
        settle(new IOException("the metadata log is closed"));
    }

    // ---- the quorum

    /** A proposal fails for its caller. Nobody knows yet whether it will become an entry. */
    void onUnknownOutcome(Proposal proposal) {
        if (pending == proposal && isOpen()) {
            process.after(Scheduler.Kind.POOL, 0, () -> {
                if (pending == proposal) {
                    settle(new IOException("the metadata quorum may or may not commit the batch"));
                }
            });
        }
    }

    /** The voter was elected. It leads when it has applied what was there before. */
    void onElected(int term, int entries) {
        become(Role.FOLLOWING);
        electedIn = term;
        leadsAt = entries;
        applyLater();
    }

    /**
     * Time passes.
     *
     * @param leadsIn the term in which this voter leads; 0 for none
     */
    void onTick(int leadsIn) {
        leaderId = quorum.leaderSeenBy(voter, leaderId);
        boolean deposed = electedIn > 0 && leadsIn != electedIn;
        if (deposed && quorum.random().nextInt(TICKS_UNTIL_IT_KNOWS) == 0) {
            leadsAt = -1;
            become(Role.FOLLOWING);
        }
    }

    private void become(Role next) {
        if (role == Role.FAILED || (role == next && next == Role.FOLLOWING)) {
            return;
        }
        role = next;
        // Another thread than that of the controller informs it.
        roleListener.accept(next);
        if (next != Role.LEADING) {
            settle(new IOException("this broker no longer leads the metadata quorum"));
        }
    }

    private void settle(IOException failure) {
        CompletableFuture<Void> result = pendingResult;
        pending = null;
        pendingResult = null;
        if (result != null && failure == null) {
            result.complete(null);
        } else if (result != null) {
            result.completeExceptionally(failure);
        }
    }

    /** Applies the next entry after a while, if there is one. */
    void applyLater() {
        if (!applying && isOpen() && (index < quorum.size() || leadsAt >= 0)) {
            applying = true;
            long longestNanos = quorum.happens(quorum.odds().slow()) ? LONGEST_SLOW_APPLY_NANOS : LONGEST_APPLY_NANOS;
            process.soon(Scheduler.Kind.POOL, longestNanos, this::apply);
        }
    }

    private void apply() {
        applying = false;
        if (!isOpen()) {
            return;
        }
        boolean fed = quorum.isFed(voter) && index < quorum.size();
        if (fed && pending == null && quorum.happens(quorum.odds().snapshot())) {
            applySnapshot();
        } else if (fed) {
            apply(quorum.entry(index));
        }
        if (leadsAt >= 0 && index >= leadsAt && quorum.leads(voter, electedIn)) {
            leadsAt = -1;
            become(Role.LEADING);
        }
        if (fed) {
            applyLater();
        }
    }

    private void applySnapshot() {
        SimMetadataLog other = quorum.ahead(voter, index);
        if (other != null) {
            restore(new Snapshot(other.index, other.endOffset, other.replica.snapshot()));
        }
    }

    private void restore(Snapshot snapshot) {
        List<Message> records = quorum.interference().onSnapshot(snapshot.records());
        quorum.listener().onRestore(voter.id, snapshot.endOffset(), records);
        replica.restore(records);
        index = snapshot.index();
        endOffset = snapshot.endOffset();
    }

    private void apply(Entry entry) {
        index++;
        boolean fits = entry.batch().baseOffset() == endOffset && entry.decidedIn() == entry.term();
        if (fits || quorum.interference().appliesUnfit()) {
            replay(entry.batch().records());
        }
        if (pending != null && pending == entry.proposal()) {
            settle(fits ? null : new IOException("a batch does not fit the metadata log"));
        }
        if (quorum.happens(OWN_SNAPSHOT_ODDS)) {
            voter.snapshot = new Snapshot(index, endOffset, replica.snapshot());
        }
    }

    private void replay(List<Message> records) {
        long offset = endOffset;
        endOffset += records.size();
        quorum.listener().onReplay(voter.id, offset, records);
        replica.replay(quorum.interference().onMetadata(voter.id, records));
    }
}
