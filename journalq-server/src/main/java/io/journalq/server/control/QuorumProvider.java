package io.journalq.server.control;

import io.journalq.common.id.Uuid;
import io.journalq.server.control.MetadataLog.Replica;
import io.journalq.server.journal.file.FileStore;
import io.netty.buffer.ByteBufAllocator;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Clock;

/**
 * Founds a metadata quorum, and opens the log of one of its voters. The module {@code journalq-quorum} implements it. It
 * is found with {@link java.util.ServiceLoader} when {@code quorum.listener} is set, so a single broker does not load a
 * consensus library.
 */
public interface QuorumProvider {
    /** Holds the log and the votes of this broker, in its first data directory. */
    String DIRECTORY = "quorum";

    /**
     * A broker that votes, and its files.
     *
     * @param host at which the other voters reach it, on {@code port}
     * @param bind where it listens, not resolved
     * @param tls encrypts the connections of the voters and authenticates both sides; null for neither
     * @param dataDirectory its first data directory
     */
    record Voter(
            int nodeId,
            String host,
            int port,
            InetSocketAddress bind,
            QuorumTls tls,
            Path dataDirectory,
            FileStore store,
            Clock clock,
            ByteBufAllocator allocator) {}

    /**
     * Founds a quorum with this broker as its only voter. Its first snapshot is the metadata of a single broker, whose
     * journal is kept. If this fails or the broker is killed in the meantime, either the quorum is complete or there is
     * no {@link #DIRECTORY}.
     *
     * @param directoryId the first data directory
     * @param state with all records of the single broker
     * @param endOffset number of these records
     */
    void found(Voter voter, Uuid clusterId, Uuid directoryId, Replica state, long endOffset) throws IOException;

    /** Asks the leader of a quorum to add a voter. */
    @FunctionalInterface
    interface Admission {
        /**
         * Returns when the voter, which is running, is added.
         *
         * @throws IOException if it is not; the message is one line
         */
        void ask() throws IOException;
    }

    /**
     * The log of a broker that joins a quorum. {@link MetadataLog#open} returns when the quorum has added the broker to
     * its voters, and the broker has the metadata.
     *
     * @param directoryId the first data directory
     */
    MetadataLog join(Voter voter, Uuid clusterId, Uuid directoryId, Admission admission);

    /** Whether a voter that has a {@link #DIRECTORY} has the metadata of its quorum. Until then, it joins again. */
    boolean hasJoined(Voter voter) throws IOException;

    /**
     * The voter that has a {@link #DIRECTORY}.
     *
     * @throws IOException if the directory is not that of a voter
     */
    QuorumVoter identity(Voter voter) throws IOException;

    /**
     * The log of a voter that has a {@link #DIRECTORY}.
     *
     * @param lostPower whether the system went down since the last clean stop, so that a vote may be lost
     * @param admission for a broker that was removed from the voters; null if it votes
     * @throws IOException if the directory is not that of a voter
     */
    MetadataLog log(Voter voter, boolean lostPower, Admission admission) throws IOException;
}
