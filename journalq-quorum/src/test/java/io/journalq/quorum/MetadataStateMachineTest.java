package io.journalq.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.record.RecordBatch;
import io.journalq.server.control.MetadataLogCodec;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.metadata.ClusterVersion;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftPeerRole;
import org.apache.ratis.proto.RaftProtos.StateMachineLogEntryProto;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

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
        public void onRemoved() {
            throw new AssertionError("no voter is removed");
        }

        @Override
        public void onSnapshotDue() {
            due++;
        }

        @Override
        public void onServerFailed(Throwable cause, boolean permanent) {
            throw new AssertionError("the server has failed", cause);
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
