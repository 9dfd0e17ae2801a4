package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.control.BrokerHeartbeat;
import io.journalq.server.control.ControllerOperations;
import io.journalq.server.control.MetadataLog.Members;
import io.journalq.server.control.NotControllerException;
import io.journalq.server.control.Outcome;
import io.journalq.server.control.PartitionOutcome;
import io.journalq.server.control.PeerControllers;
import io.journalq.server.loop.Loop;
import io.journalq.server.metadata.BrokerRegistration;
import io.journalq.server.metadata.TestBrokers;
import io.journalq.server.metadata.TopicSpec;
import io.journalq.server.metadata.partition.InSyncProposal;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class ControllerLinkTest {
    private static final int SELF = 1;
    private static final int OTHER = 2;

    private final TestController local = new TestController();
    private final TestController other = new TestController();
    private final Timers timers = new Timers();
    private Members members = new Members(Members.NO_LEADER, 0, List.of());
    private final ControllerLink link = new ControllerLink(SELF, local, () -> members, new Peers(), timers);

    /** A controller that fails as long as a failure is set. */
    private static final class TestController implements ControllerOperations {
        private IOException failure = new NotControllerException("planted");
        private ErrorCode refused = ErrorCode.NONE;
        private int calls;
        private Map<Uuid, List<Integer>> lost;

        private <T> CompletableFuture<T> respond(T value) {
            calls++;
            return failure == null ? CompletableFuture.completedFuture(value) : CompletableFuture.failedFuture(failure);
        }

        @Override
        public CompletableFuture<Outcome> registerBroker(BrokerRegistration registration, long previousEpoch) {
            return respond(new Outcome(refused, null, null));
        }

        @Override
        public CompletableFuture<ErrorCode> loseRecords(
                int loser, long brokerEpoch, Map<Uuid, List<Integer>> partitions) {
            lost = partitions;
            return respond(ErrorCode.NONE);
        }

        @Override
        public CompletableFuture<BrokerHeartbeat.Response> heartbeat(BrokerHeartbeat heartbeat) {
            return respond(new BrokerHeartbeat.Response(ErrorCode.NONE, true, false, false));
        }

        @Override
        public CompletableFuture<List<PartitionOutcome>> alterPartitions(
                int nodeId, long brokerEpoch, List<InSyncProposal> proposals) {
            return respond(List.of());
        }

        @Override
        public CompletableFuture<List<Outcome>> createTopics(List<TopicSpec> specs, boolean validateOnly) {
            return respond(List.of());
        }

        @Override
        public CompletableFuture<Long> allocateProducerIds(int count) {
            return respond(1_000L);
        }
    }

    private final class Peers implements PeerControllers {
        @Override
        public void offer(ControllerOperations offered) {}

        @Override
        public ControllerOperations of(int nodeId) {
            return nodeId == OTHER ? other : null;
        }
    }

    /** Runs scheduled work when a test says so. */
    private static final class Timers implements Loop {
        private final Queue<Runnable> scheduled = new ArrayDeque<>();

        private void run(int times) {
            for (int i = 0; i < times && !scheduled.isEmpty(); i++) {
                scheduled.remove().run();
            }
        }

        @Override
        public boolean inLoop() {
            return true;
        }

        @Override
        public void execute(Runnable work) {
            work.run();
        }

        @Override
        public void afterIteration(Runnable work) {
            work.run();
        }

        @Override
        public Timer schedule(Runnable work, long delayMs) {
            scheduled.add(work);
            return () -> scheduled.remove(work);
        }

        @Override
        public long nanoTime() {
            return 0;
        }
    }

    @Test
    void shouldRepeatARegistrationUntilAControllerTakesIt() {
        CompletableFuture<Outcome> registered = link.registerBroker(TestBrokers.registration(SELF), -1);
        timers.run(2 * ControllerLink.MAX_ATTEMPTS);
        assertThat(registered).isNotDone();

        members = new Members(OTHER, 3, List.of(SELF, OTHER));
        other.failure = null;
        timers.run(1);

        assertThat(registered).isCompleted();
        assertThat(other.calls).isEqualTo(1);
    }

    @Test
    void shouldRepeatARegistrationUntilTheProcessThatRegisteredLastIsFenced() {
        members = new Members(OTHER, 3, List.of(SELF, OTHER));
        other.failure = null;
        other.refused = ErrorCode.STALE_BROKER_EPOCH;
        CompletableFuture<Outcome> registered = link.registerBroker(TestBrokers.registration(SELF), 3);
        timers.run(2 * ControllerLink.MAX_ATTEMPTS);
        assertThat(registered).isNotDone();

        other.refused = ErrorCode.NONE;
        timers.run(1);

        assertThat(registered).isCompleted();
    }

    @Test
    void shouldNotRepeatARegistrationThatIsRefusedForGood() {
        members = new Members(OTHER, 3, List.of(SELF, OTHER));
        other.failure = null;
        other.refused = ErrorCode.DUPLICATE_BROKER_REGISTRATION;

        assertThat(link.registerBroker(TestBrokers.registration(SELF), 3))
                .isCompletedWithValue(new Outcome(ErrorCode.DUPLICATE_BROKER_REGISTRATION, null, null));
        assertThat(timers.scheduled).isEmpty();
    }

    @Test
    void shouldGiveUpWhenAClientWaitsAndThereIsNoController() {
        CompletableFuture<Long> ids = link.allocateProducerIds(1);

        timers.run(2 * ControllerLink.MAX_ATTEMPTS);

        assertThat(ids).isCompletedExceptionally();
        assertThat(local.calls).isEqualTo(ControllerLink.MAX_ATTEMPTS);
    }

    @Test
    void shouldReportLostRecordsToTheControllerOnceForEachCall() {
        Map<Uuid, List<Integer>> lost = Map.of(new Uuid(3, 4), List.of(0, 2));
        members = new Members(OTHER, 3, List.of(SELF, OTHER));

        assertThat(link.loseRecords(SELF, 7, lost)).isCompletedExceptionally();
        assertThat(timers.scheduled).isEmpty();
        other.failure = null;
        assertThat(link.loseRecords(SELF, 7, lost)).isCompletedWithValue(ErrorCode.NONE);

        assertThat(other.lost).isEqualTo(lost);
        assertThat(other.calls).isEqualTo(2);
        assertThat(local.calls).isZero();
    }

    @Test
    void shouldAskTheControllerOfThisBrokerWhenTheLeaderIsUnknownOrNotAPeer() {
        local.failure = null;

        assertThat(link.createTopics(List.of(), false)).isCompletedWithValue(List.of());
        members = new Members(OTHER + 1, 3, List.of(SELF, OTHER + 1));
        assertThat(link.allocateProducerIds(1)).isCompletedWithValue(1_000L);

        assertThat(local.calls).isEqualTo(2);
        assertThat(other.calls).isZero();
    }

    @Test
    void shouldFailAtOnceWhenTheControllerFailsForAnotherReason() {
        members = new Members(OTHER, 3, List.of(SELF, OTHER));
        other.failure = new IOException("cannot write the metadata log");

        assertThat(link.registerBroker(TestBrokers.registration(SELF), -1)).isCompletedExceptionally();
        assertThat(timers.scheduled).isEmpty();
    }
}
