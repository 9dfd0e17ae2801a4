package io.journalq.server.control;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.Message;
import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * Orders and stores the metadata records. A record takes effect when the log has committed it and passes it to the
 * {@link Replica}, and in no other way. See decision 19.
 *
 * <p>All brokers of a cluster apply the same batches in the same order, each at its own pace:
 *
 * <ul>
 *   <li>A batch is applied at its base offset or not at all, and at most once. A repeated batch, and one that was
 *       decided on in an earlier term, changes nothing.
 *   <li>A term has at most one leader. A deposed leader learns this late: until then, it is {@link Role#LEADING}, its
 *       replica may be behind, and its proposals do not commit.
 *   <li>A proposal that fails may be committed all the same, by this or by the next leader, but only before any other
 *       batch is committed at its base offset.
 *   <li>Without a majority of the voters, proposals wait or fail, and the replicas stay as they are.
 *   <li>{@link Replica#restore} may take the place of any number of batches, at any time before this broker leads.
 * </ul>
 *
 * <p>Used by the controller's thread, except for {@link #fence} and {@link #members}.
 */
public interface MetadataLog extends Closeable {
    /** The state of this broker that the records produce. Called by one thread at a time. */
    interface Replica {
        /**
         * Applies the records of a committed batch.
         *
         * @throws IllegalArgumentException if the records cannot follow the previous ones: the log is damaged
         */
        void replay(List<Message> records);

        /**
         * Replaces the state with that of a snapshot. In a quorum, a broker that was away for long receives a snapshot
         * while it has older state.
         *
         * @throws IllegalArgumentException if the records are not those of a snapshot
         */
        void restore(List<Message> snapshot);

        /** The minimal records that restore the current state. */
        List<Message> snapshot();

        /** The level at which records are written, see {@link io.journalq.server.metadata.ClusterVersion}. */
        int level();
    }

    /** What this broker may do with the log. */
    enum Role {
        /**
         * All records that were committed in earlier terms are applied, and batches may be proposed. May be told again
         * for a later term, after {@link #FOLLOWING}.
         */
        LEADING,
        /** Another broker leads the quorum, or none does. Every proposal fails. */
        FOLLOWING,
        /** The log failed and its end is unknown, or it is fenced. Every proposal fails until a restart. */
        FAILED
    }

    /**
     * The brokers that vote on the log.
     *
     * @param leaderId the node whose proposals are committed; {@link #NO_LEADER} if none is known
     * @param term the term of the leader
     * @param voters node ids, including the leader
     */
    record Members(int leaderId, int term, List<Integer> voters) {
        /** There is no leader at the moment, or this broker does not know it. */
        public static final int NO_LEADER = -1;
    }

    /**
     * Passes the newest snapshot and the records behind it to {@code replica}, and later every batch that is committed.
     * In a quorum, the records behind the snapshot arrive after this method has returned, when they are known to be
     * committed. Called once.
     *
     * @throws IOException if the log cannot be read, is damaged, or has records that this release does not know
     */
    void open(Replica replica) throws IOException;

    /**
     * Proposes a batch. At most one proposal may be in flight.
     *
     * @return completed when the batch is committed and applied to the replica of this broker. It fails if that is not
     *     certain: the batch may or may not be applied later.
     */
    CompletableFuture<Void> propose(MetadataBatch batch);

    /**
     * Sets the listener that is informed of every change of role, on any thread. Called once, before {@link #open}. The
     * proposal in flight fails when the role is no longer {@link Role#LEADING}.
     */
    void onRole(Consumer<Role> listener);

    /** The voters and their leader, as far as this broker knows. Any thread. */
    Members members();

    /**
     * Whether brokers elect the one that may propose. Each of its terms begins with a record that names it. Without
     * elections, this broker may propose when {@link #open} has returned.
     */
    boolean electsLeader();

    /** Maximum size of a batch, in bytes. A larger one is never committed. */
    default int maxBatchBytes() {
        return Integer.MAX_VALUE;
    }

    /**
     * Asks the voters to elect this broker, although they have a leader. Nothing happens if they do not, or if this broker
     * has not heard from that leader. Any thread.
     */
    default void takeOver() {}

    /** Changes who votes; null for a log whose voters are fixed, such as that of a broker that is alone. Any thread. */
    default Voters voters() {
        return null;
    }

    /** The voters of a log, as something that can change. Any thread. */
    interface Voters {
        /**
         * Adds a voter, which must be running. Completes when it has caught up and votes. Fails if this broker does not
         * lead, or if another change is in progress; with a {@link java.util.concurrent.TimeoutException} if it would take
         * the place of a voter that is not down yet.
         *
         * @param replaces whether a voter of the same node id and address has lost its directory, so that this one takes
         *     its place
         * @throws IllegalArgumentException as the failure of the future, if the voter cannot be added
         */
        CompletableFuture<Void> add(QuorumVoter voter, boolean replaces);

        /**
         * Removes the voter of a node, if there is one. Completes when the others have committed that. Fails like {@link
         * #add}.
         */
        CompletableFuture<Void> remove(int nodeId);

        /** How far the voters are; null if this broker does not lead the quorum. */
        QuorumState state();
    }

    /**
     * How far the voters are, in entries of the log.
     *
     * @param highWatermark offset behind the last committed entry
     */
    record QuorumState(long highWatermark, List<VoterState> voters) {
        public QuorumState {
            voters = List.copyOf(voters);
        }
    }

    /**
     * How far a voter is.
     *
     * @param directoryId the directory that holds its log
     * @param logEndOffset offset behind its last entry; -1 if it is not known
     * @param silentMs time since it has last responded, in milliseconds; 0 for the leader
     */
    record VoterState(int nodeId, Uuid directoryId, long logEndOffset, long silentMs) {}

    /** Rejects all proposals until a restart, because the log's files cannot be relied on. Any thread. */
    void fence(IOException reason);

    /** Fails the proposal in flight, and closes the files. */
    @Override
    void close() throws IOException;
}
