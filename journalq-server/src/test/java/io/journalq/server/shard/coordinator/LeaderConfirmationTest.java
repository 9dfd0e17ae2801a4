package io.journalq.server.shard.coordinator;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.OffsetForLeaderEpochRequest;
import io.journalq.common.protocol.message.OffsetForLeaderEpochResponse;
import io.journalq.server.journal.JournalConfig;
import io.journalq.server.peer.PeerChannel;
import io.journalq.server.peer.PeerRequests;
import io.journalq.server.replication.ReplicaSet;
import io.journalq.server.shard.partition.SteppedPartition;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Of a partition with replicas on brokers 0 (this one), 1 and 2. */
final class LeaderConfirmationTest {
    private static final int EPOCH = 4;

    @TempDir
    Path directory;

    private final List<Asked> asked = new ArrayList<>();
    private final List<String> outcomes = new ArrayList<>();
    private SteppedPartition partition;
    private LeaderConfirmation confirmation;
    private int partitionEpoch;

    /** A request without a response. */
    private record Asked(int broker, OffsetForLeaderEpochRequest request, PeerChannel.ResponseListener listener) {}

    private record Channel(int broker, List<Asked> asked) implements PeerChannel {
        @Override
        public void send(ApiMessage request, int version, int timeoutMs, ResponseListener listener) {
            asked.add(new Asked(broker, (OffsetForLeaderEpochRequest) request, listener));
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {}
    }

    @BeforeEach
    void open() throws IOException {
        partition = SteppedPartition.open(directory, JournalConfig.DEFAULT);
        confirmation = new LeaderConfirmation(
                partition.host(),
                partition.cycle(),
                new PeerRequests(partition.cycle(), broker -> new Channel(broker, asked)),
                SteppedPartition.NODE);
    }

    @AfterEach
    void close() {
        partition.closeCleanly();
    }

    private void lead(List<Integer> inSync, Integer... eligible) {
        follow(SteppedPartition.NODE, EPOCH, inSync, eligible);
    }

    private void follow(int leader, int epoch, List<Integer> inSync, Integer... eligible) {
        partition.setReplicas(
                1,
                new ReplicaSet(
                        leader, epoch, ++partitionEpoch, List.of(0, 1, 2), inSync, List.of(eligible), -1, List.of()));
    }

    private void read(String name) {
        confirmation.confirm(() -> outcomes.add(name), error -> outcomes.add(name + " " + error));
        partition.loop().run();
    }

    private void respond(int broker, ErrorCode error) {
        Asked first = take(broker);
        first.listener.onResponse(new OffsetForLeaderEpochResponse()
                .setTopics(List.of(new OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult()
                        .setTopic("t")
                        .setPartitions(List.of(
                                new OffsetForLeaderEpochResponse.EpochEndOffset().setErrorCode(error.code()))))));
        partition.loop().run();
    }

    private Asked take(int broker) {
        Asked first =
                asked.stream().filter(each -> each.broker == broker).findFirst().orElseThrow();
        asked.remove(first);
        return first;
    }

    private void pass(int ms) {
        partition.loop().advance(ms);
        partition.loop().fireTimers();
    }

    @Test
    void shouldAskEachBrokerThatCouldLeadInstead() {
        lead(List.of(0, 1), 2);

        read("a");

        // then both are asked about this epoch
        assertThat(asked).extracting(Asked::broker).containsExactlyInAnyOrder(1, 2);
        OffsetForLeaderEpochRequest.OffsetForLeaderPartition named =
                asked.get(0).request.topics().get(0).partitions().get(0);
        assertThat(named.currentLeaderEpoch()).isEqualTo(EPOCH);
        assertThat(named.leaderEpoch()).isEqualTo(-1);
        respond(1, ErrorCode.NONE);
        assertThat(outcomes).isEmpty();
        respond(2, ErrorCode.NONE);
        assertThat(outcomes).containsExactly("a");
    }

    @Test
    void shouldAskNobodyWhenNoOtherBrokerCouldLead() {
        lead(List.of(0));

        read("a");

        assertThat(outcomes).containsExactly("a");
        assertThat(asked).isEmpty();
    }

    @Test
    void shouldFailWhenABrokerKnowsALaterEpoch() {
        lead(List.of(0, 1, 2));
        read("a");

        respond(1, ErrorCode.NONE);
        respond(2, ErrorCode.FENCED_LEADER_EPOCH);

        assertThat(outcomes).containsExactly("a NOT_COORDINATOR");
    }

    @Test
    void shouldFailWhenThisBrokerNoLongerLeads() {
        lead(List.of(0, 1, 2));
        read("a");

        follow(1, EPOCH + 1, List.of(0, 1, 2));
        pass(LeaderConfirmation.RETRY_MS);
        read("b");

        assertThat(outcomes).containsExactly("a NOT_COORDINATOR", "b NOT_COORDINATOR");
    }

    @Test
    void shouldAskAgainForReadsThatArriveLater() {
        // given a read, and another one after its request
        lead(List.of(0, 1));
        read("a");
        read("b");
        assertThat(asked).hasSize(1);

        // when the request has a response
        respond(1, ErrorCode.NONE);

        // then that proves nothing about the later read
        assertThat(outcomes).containsExactly("a");
        respond(1, ErrorCode.NONE);
        assertThat(outcomes).containsExactly("a", "b");
        assertThat(asked).isEmpty();
    }

    @Test
    void shouldAskAgainWhenABrokerHasNotConfirmed() {
        lead(List.of(0, 1, 2));
        read("a");
        respond(2, ErrorCode.NONE);

        // when broker 1 cannot be reached, and then does not know the partition
        take(1).listener.onFailure(new IOException("closed"));
        pass(LeaderConfirmation.RETRY_MS);
        respond(1, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
        pass(LeaderConfirmation.RETRY_MS);

        // then the read waits for it, and only for it
        assertThat(outcomes).isEmpty();
        assertThat(asked).extracting(Asked::broker).containsExactly(1);
        respond(1, ErrorCode.NONE);
        assertThat(outcomes).containsExactly("a");
    }

    @Test
    void shouldNotWaitForABrokerThatIsNoLongerInSync() {
        lead(List.of(0, 1, 2));
        read("a");
        respond(1, ErrorCode.NONE);

        lead(List.of(0, 1));
        pass(LeaderConfirmation.RETRY_MS);

        assertThat(outcomes).containsExactly("a");
    }

    @Test
    void shouldFailWhenABrokerDoesNotRespondInTime() {
        lead(List.of(0, 1));
        read("a");
        pass(LeaderConfirmation.LIMIT_MS - 1);
        assertThat(outcomes).isEmpty();
        read("b");

        pass(1);

        assertThat(outcomes).containsExactly("a NOT_COORDINATOR");
        pass(LeaderConfirmation.LIMIT_MS);
        assertThat(outcomes).containsExactly("a NOT_COORDINATOR", "b NOT_COORDINATOR");
    }

    @Test
    void shouldFailEveryReadWhenTheMachineEnds() {
        lead(List.of(0, 1));
        read("a");
        read("b");

        confirmation.end();
        respond(1, ErrorCode.NONE);
        read("c");

        assertThat(outcomes).containsExactlyInAnyOrder("a NOT_COORDINATOR", "b NOT_COORDINATOR", "c NOT_COORDINATOR");
        assertThat(asked).isEmpty();
    }
}
