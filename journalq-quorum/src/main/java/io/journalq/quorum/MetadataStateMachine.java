package io.journalq.quorum;

import io.journalq.server.journal.file.FileStore;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.io.MD5Hash;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftConfigurationProto;
import org.apache.ratis.proto.RaftProtos.RaftPeerProto;
import org.apache.ratis.proto.RaftProtos.RoleInfoProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftGroupMemberId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.storage.FileInfo;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.StateMachineStorage;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.statemachine.impl.SimpleStateMachineStorage;
import org.apache.ratis.statemachine.impl.SingleFileSnapshotInfo;
import org.apache.ratis.util.LifeCycle;

/**
 * What Ratis calls: passes committed entries to {@link AppliedMetadata}, and events to a {@link Listener}. Belongs to one
 * Ratis server, and is dropped with it. It never throws from an apply: after a failure it refuses all further entries,
 * and the listener opens the server again.
 *
 * <p>Ratis calls the methods that apply entries, take snapshots and install them on one thread, and reports events on
 * several.
 */
final class MetadataStateMachine extends BaseStateMachine {
    /** The reply to a proposal that was applied. */
    static final Message APPLIED = Message.valueOf("applied");

    /** The reply to a proposal that did not fit the log. */
    static final Message DROPPED = Message.valueOf("dropped");

    /** The reply to a proposal that the next server applies, because this one is being closed. */
    static final Message LEFT_TO_NEXT = Message.valueOf("left to the next server");

    private final FileStore store;
    private final AppliedMetadata applied;
    private final int snapshotBytes;
    private final Listener listener;
    private final SilentVoters silentVoters = new SilentVoters();
    private final SimpleStateMachineStorage storage = new SimpleStateMachineStorage();

    /** Why no entry is applied any more; null while they are. */
    private Exception failure;

    /** The term of the newest configuration, which a leader writes when its term begins. Set by the applying thread. */
    private long configurationTerm;

    /** Whether this broker is a voter of the newest configuration. Set by the applying thread. */
    private boolean voted;

    /** Guarded by {@link #applied}. */
    private boolean snapshotRequested;

    /** Set when the server is to be replaced. No entry is applied from then on. Guarded by {@link #applied}. */
    private boolean detached;

    /** Events of the server. Any thread; must not block. */
    interface Listener {
        /** This broker leads. Its term begins when the quorum has committed an entry of it. */
        void onElected();

        /** This broker leads, and has applied everything that was committed before its term. */
        void onLeaderReady(long term);

        /** This broker does not lead. */
        void onNotLeader();

        /** This broker has become a voter, perhaps again, or is no longer one. */
        void onVoter(boolean votes);

        /** A snapshot is due because of the size of the batches. */
        void onSnapshotDue();

        /**
         * The server is closed or has to be closed.
         *
         * @param cause null if it has closed itself for a reason of its own
         * @param permanent whether the same would happen after it is opened again
         */
        void onServerFailed(Throwable cause, boolean permanent);
    }

    MetadataStateMachine(FileStore store, AppliedMetadata applied, int snapshotBytes, Listener listener) {
        this.store = store;
        this.applied = applied;
        this.snapshotBytes = snapshotBytes;
        this.listener = listener;
    }

    /** Stops applying entries. Returns when none is being applied. */
    void detach() {
        synchronized (applied) {
            detached = true;
        }
    }

    @Override
    public void initialize(RaftServer server, RaftGroupId groupId, RaftStorage raftStorage) throws IOException {
        getLifeCycle()
                .startAndTransition(
                        () -> {
                            super.initialize(server, groupId, raftStorage);
                            storage.init(raftStorage);
                            restore();
                        },
                        IOException.class);
    }

    private void restore() throws IOException {
        SingleFileSnapshotInfo newest = storage.loadLatestSnapshot();
        if (newest == null) {
            applied.beginAtStart();
            return;
        }
        Path file = newest.getFile().getPath();
        if (!newest.hasMd5()) {
            throw new IOException("the metadata snapshot " + file + " has no checksum");
        }
        try {
            applied.restore(newest.getIndex(), SnapshotFile.read(store, file));
        } catch (UnreadableMetadataException unreadable) {
            fail(unreadable, true);
            throw unreadable;
        }
        setLastAppliedTermIndex(newest.getTermIndex());
    }

    @Override
    public StateMachineStorage getStateMachineStorage() {
        return storage;
    }

    // ---- applying

    @Override
    public CompletableFuture<Message> applyTransaction(TransactionContext transaction) {
        LogEntryProto entry = transaction.getLogEntry();
        try {
            synchronized (applied) {
                if (detached) {
                    return CompletableFuture.completedFuture(LEFT_TO_NEXT);
                }
                if (failure == null) {
                    boolean fits = applied.apply(
                            entry.getIndex(),
                            entry.getTerm(),
                            entry.getStateMachineLogEntry().getLogData().toByteArray());
                    updateLastAppliedTermIndex(entry.getTerm(), entry.getIndex());
                    requestSnapshotIfDue();
                    return CompletableFuture.completedFuture(fits ? APPLIED : DROPPED);
                }
            }
        } catch (IOException cannotWrite) {
            fail(cannotWrite, false);
        } catch (RuntimeException damaged) {
            fail(damaged, true);
        }
        return CompletableFuture.failedFuture(new IOException("the metadata log applies no entries", failure));
    }

    private void fail(Exception cause, boolean permanent) {
        failure = cause;
        listener.onServerFailed(cause, permanent);
    }

    private void requestSnapshotIfDue() {
        if (!snapshotRequested && applied.bytesSinceSnapshot() >= snapshotBytes) {
            snapshotRequested = true;
            listener.onSnapshotDue();
        }
    }

    @Override
    public void notifyTermIndexUpdated(long term, long index) {
        synchronized (applied) {
            if (failure == null && !detached) {
                super.notifyTermIndexUpdated(term, index);
                applied.skip(index);
            }
        }
    }

    // ---- snapshots

    @Override
    public long takeSnapshot() throws IOException {
        synchronized (applied) {
            snapshotRequested = false;
            TermIndex last = getLastAppliedTermIndex();
            if (failure != null || detached || last.getIndex() != applied.index()) {
                // The state is not that of the entries that this server has passed.
                return RaftLog.INVALID_LOG_INDEX;
            }
            File file = storage.getSnapshotFile(last.getTerm(), last.getIndex());
            MD5Hash md5 = SnapshotFile.write(store, file, applied.snapshot());
            storage.updateLatestSnapshot(new SingleFileSnapshotInfo(new FileInfo(file.toPath(), md5), last));
            applied.snapshotTaken();
            return last.getIndex();
        }
    }

    /** A snapshot that was due is not taken. Another one is due with the next entry. */
    void onSnapshotFailed() {
        synchronized (applied) {
            snapshotRequested = false;
        }
    }

    /** Ratis has received a part of a snapshot. Called for each part, on another thread than the applying one. */
    @Override
    public void pause() {
        LifeCycle lifeCycle = getLifeCycle();
        if (lifeCycle.getCurrentState() == LifeCycle.State.RUNNING) {
            lifeCycle.transition(LifeCycle.State.PAUSING);
            lifeCycle.transition(LifeCycle.State.PAUSED);
        }
    }

    /** The whole snapshot has been received. */
    @Override
    public void reinitialize() throws IOException {
        getLifeCycle()
                .startAndTransition(
                        () -> {
                            synchronized (applied) {
                                if (!detached) {
                                    // Meanwhile, Ratis deletes the entries that it replaces.
                                    SnapshotFile.makeDurable(
                                            store,
                                            storage.loadLatestSnapshot()
                                                    .getFile()
                                                    .getPath());
                                    restore();
                                }
                            }
                        },
                        IOException.class);
    }

    // ---- events

    @Override
    public void notifyConfigurationChanged(long term, long index, RaftConfigurationProto configuration) {
        configurationTerm = term;
        boolean votes = configuration.getPeersList().stream().anyMatch(this::isThisPeer)
                || configuration.getOldPeersList().stream().anyMatch(this::isThisPeer);
        if (voted != votes) {
            listener.onVoter(votes);
        }
        // A voter that catches up also sees the configurations from before it was added, perhaps for the second time.
        voted = votes;
    }

    private boolean isThisPeer(RaftPeerProto peer) {
        return RaftPeerId.valueOf(peer.getId()).equals(getId());
    }

    @Override
    public void notifyLeaderReady() {
        listener.onLeaderReady(configurationTerm);
    }

    @Override
    public void notifyNotLeader(Collection<TransactionContext> pending) {
        listener.onNotLeader();
    }

    @Override
    public void notifyLeaderChanged(RaftGroupMemberId member, RaftPeerId leader) {
        if (member.getPeerId().equals(leader)) {
            listener.onElected();
        } else {
            listener.onNotLeader();
        }
    }

    @Override
    public void notifyFollowerSlowness(RoleInfoProto leader, RaftPeer follower) {
        silentVoters.onSilence(follower);
    }

    @Override
    public void notifyLogFailed(Throwable cause, LogEntryProto entry) {
        listener.onServerFailed(cause, false);
    }

    @Override
    public void notifyServerShutdown(RoleInfoProto role, boolean allServers) {
        listener.onServerFailed(null, false);
    }

    /** Ratis reports a server that it closes in several ways, but it closes the state machine of each. */
    @Override
    public void close() throws IOException {
        super.close();
        listener.onServerFailed(null, false);
    }
}
