package io.journalq.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.server.process.LoopbackPorts;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.MetadataProto;
import org.apache.ratis.proto.RaftProtos.RaftGroupIdProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.TermIndexProto;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A voter must have what it acknowledges: with the other voters, it can be all that is left of a committed entry. */
class AcknowledgedEntriesTest {
    private static final int WAIT_SECONDS = 60;
    private static final int NO_ELECTION_MS = 600_000;
    private static final int ROUNDS = 20;
    private static final int TERM = 1;
    private static final String HOST = "127.0.0.1";
    private static final int PORT = LoopbackPorts.next();
    private static final RaftPeer SELF = peer("self", PORT);
    private static final RaftPeer LEADER = peer("leader", LoopbackPorts.next());
    private static final RaftGroup GROUP = RaftGroup.valueOf(RaftGroupId.randomId(), SELF, LEADER);

    @TempDir
    Path directory;

    private static RaftPeer peer(String id, int port) {
        return RaftPeer.newBuilder().setId(id).setAddress(HOST + ":" + port).build();
    }

    private static AppendEntriesRequestProto append(long callId, long first, long last) {
        AppendEntriesRequestProto.Builder request = AppendEntriesRequestProto.newBuilder()
                .setServerRequest(RaftRpcRequestProto.newBuilder()
                        .setRequestorId(LEADER.getId().toByteString())
                        .setReplyId(SELF.getId().toByteString())
                        .setRaftGroupId(RaftGroupIdProto.newBuilder()
                                .setId(GROUP.getGroupId().toByteString()))
                        .setCallId(callId))
                .setLeaderTerm(TERM)
                .setLeaderCommit(RaftLog.INVALID_LOG_INDEX);
        if (first > RaftLog.LEAST_VALID_LOG_INDEX) {
            request.setPreviousLog(TermIndexProto.newBuilder().setTerm(TERM).setIndex(first - 1));
        }
        LongStream.rangeClosed(first, last)
                .forEach(index -> request.addEntries(LogEntryProto.newBuilder()
                        .setTerm(TERM)
                        .setIndex(index)
                        .setMetadataEntry(MetadataProto.newBuilder().setCommitIndex(RaftLog.INVALID_LOG_INDEX))));
        return request.build();
    }

    /** A leader sends again from the same entry on, and more, when a heartbeat finds a difference. */
    @Test
    void shouldHaveWhatItAcknowledgesWhenTheLeaderSendsMoreFromTheSameEntryOn() throws Exception {
        QuorumConfig config = new QuorumConfig(
                Uuid.ZERO,
                null,
                InetSocketAddress.createUnresolved(HOST, PORT),
                List.of(),
                directory,
                false,
                QuorumConfig.LogSizes.DEFAULT,
                null);
        try (RaftServer voter = RaftServer.newBuilder()
                .setServerId(SELF.getId())
                .setGroup(GROUP)
                .setStateMachine(new BaseStateMachine())
                .setProperties(RatisSettings.of(config, directory, NO_ELECTION_MS))
                .build()) {
            voter.start();
            long first = RaftLog.LEAST_VALID_LOG_INDEX;
            for (int round = 0; round < ROUNDS; round++) {
                CompletableFuture<AppendEntriesReplyProto> shorter =
                        voter.appendEntriesAsync(append(2L * round, first, first + 1));
                AppendEntriesReplyProto longer = voter.appendEntriesAsync(append(2L * round + 1, first, first + 3))
                        .get(WAIT_SECONDS, TimeUnit.SECONDS);
                shorter.get(WAIT_SECONDS, TimeUnit.SECONDS);

                assertThat(longer.getResult()).isEqualTo(AppendResult.SUCCESS);
                assertThat(voter.getDivision(GROUP.getGroupId())
                                .getRaftLog()
                                .getLastEntryTermIndex()
                                .getIndex())
                        .as("last entry, round %d", round)
                        .isEqualTo(longer.getMatchIndex())
                        .isEqualTo(first + 3);
                first += 4;
            }
        }
    }
}
