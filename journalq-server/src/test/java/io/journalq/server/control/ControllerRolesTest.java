package io.journalq.server.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.metadata.ActiveController;
import io.journalq.server.metadata.BrokerRegistration;
import io.journalq.server.metadata.Decision;
import io.journalq.server.metadata.MetadataDelta;
import io.journalq.server.metadata.MetadataMachine;
import io.journalq.server.metadata.TestBrokers;
import io.journalq.server.metadata.TopicSpec;
import io.journalq.server.metadata.partition.PartitionImage;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A controller whose log elects the broker that decides. */
class ControllerRolesTest {
    private static final int SELF = ControllerFixture.NODE;
    private static final int OTHER = 2;
    private static final int THIRD = 3;
    private static final ReplicaEnds NOBODY_RESPONDS = (nodeId, partitions) -> new CompletableFuture<>();

    private final AtomicLong ids = new AtomicLong();
    private final AtomicLong nowMs = new AtomicLong(1_000_000);
    private final MetadataPublisher publisher = new MetadataPublisher(Runnable::run);
    private ElectedLog log;
    private Controller controller;
    private MetadataMachine other;

    @BeforeEach
    void create() throws IOException {
        Journal journal = Journal.openWhole(
                new MemoryFileStore(), Path.of("metadata-0"), LocalMetadataLog.JOURNAL_CONFIG, Runnable::run);
        LocalMetadataLog local =
                new LocalMetadataLog(SELF, journal, Clock.systemUTC(), UnpooledByteBufAllocator.DEFAULT);
        log = new ElectedLog(local);
        MetadataReplica replica = new MetadataReplica(new MetadataMachine(ControllerFixture.LIMITS), publisher);
        controller = new Controller(replica, log, this::newId, Controller.newThread());
        other = new MetadataMachine(ControllerFixture.LIMITS);
    }

    @AfterEach
    void close() throws IOException {
        controller.close();
    }

    private Uuid newId() {
        return new Uuid(1, ids.incrementAndGet());
    }

    /** Starts the controller, with a cluster that already has an id and this broker. */
    private void start() throws IOException {
        controller.start(clusterId -> {}).join();
        commitOfOther(other.format(newId()));
        commitOfOther(other.registrations().register(TestBrokers.registration(SELF), -1));
    }

    /** Elects this broker, and returns when it decides. */
    private void begin(int term) throws Exception {
        log.elect(SELF, term, SELF);
        controller.allocateProducerIds(1).get(20, TimeUnit.SECONDS);
    }

    /** Commits what another controller has decided. */
    private void commitOfOther(Decision decision) {
        long offset = publisher.current().version();
        other.replay(decision.records());
        log.commit(new MetadataBatch(offset, decision.records()));
    }

    private static TopicSpec topic(String name) {
        return new TopicSpec(name, 1, 1, List.of(), Map.of());
    }

    private Outcome createTopic(String name) throws Exception {
        try {
            return controller
                    .createTopics(List.of(topic(name)), false)
                    .get(20, TimeUnit.SECONDS)
                    .get(0);
        } catch (ExecutionException failure) {
            return Outcome.of(failure.getCause());
        }
    }

    @Test
    void shouldDecideInItsTermOnlyWhenThisBrokerIsElected() throws Exception {
        start();
        assertThat(publisher.current().controller().isElected()).isFalse();

        log.elect(SELF, 3, SELF);

        // The controller's thread begins the term first.
        assertThat(createTopic("orders").error()).isEqualTo(ErrorCode.NONE);
        assertThat(publisher.current().controller()).isEqualTo(new ActiveController(SELF, 3));
    }

    @Test
    void shouldNotTellTheNewestImageWhenItsLogIsLost() throws Exception {
        // given
        start();
        begin(3);
        assertThat(controller.newestImage().get(20, TimeUnit.SECONDS).version())
                .isEqualTo(publisher.current().version());

        // when others may decide what this broker does not learn any more
        log.fail();

        // then
        assertThatThrownBy(() -> controller.newestImage().get(20, TimeUnit.SECONDS))
                .hasCauseInstanceOf(NotControllerException.class);
    }

    @Test
    void shouldSayThatTheMetadataStayAsTheyAreWhenTheLogHasFailed() throws Exception {
        start();
        log.elect(SELF, 3, SELF);
        log.elect(OTHER, 4, SELF);
        assertThat(controller.whenFailed()).isNotDone();

        log.fail();

        assertThat(controller.whenFailed()).isCompleted();
        assertThat(createTopic("orders").error()).isNotEqualTo(ErrorCode.NONE);
    }

    @Test
    void shouldFenceABrokerAndUnfenceItWhenItsHeartbeatsEndAndBeginAgain() throws Exception {
        // given
        controller.watchBrokers(nowMs::get, 3_000, 400, NOBODY_RESPONDS);
        start();
        begin(3);
        createTopic("orders");
        long epoch = publisher.current().broker(SELF).epoch();

        // when it does not know all metadata
        assertThat(heartbeat(epoch, epoch, false))
                .isEqualTo(new BrokerHeartbeat.Response(ErrorCode.NONE, false, false, false));

        // and when it is silent
        pass(2_900);
        assertThat(publisher.current().broker(SELF).fenced()).isFalse();
        pass(200);
        assertThat(publisher.current().broker(SELF).fenced()).isTrue();
        assertThat(partition().leader()).isEqualTo(PartitionImage.NO_LEADER);
        assertThat(partition().eligibleLeaders()).containsExactly(SELF);

        // and when it is heard from again
        assertThat(heartbeat(epoch, epoch, false).fenced()).isTrue();
        assertThat(heartbeat(epoch, publisher.current().version(), false).fenced())
                .isFalse();
        assertThat(partition().leader()).isEqualTo(SELF);
        assertThat(partition().inSyncReplicas()).containsExactly(SELF);
        assertThat(partition().leaderEpoch()).isEqualTo(2);

        // and another process of it, or an old one, has no effect
        assertThat(heartbeat(epoch - 1, 0, false).error()).isEqualTo(ErrorCode.STALE_BROKER_EPOCH);
    }

    @Test
    void shouldFenceSoonWhenTheConnectionOfABrokerIsReset() throws Exception {
        controller.watchBrokers(nowMs::get, 3_000, 400, NOBODY_RESPONDS);
        start();
        begin(3);
        long epoch = publisher.current().broker(SELF).epoch();
        heartbeat(epoch, epoch + 1, false);

        controller.onReset(SELF);
        pass(700);
        assertThat(publisher.current().broker(SELF).fenced()).isFalse();
        pass(200);
        assertThat(publisher.current().broker(SELF).fenced()).isTrue();
    }

    @Test
    void shouldFenceBrokersWhileThisBrokerOpensPartitionsOfANewTopic() throws Exception {
        // given a topic whose partitions are not open here yet
        controller.watchBrokers(nowMs::get, 3_000, 400, NOBODY_RESPONDS);
        start();
        commitOfOther(other.registrations().register(TestBrokers.registration(OTHER), -1));
        commitOfOther(other.registrations().register(TestBrokers.registration(THIRD), -1));
        begin(3);
        createTopicThatIsNeverOpen();

        // when one broker is silent, and later another one
        awaitFenced(OTHER, List.of(SELF, THIRD));
        awaitFenced(THIRD, List.of(SELF));

        // then
        assertThat(publisher.newest().broker(SELF).fenced()).isFalse();
    }

    @Test
    void shouldFenceABrokerWhileTooManyRequestsWait() throws Exception {
        // given
        controller.watchBrokers(nowMs::get, 3_000, 400, NOBODY_RESPONDS);
        start();
        commitOfOther(other.registrations().register(TestBrokers.registration(OTHER), -1));
        begin(3);
        createTopicThatIsNeverOpen();
        for (int i = 0; i < OperationQueue.MAX_OPERATIONS; i++) {
            var unused = controller.createTopics(List.of(topic("orders")), false);
        }
        assertThatThrownBy(() ->
                        controller.createTopics(List.of(topic("orders")), false).join())
                .hasMessageContaining("too many operations");

        // when
        awaitFenced(OTHER, List.of(SELF));

        // then also brokers are served
        assertThat(controller.allocateProducerIds(1)).succeedsWithin(Duration.ofSeconds(20));
        assertThat(publisher.newest().broker(SELF).fenced()).isFalse();
    }

    private void createTopicThatIsNeverOpen() {
        publisher.addListener(new MetadataPublisher.Listener() {
            @Override
            public CompletableFuture<Void> prepare(MetadataDelta delta) {
                return delta.topics().isEmpty() ? CompletableFuture.completedFuture(null) : new CompletableFuture<>();
            }

            @Override
            public void onImage(MetadataDelta delta) {
                // Only the preparation matters.
            }
        });
        var unused = controller.createTopics(List.of(topic("orders")), false);
    }

    @Test
    void shouldTakeAReportOfFailedReplicasWhileThisBrokerOpensPartitionsOfANewTopic() throws Exception {
        controller.watchBrokers(nowMs::get, 3_000, 400, NOBODY_RESPONDS);
        start();
        commitOfOther(other.registrations().register(TestBrokers.registration(OTHER), -1));
        begin(3);
        createTopicThatIsNeverOpen();

        // then the broker that sends it need not wait with its heartbeats
        long epoch = publisher.newest().broker(OTHER).epoch();
        assertThat(controller.loseRecords(OTHER, epoch, Map.of()).get(20, TimeUnit.SECONDS))
                .isEqualTo(ErrorCode.NONE);
    }

    /** The responses to heartbeats of these brokers come over the same connections, and in order. */
    @Test
    void shouldServeOtherBrokersWhileThisBrokerOpensPartitionsOfANewTopic() throws Exception {
        start();
        commitOfOther(other.registrations().register(TestBrokers.registration(OTHER), -1));
        begin(3);
        createTopicThatIsNeverOpen();

        // then other leaders can propose in-sync replicas, and other brokers get producer ids
        long epoch = publisher.newest().broker(OTHER).epoch();
        assertThat(controller.alterPartitions(OTHER, epoch, List.of()).get(20, TimeUnit.SECONDS))
                .isEmpty();
        assertThat(controller.allocateProducerIds(1).get(20, TimeUnit.SECONDS)).isPositive();
    }

    /** Lets time pass until a broker must be fenced, while others send heartbeats. */
    private void awaitFenced(int silent, List<Integer> others) throws Exception {
        for (long passed = 0; passed < 4_000; passed += Controller.TICK_MS) {
            nowMs.addAndGet(Controller.TICK_MS);
            for (int id : others) {
                long epoch = publisher.newest().broker(id).epoch();
                controller
                        .heartbeat(new BrokerHeartbeat(id, epoch, epoch, false, false, List.of()))
                        .get(20, TimeUnit.SECONDS);
            }
            controller.tick();
        }
        // The response follows what the tick has begun.
        long epoch = publisher.newest().broker(SELF).epoch();
        controller
                .heartbeat(new BrokerHeartbeat(SELF, epoch, epoch, false, false, List.of()))
                .get(20, TimeUnit.SECONDS);
        controller
                .heartbeat(new BrokerHeartbeat(SELF, epoch, epoch, false, false, List.of()))
                .get(20, TimeUnit.SECONDS);
        assertThat(publisher.newest().broker(silent).fenced())
                .as("broker " + silent)
                .isTrue();
    }

    /** It is no predecessor that has stopped, and may send its next heartbeat later than such a one is given. */
    @Test
    void shouldGiveItselfTimeForAHeartbeatWhenThisBrokerIsElectedAgain() throws Exception {
        // given
        controller.watchBrokers(nowMs::get, 3_000, 1_500, NOBODY_RESPONDS);
        start();
        begin(3);
        log.elect(OTHER, 4, OTHER);

        // when
        begin(5);
        pass(2_900);

        // then
        assertThat(publisher.current().broker(SELF).fenced()).isFalse();
        pass(200);
        assertThat(publisher.current().broker(SELF).fenced()).isTrue();
    }

    @Test
    void shouldLetABrokerStopOnlyWhenOthersKnowThatTheyLead() throws Exception {
        // given a partition that another broker can lead
        controller.watchBrokers(nowMs::get, 3_000, 400, NOBODY_RESPONDS);
        start();
        commitOfOther(other.registrations().register(TestBrokers.registration(OTHER), -1));
        begin(3);
        TopicSpec spec = new TopicSpec("orders", -1, -1, List.of(List.of(SELF, OTHER)), Map.of());
        controller.createTopics(List.of(spec), false).get(20, TimeUnit.SECONDS);
        long epoch = publisher.current().broker(SELF).epoch();
        long epochOfOther = publisher.current().broker(OTHER).epoch();

        // when
        assertThat(heartbeat(epoch, publisher.current().version(), true).mayShutDown())
                .isFalse();

        // then
        assertThat(partition().leader()).isEqualTo(OTHER);
        assertThat(partition().inSyncReplicas()).containsExactly(OTHER);
        assertThat(publisher.current().broker(SELF).leaving()).isTrue();
        assertThat(heartbeat(epoch, publisher.current().version(), true).mayShutDown())
                .isFalse();
        controller
                .heartbeat(new BrokerHeartbeat(
                        OTHER, epochOfOther, publisher.current().version(), false, false, List.of()))
                .get(20, TimeUnit.SECONDS);
        assertThat(heartbeat(epoch, publisher.current().version(), true))
                .isEqualTo(new BrokerHeartbeat.Response(ErrorCode.NONE, true, true, true));
        assertThat(publisher.current().broker(SELF).fenced()).isTrue();

        // and it comes back without what it led
        assertThat(heartbeat(epoch, publisher.current().version(), false).fenced())
                .isFalse();
        assertThat(partition().leader()).isEqualTo(OTHER);
    }

    @Test
    void shouldLetOthersLeadWhileABrokerHasNoRoom() throws Exception {
        // given a partition that another broker can lead
        controller.watchBrokers(nowMs::get, 3_000, 400, NOBODY_RESPONDS);
        start();
        commitOfOther(other.registrations().register(TestBrokers.registration(OTHER), -1));
        begin(3);
        TopicSpec spec = new TopicSpec("orders", -1, -1, List.of(List.of(SELF, OTHER)), Map.of());
        controller.createTopics(List.of(spec), false).get(20, TimeUnit.SECONDS);
        long epoch = publisher.current().broker(SELF).epoch();

        // when
        BrokerHeartbeat full =
                new BrokerHeartbeat(SELF, epoch, publisher.current().version(), false, false, List.of(new Uuid(1, 1)));
        assertThat(controller.heartbeat(full).get(20, TimeUnit.SECONDS).fenced())
                .isFalse();

        // then
        assertThat(partition().leader()).isEqualTo(OTHER);
        assertThat(partition().inSyncReplicas()).containsExactly(SELF, OTHER);

        // and repeated heartbeats change nothing
        long version = publisher.current().version();
        controller.heartbeat(full).get(20, TimeUnit.SECONDS);
        assertThat(publisher.current().version()).isEqualTo(version);

        // and it has room again
        heartbeat(epoch, version, false);
        assertThat(publisher.current().broker(SELF).full()).isFalse();
    }

    private BrokerHeartbeat.Response heartbeat(long epoch, long metadataOffset, boolean wantsShutdown)
            throws Exception {
        return controller
                .heartbeat(new BrokerHeartbeat(SELF, epoch, metadataOffset, false, wantsShutdown, List.of()))
                .get(20, TimeUnit.SECONDS);
    }

    private PartitionImage partition() {
        return publisher.current().topic("orders").partitions().get(0);
    }

    /** Lets time pass for the controller. */
    private void pass(long ms) throws Exception {
        for (long passed = 0; passed < ms; passed += Controller.TICK_MS) {
            nowMs.addAndGet(Controller.TICK_MS);
            controller.tick();
            // A later operation is done after those of the tick.
            controller.allocateProducerIds(1).get(20, TimeUnit.SECONDS);
            controller.allocateProducerIds(1).get(20, TimeUnit.SECONDS);
        }
    }

    @Test
    void shouldBeginLeaderEpochsWhenAProcessRegisters() throws Exception {
        start();
        begin(3);
        createTopic("orders");
        BrokerRegistration registration = TestBrokers.registration(SELF);

        // when the process repeats its registration, because it has not heard of the first one
        controller.registerBroker(registration, -1).get(20, TimeUnit.SECONDS);
        controller.registerBroker(registration, -1).get(20, TimeUnit.SECONDS);

        assertThat(publisher.current().topic("orders").partitions().get(0).leaderEpoch())
                .isZero();

        // and when its next process registers
        controller
                .registerBroker(
                        new BrokerRegistration(
                                SELF,
                                newId(),
                                registration.listeners(),
                                registration.rack(),
                                registration.features(),
                                registration.logDirectories()),
                        -1)
                .get(20, TimeUnit.SECONDS);

        assertThat(publisher.current().topic("orders").partitions().get(0).leaderEpoch())
                .isEqualTo(1);
        assertThat(partition().leader()).isEqualTo(PartitionImage.NO_LEADER);
    }

    @Test
    void shouldNameTheBrokerThatLeadsWhenItIsNotTheController() throws Exception {
        start();
        assertThat(createTopic("orders").reason()).contains("none is known at the moment");
        begin(3);

        log.elect(OTHER, 4, SELF);
        Outcome outcome = createTopic("orders");

        assertThat(outcome.error()).isEqualTo(ErrorCode.NOT_CONTROLLER);
        assertThat(outcome.reason()).contains("not the controller").contains("broker " + OTHER + " is");
        assertThatThrownBy(() -> controller.allocateProducerIds(1).get(20, TimeUnit.SECONDS))
                .hasMessageContaining("not the controller");
        assertThat(publisher.current().topics()).isEmpty();
    }

    @Test
    void shouldKnowWhatOthersHaveCommittedWhenItIsElectedAgain() throws Exception {
        start();
        begin(3);
        log.elect(OTHER, 4, SELF);

        commitOfOther(other.createTopic(topic("orders"), newId()));
        log.elect(SELF, 5, SELF);

        // The controller's thread begins the term first.
        assertThat(createTopic("orders").error()).isEqualTo(ErrorCode.TOPIC_ALREADY_EXISTS);
        assertThat(createTopic("payments").error()).isEqualTo(ErrorCode.NONE);
    }

    @Test
    void shouldForgetItsDecisionWhenTheProposalFailsAndIsNotCommitted() throws Exception {
        start();
        begin(3);
        log.failure = new IOException("planted");

        Outcome lost = createTopic("orders");
        log.failure = null;

        assertThat(lost.error()).isEqualTo(ErrorCode.NOT_CONTROLLER);
        assertThat(lost.reason()).contains("may or may not be committed");
        assertThat(publisher.current().topics()).isEmpty();
        assertThat(createTopic("orders").error()).isEqualTo(ErrorCode.NONE);
    }

    @Test
    void shouldKnowItsDecisionWhenTheProposalFailsAndIsCommitted() throws Exception {
        start();
        begin(3);
        log.failure = new IOException("planted");
        log.commitsWhenItFails = true;

        assertThat(createTopic("orders").error()).isEqualTo(ErrorCode.NOT_CONTROLLER);
        log.failure = null;

        assertThat(createTopic("orders").error()).isEqualTo(ErrorCode.TOPIC_ALREADY_EXISTS);
    }

    @Test
    void shouldBeginItsTermWithTheNextOperationWhenTheFirstProposalFails() throws Exception {
        start();
        log.failure = new IOException("planted");
        log.elect(SELF, 3, SELF);
        assertThat(createTopic("orders").error()).isEqualTo(ErrorCode.NOT_CONTROLLER);
        assertThat(publisher.current().controller().isElected()).isFalse();

        log.failure = null;

        assertThat(createTopic("orders").error()).isEqualTo(ErrorCode.NONE);
        assertThat(publisher.current().controller()).isEqualTo(new ActiveController(SELF, 3));
    }
}
