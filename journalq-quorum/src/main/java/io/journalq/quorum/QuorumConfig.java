package io.journalq.quorum;

import io.journalq.common.id.Uuid;
import io.journalq.server.control.QuorumTls;
import io.journalq.server.control.QuorumVoter;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;

/**
 * What a voter has to know before it opens its log. Immutable.
 *
 * @param clusterId all voters of a quorum have the same one
 * @param self this broker and the directory that holds its log
 * @param bind where this voter listens, not resolved; the others reach it at the address in {@code self}
 * @param founders the voters of a new quorum, including this one; empty for a broker that an existing quorum adds.
 *     Ignored if the directory already has a log
 * @param dataDirectory holds the log of the quorum and the journal of what is committed
 * @param lostPower whether the system went down since the last clean stop, so that a vote may be lost
 * @param sizes bounds of the log's files
 * @param tls encrypts connections and authenticates both sides; null for neither
 */
public record QuorumConfig(
        Uuid clusterId,
        QuorumVoter self,
        InetSocketAddress bind,
        List<QuorumVoter> founders,
        Path dataDirectory,
        boolean lostPower,
        LogSizes sizes,
        QuorumTls tls) {
    public QuorumConfig {
        founders = List.copyOf(founders);
    }

    /**
     * Bounds of the log's files. Only tests use other values than {@link #DEFAULT}.
     *
     * @param snapshotEntries a snapshot is taken after this many entries
     * @param snapshotBytes a snapshot is taken after batches of this many bytes
     * @param keptEntries entries that stay in the log behind a snapshot, so that a voter that was away for a short time
     *     needs no snapshot
     * @param segmentBytes maximum size of a file of the log
     */
    public record LogSizes(int snapshotEntries, int snapshotBytes, int keptEntries, int segmentBytes) {
        /** Snapshots each 10,000 entries or MiB; files of 8 MiB. */
        public static final LogSizes DEFAULT = new LogSizes(10_000, 1 << 20, 10_000, 8 << 20);
    }
}
