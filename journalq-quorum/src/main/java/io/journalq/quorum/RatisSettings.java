package io.journalq.quorum;

import io.journalq.server.control.QuorumTls;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.grpc.GrpcConfigKeys;
import org.apache.ratis.grpc.GrpcTlsConfig;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.RaftServerConfigKeys.Log;
import org.apache.ratis.server.RaftServerConfigKeys.Rpc;
import org.apache.ratis.server.RaftServerConfigKeys.Snapshot;
import org.apache.ratis.util.SizeInBytes;
import org.apache.ratis.util.TimeDuration;

/** The settings of Ratis that differ from its defaults. Decision 20 has the reasons. Stateless. */
final class RatisSettings {
    /** A follower that hears nothing from its leader for this long begins an election. */
    static final int ELECTION_TIMEOUT_MIN_MS = 1_000;

    static final int ELECTION_TIMEOUT_MAX_MS = 1_500;

    /** A server that has just opened, and hears nothing from a leader for this long to twice as long, begins an election. */
    static final int FIRST_ELECTION_TIMEOUT_MS = 300;

    /**
     * How long the leader waits before it sends to a voter again, after failures: pairs of a time and the number of failures
     * to which it applies. With the default of up to 5 s, a broker that comes back can lead partitions before it knows it.
     * After the last failure of the last pair, Ratis does not wait at all, so that it must never be reached.
     */
    private static final String APPENDER_RETRIES = "1ms,10, 100ms,2000000000";

    /** A voter that has not responded to its leader for this long is logged. Ratis does nothing else then. */
    static final int SILENT_AFTER_MS = 10_000;

    private static final int PREALLOCATED_BYTES = 1 << 20;
    private static final int APPENDER_BUFFER_BYTES = 2 << 20;
    private static final int WRITE_BUFFER_BYTES = 4 << 20;
    private static final int GRPC_MESSAGE_BYTES = 4 << 20;
    private static final int SNAPSHOT_CHUNK_BYTES = 1 << 20;
    private static final int CACHED_SEGMENTS = 2;
    private static final int QUEUED_BYTES = 8 << 20;
    private static final int KEPT_SNAPSHOTS = 2;
    private static final int WORKER_THREADS = 2;

    /** A batch larger than this is refused. Ratis needs room for it in each of its buffers. */
    static final int MAX_BATCH_BYTES = 1 << 20;

    private RatisSettings() {}

    /** @param firstElectionMs for how long a server that opens waits for a leader, at least; at most twice as long */
    static RaftProperties of(QuorumConfig config, Path storageDirectory, int firstElectionMs) {
        RaftProperties properties = new RaftProperties();
        RaftServerConfigKeys.setStorageDir(properties, List.of(storageDirectory.toFile()));
        setTimes(properties, firstElectionMs);
        setLog(properties, config.sizes());
        setSnapshots(properties, config.sizes());
        GrpcConfigKeys.Server.setHost(properties, config.bind().getHostString());
        GrpcConfigKeys.Server.setPort(properties, config.bind().getPort());
        GrpcConfigKeys.Server.setBossGroupSize(properties, 1);
        GrpcConfigKeys.Server.setWorkerGroupSize(properties, WORKER_THREADS);
        GrpcConfigKeys.setMessageSizeMax(properties, SizeInBytes.valueOf(GRPC_MESSAGE_BYTES));
        return properties;
    }

    /**
     * What Ratis accepts as objects only.
     *
     * @param tls null for connections that are not encrypted
     */
    static Parameters parameters(RaftPeerId self, QuorumTls tls) {
        Parameters parameters = new Parameters();
        if (tls != null) {
            GrpcConfigKeys.TLS.setConf(parameters, new GrpcTlsConfig(tls.keys(), tls.trust(), true));
        }
        AddressedVoter addressed = new AddressedVoter(self);
        GrpcConfigKeys.Server.setServicesCustomizer(parameters, (services, types) -> services.intercept(addressed));
        return parameters;
    }

    private static void setTimes(RaftProperties properties, int firstElectionMs) {
        Rpc.setTimeoutMin(properties, milliseconds(ELECTION_TIMEOUT_MIN_MS));
        Rpc.setTimeoutMax(properties, milliseconds(ELECTION_TIMEOUT_MAX_MS));
        Rpc.setFirstElectionTimeoutMin(properties, milliseconds(firstElectionMs));
        Rpc.setFirstElectionTimeoutMax(properties, milliseconds(2 * firstElectionMs));
        Rpc.setSlownessTimeout(properties, milliseconds(SILENT_AFTER_MS));
        Log.Appender.setWaitTimeMin(properties, milliseconds(0));
        Log.Appender.setRetryPolicy(properties, APPENDER_RETRIES);
    }

    private static void setLog(RaftProperties properties, QuorumConfig.LogSizes sizes) {
        Log.setSegmentSizeMax(properties, SizeInBytes.valueOf(sizes.segmentBytes()));
        Log.setPreallocatedSize(properties, SizeInBytes.valueOf(Math.min(PREALLOCATED_BYTES, sizes.segmentBytes())));
        Log.setWriteBufferSize(properties, SizeInBytes.valueOf(WRITE_BUFFER_BYTES));
        Log.setSegmentCacheNumMax(properties, CACHED_SEGMENTS);
        Log.setQueueByteLimit(properties, SizeInBytes.valueOf(QUEUED_BYTES));
        Log.setCorruptionPolicy(properties, Log.CorruptionPolicy.EXCEPTION);
        // Otherwise, a follower acknowledges entries that it does not have, see decision 20.
        Log.setAppendEntriesComposeEnabled(properties, false);
        Log.setPurgeUptoSnapshotIndex(properties, true);
        Log.setPurgePreservationLogNum(properties, sizes.keptEntries());
        Log.setPurgeGap(properties, Math.max(1, sizes.keptEntries() / 10));
        Log.Appender.setBufferByteLimit(properties, SizeInBytes.valueOf(APPENDER_BUFFER_BYTES));
        Log.Appender.setSnapshotChunkSizeMax(properties, SizeInBytes.valueOf(SNAPSHOT_CHUNK_BYTES));
        RaftServerConfigKeys.Write.setByteLimit(properties, SizeInBytes.valueOf(QUEUED_BYTES));
    }

    private static void setSnapshots(RaftProperties properties, QuorumConfig.LogSizes sizes) {
        Snapshot.setAutoTriggerEnabled(properties, true);
        Snapshot.setAutoTriggerThreshold(properties, sizes.snapshotEntries());
        Snapshot.setCreationGap(properties, 1);
        Snapshot.setTriggerWhenStopEnabled(properties, false);
        Snapshot.setTriggerWhenRemoveEnabled(properties, false);
        Snapshot.setRetentionFileNum(properties, KEPT_SNAPSHOTS);
    }

    private static TimeDuration milliseconds(int value) {
        return TimeDuration.valueOf(value, TimeUnit.MILLISECONDS);
    }
}
