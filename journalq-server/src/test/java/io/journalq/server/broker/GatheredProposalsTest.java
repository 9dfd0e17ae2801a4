package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.control.BrokerHeartbeat;
import io.journalq.server.control.ControllerOperations;
import io.journalq.server.control.NotControllerException;
import io.journalq.server.control.Outcome;
import io.journalq.server.control.PartitionOutcome;
import io.journalq.server.metadata.BrokerRegistration;
import io.journalq.server.metadata.TopicSpec;
import io.journalq.server.metadata.partition.InSyncProposal;
import io.journalq.server.replication.IsrProposal;
import io.journalq.server.shard.partition.SteppedLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Proposals of a short time are sent together, and each gets its own outcome. */
class GatheredProposalsTest {
    private static final int NODE = 4;
    private static final long BROKER_EPOCH = 77;
    private static final Uuid TOPIC = new Uuid(1, 2);
    private static final IsrProposal PROPOSAL = new IsrProposal(
            3, 5, List.of(new IsrProposal.Member(NODE, IsrProposal.UNKNOWN_EPOCH), new IsrProposal.Member(9, 12)));

    private final SteppedLoop loop = new SteppedLoop();
    private final Controller controller = new Controller();
    private final GatheredProposals proposals = new GatheredProposals(NODE, () -> BROKER_EPOCH, controller, loop);

    /** Takes proposals, and decides when the test says so. */
    private static final class Controller implements ControllerOperations {
        private final List<List<InSyncProposal>> received = new ArrayList<>();
        private final List<CompletableFuture<List<PartitionOutcome>>> decisions = new ArrayList<>();

        @Override
        public CompletableFuture<List<PartitionOutcome>> alterPartitions(
                int nodeId, long brokerEpoch, List<InSyncProposal> sent) {
            assertThat(nodeId).isEqualTo(NODE);
            assertThat(brokerEpoch).isEqualTo(BROKER_EPOCH);
            received.add(sent);
            CompletableFuture<List<PartitionOutcome>> decision = new CompletableFuture<>();
            decisions.add(decision);
            return decision;
        }

        @Override
        public CompletableFuture<Outcome> registerBroker(BrokerRegistration registration, long previousEpoch) {
            throw new AssertionError("only proposals are sent");
        }

        @Override
        public CompletableFuture<ErrorCode> loseRecords(
                int loser, long brokerEpoch, Map<Uuid, List<Integer>> partitions) {
            throw new AssertionError("only proposals are sent");
        }

        @Override
        public CompletableFuture<BrokerHeartbeat.Response> heartbeat(BrokerHeartbeat heartbeat) {
            throw new AssertionError("only proposals are sent");
        }

        @Override
        public CompletableFuture<List<Outcome>> createTopics(List<TopicSpec> specs, boolean validateOnly) {
            throw new AssertionError("only proposals are sent");
        }

        @Override
        public CompletableFuture<Long> allocateProducerIds(int count) {
            throw new AssertionError("only proposals are sent");
        }
    }

    @Test
    void shouldSendTheProposalsOfAShortTimeTogetherAndPassEachItsOutcome() {
        // when
        CompletableFuture<ErrorCode> first = proposals.propose(TOPIC, 0, PROPOSAL);
        CompletableFuture<ErrorCode> second = proposals.propose(TOPIC, 1, PROPOSAL);
        assertThat(controller.received).isEmpty();
        loop.fireTimers();

        // then
        assertThat(controller.received).hasSize(1);
        assertThat(controller.received.get(0))
                .extracting(InSyncProposal::partition)
                .containsExactly(0, 1);
        assertThat(controller.received.get(0).get(0))
                .isEqualTo(new InSyncProposal(
                        TOPIC,
                        0,
                        3,
                        5,
                        List.of(
                                new InSyncProposal.Member(NODE, InSyncProposal.UNKNOWN_EPOCH),
                                new InSyncProposal.Member(9, 12))));
        controller
                .decisions
                .get(0)
                .complete(List.of(
                        PartitionOutcome.refused(ErrorCode.NONE),
                        PartitionOutcome.refused(ErrorCode.INELIGIBLE_REPLICA)));
        assertThat(first).isCompletedWithValue(ErrorCode.NONE);
        assertThat(second).isCompletedWithValue(ErrorCode.INELIGIBLE_REPLICA);

        // and later proposals are sent without waiting for the earlier ones
        var third = proposals.propose(TOPIC, 2, PROPOSAL);
        loop.fireTimers();
        var fourth = proposals.propose(TOPIC, 3, PROPOSAL);
        loop.fireTimers();
        assertThat(controller.received).hasSize(3);
        assertThat(List.of(third, fourth)).noneMatch(CompletableFuture::isDone);
    }

    @Test
    void shouldFailAllProposalsWhenTheirOutcomesAreUnknown() {
        CompletableFuture<ErrorCode> first = proposals.propose(TOPIC, 0, PROPOSAL);
        CompletableFuture<ErrorCode> second = proposals.propose(TOPIC, 1, PROPOSAL);
        loop.fireTimers();

        controller.decisions.get(0).completeExceptionally(new NotControllerException("deposed"));

        assertThat(first).isCompletedExceptionally();
        assertThat(second).isCompletedExceptionally();
    }

    @Test
    void shouldFailAProposalWhenTheControllerSendsNoOutcomeForIt() {
        CompletableFuture<ErrorCode> first = proposals.propose(TOPIC, 0, PROPOSAL);
        CompletableFuture<ErrorCode> second = proposals.propose(TOPIC, 1, PROPOSAL);
        loop.fireTimers();

        controller.decisions.get(0).complete(List.of(PartitionOutcome.refused(ErrorCode.NONE)));

        assertThat(first).isCompletedWithValue(ErrorCode.NONE);
        assertThat(second).isCompletedExceptionally();
    }
}
