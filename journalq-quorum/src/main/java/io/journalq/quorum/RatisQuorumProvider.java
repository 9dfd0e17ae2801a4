package io.journalq.quorum;

import io.journalq.common.id.Uuid;
import io.journalq.quorum.QuorumConfig.LogSizes;
import io.journalq.server.control.MetadataLog;
import io.journalq.server.control.MetadataLog.Replica;
import io.journalq.server.control.QuorumProvider;
import io.journalq.server.control.QuorumVoter;
import io.journalq.server.journal.file.FileStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.apache.ratis.server.RaftServerConfigKeys.Log.CorruptionPolicy;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.server.storage.RaftStorage.StartupOption;
import org.apache.ratis.statemachine.impl.SimpleStateMachineStorage;
import org.apache.ratis.util.SizeInBytes;

/** Founds and opens quorums of {@link RatisMetadataLog}. Stateless. */
public final class RatisQuorumProvider implements QuorumProvider {
    /** What is written here becomes a quorum when it is complete and renamed. */
    static final String UNFINISHED_DIRECTORY = "quorum.new";

    /** The records of a single broker have no term. */
    private static final int EPOCH_OF_SINGLE_BROKER = 0;

    /** Used by {@link java.util.ServiceLoader}. */
    public RatisQuorumProvider() {}

    @Override
    public void found(Voter voter, Uuid clusterId, Uuid directoryId, Replica state, long endOffset) throws IOException {
        ProcessExit.forbid();
        FileStore store = voter.store();
        Path unfinished = voter.dataDirectory().resolve(UNFINISHED_DIRECTORY);
        store.delete(unfinished);
        VoterDirectory founder = VoterDirectory.in(unfinished, directoryId, clusterId);
        Path group = founder.group();
        store.createDurableDirectories(group);
        byte[] content = AppliedMetadata.snapshot(state, endOffset, EPOCH_OF_SINGLE_BROKER, voter.allocator());
        try (RaftStorage storage = RaftStorage.newBuilder()
                .setDirectory(group.toFile())
                .setOption(StartupOption.FORMAT)
                .setLogCorruptionPolicy(CorruptionPolicy.EXCEPTION)
                .setStorageFreeSpaceMin(SizeInBytes.ZERO)
                .build()) {
            storage.initialize();
            SimpleStateMachineStorage snapshots = new SimpleStateMachineStorage();
            snapshots.init(storage);
            SnapshotFile.write(
                    store, snapshots.getSnapshotFile(VoterDirectory.FIRST_TERM, VoterDirectory.FIRST_INDEX), content);
        }
        founder.markFounder(store);
        for (String directory : store.list(group)) {
            if (store.isDirectory(group.resolve(directory))) {
                store.syncDirectory(group.resolve(directory));
            }
        }
        store.syncDirectory(group);
        store.move(unfinished, voter.dataDirectory().resolve(DIRECTORY));
        store.syncDirectory(voter.dataDirectory());
    }

    @Override
    public MetadataLog join(Voter voter, Uuid clusterId, Uuid directoryId, Admission admission) {
        QuorumVoter self = new QuorumVoter(voter.nodeId(), directoryId, voter.host(), voter.port());
        QuorumConfig config = new QuorumConfig(
                clusterId, self, voter.bind(), List.of(), voter.dataDirectory(), false, LogSizes.DEFAULT, voter.tls());
        return new RatisMetadataLog(config, voter.store(), voter.clock(), voter.allocator(), admission);
    }

    @Override
    public boolean hasJoined(Voter voter) throws IOException {
        return VoterDirectory.isFormatted(voter.store(), voter.dataDirectory())
                && directory(voter).hasSnapshot(voter.store());
    }

    private static VoterDirectory directory(Voter voter) throws IOException {
        VoterDirectory directory = VoterDirectory.find(voter.store(), voter.dataDirectory());
        directory.restoreSnapshots(voter.store());
        return directory;
    }

    @Override
    public QuorumVoter identity(Voter voter) throws IOException {
        return identity(voter, directory(voter));
    }

    private static QuorumVoter identity(Voter voter, VoterDirectory directory) {
        return new QuorumVoter(voter.nodeId(), directory.directoryId(), voter.host(), voter.port());
    }

    @Override
    public MetadataLog log(Voter voter, boolean lostPower, Admission admission) throws IOException {
        VoterDirectory directory = directory(voter);
        directory.checkSnapshot(voter.store());
        QuorumVoter self = identity(voter, directory);
        // The configuration with this voter is not in the log before its first leader has written it there.
        List<QuorumVoter> founders = directory.isFounder(voter.store()) ? List.of(self) : List.of();
        QuorumConfig config = new QuorumConfig(
                directory.clusterId(),
                self,
                voter.bind(),
                founders,
                voter.dataDirectory(),
                lostPower,
                LogSizes.DEFAULT,
                voter.tls());
        return new RatisMetadataLog(config, voter.store(), voter.clock(), voter.allocator(), admission);
    }
}
