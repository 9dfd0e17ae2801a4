package io.journalq.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.record.RecordBatch;
import io.journalq.server.control.MetadataLogCodec;
import io.journalq.server.journal.file.FilterFileStore;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.journal.file.SystemFileStore;
import io.journalq.server.metadata.ClusterVersion;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.ratis.io.MD5Hash;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftPeerRole;
import org.apache.ratis.proto.RaftProtos.StateMachineLogEntryProto;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.SimpleStateMachineStorage;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.util.MD5FileUtil;
import org.apache.ratis.util.SizeInBytes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** When snapshots are asked for. */
class MetadataStateMachineTest {
    private static final int TERM = 1;

    private final AppliedMetadata applied = new AppliedMetadata(
            new MemoryFileStore(),
            Path.of("metadata"),
            Runnable::run,
            UnpooledByteBufAllocator.DEFAULT,
            new RecordingReplica());
    private int due;
    /** Reasons for which the server has failed, and whether for good. */
    private final Map<Throwable, Boolean> failed = new HashMap<>();

    private final MetadataStateMachine.Listener listener = new MetadataStateMachine.Listener() {
        @Override
        public void onElected() {
            throw new AssertionError("nobody is elected");
        }

        @Override
        public void onLeaderReady(long term) {
            throw new AssertionError("nobody is elected");
        }

        @Override
        public void onNotLeader() {
            throw new AssertionError("nobody is elected");
        }

        @Override
        public void onVoter(boolean votes) {
            throw new AssertionError("no voter is added or removed");
        }

        @Override
        public void onSnapshotDue() {
            due++;
        }

        @Override
        public void onServerFailed(Throwable cause, boolean permanent) {
            failed.put(cause, permanent);
        }
    };

    @BeforeEach
    void open() throws IOException {
        applied.open();
        applied.beginAtStart();
    }

    @AfterEach
    void close() throws IOException {
        applied.close();
    }

    private MetadataStateMachine machine() {
        return new MetadataStateMachine(new MemoryFileStore(), applied, 1, listener);
    }

    /** Passes an entry with one record to a machine. */
    private static void apply(MetadataStateMachine machine, long index) {
        ByteBuf batch = MetadataLogCodec.batch(
                List.of(RecordingReplica.record(index)), ClusterVersion.FIRST, 1_000, UnpooledByteBufAllocator.DEFAULT);
        RecordBatch.setBaseOffset(batch, 0, index);
        RecordBatch.setLeaderEpoch(batch, 0, TERM);
        LogEntryProto entry = LogEntryProto.newBuilder()
                .setTerm(TERM)
                .setIndex(index)
                .setStateMachineLogEntry(StateMachineLogEntryProto.newBuilder()
                        .setLogData(ByteString.copyFrom(ByteBufUtil.getBytes(batch))))
                .build();
        batch.release();
        machine.applyTransaction(TransactionContext.newBuilder()
                        .setServerRole(RaftPeerRole.FOLLOWER)
                        .setStateMachine(machine)
                        .setLogEntry(entry)
                        .build())
                .join();
    }

    @Test
    void shouldAskForASnapshotAgainWhenItCouldNotBeTakenBehindTheAppliedEntries() throws IOException {
        // given a server that was opened again, and passes entries that are applied already
        MetadataStateMachine before = machine();
        apply(before, 0);
        apply(before, 1);
        MetadataStateMachine reopened = machine();
        due = 0;
        apply(reopened, 0);
        assertThat(due).isEqualTo(1);

        // when
        assertThat(reopened.takeSnapshot()).isEqualTo(RaftLog.INVALID_LOG_INDEX);

        // then
        apply(reopened, 1);
        assertThat(due).isEqualTo(2);
    }

    /** Notes what is synced. */
    private static final class SyncedStore extends FilterFileStore {
        private final List<Path> synced = new ArrayList<>();

        SyncedStore() {
            super(new SystemFileStore());
        }

        @Override
        public void replace(Path file, ByteBuffer content, boolean sync) throws IOException {
            super.replace(file, content, sync);
            if (sync) {
                synced.add(file);
            }
        }

        @Override
        public void syncDirectory(Path directory) throws IOException {
            super.syncDirectory(directory);
            synced.add(directory);
        }
    }

    private static RaftServer server() {
        return (RaftServer) Proxy.newProxyInstance(
                RaftServer.class.getClassLoader(), new Class<?>[] {RaftServer.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("getId")) {
                        return RaftPeerId.valueOf("1");
                    }
                    throw new AssertionError("unexpected call of " + method.getName());
                });
    }

    /**
     * Lets Ratis receive a snapshot. Returns its file.
     *
     * @param newer by how much its format is newer than the known one
     */
    private Path receive(MetadataStateMachine machine, Path group, int newer) throws IOException {
        try (RaftStorage storage = RaftStorage.newBuilder()
                .setDirectory(group.toFile())
                .setOption(RaftStorage.StartupOption.FORMAT)
                .setLogCorruptionPolicy(RaftServerConfigKeys.Log.CorruptionPolicy.EXCEPTION)
                .setStorageFreeSpaceMin(SizeInBytes.ZERO)
                .build()) {
            storage.initialize();
            machine.initialize(server(), RaftGroupId.randomId(), storage);
            machine.pause();
            byte[] content =
                    AppliedMetadata.snapshot(new RecordingReplica(), 7, TERM, UnpooledByteBufAllocator.DEFAULT);
            content[0] += (byte) newer;
            Path file = ((SimpleStateMachineStorage) machine.getStateMachineStorage())
                    .getSnapshotFile(TERM, 20)
                    .toPath();
            Files.write(file, content);
            MD5FileUtil.saveMD5File(
                    file.toFile(), MD5Hash.newInstance(MD5FileUtil.newMD5().digest(content)));
            machine.reinitialize();
            return file;
        }
    }

    @Test
    void shouldHaveAReceivedSnapshotOnTheDiskWhenItIsRestored(@TempDir Path group) throws IOException {
        SyncedStore store = new SyncedStore();
        MetadataStateMachine machine = new MetadataStateMachine(store, applied, 1, listener);

        Path file = receive(machine, group, 0);

        assertThat(applied.endOffset()).isEqualTo(7);
        assertThat(store.synced).contains(file, group);
        assertThat(failed).isEmpty();
    }

    @Test
    void shouldFailForGoodWhenAReceivedSnapshotIsOfANewerRelease(@TempDir Path group) {
        MetadataStateMachine machine = new MetadataStateMachine(new SyncedStore(), applied, 1, listener);

        assertThatThrownBy(() -> receive(machine, group, 1)).isInstanceOf(UnreadableMetadataException.class);

        assertThat(failed).hasSize(1).containsValue(true);
    }

    @Test
    void shouldAskForASnapshotAgainWhenTheRequestHasFailed() {
        MetadataStateMachine machine = machine();
        apply(machine, 0);
        apply(machine, 1);
        assertThat(due).isEqualTo(1);

        machine.onSnapshotFailed();

        apply(machine, 2);
        assertThat(due).isEqualTo(2);
    }
}
