package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigException;
import io.journalq.server.config.ConfigOrigin;
import io.journalq.server.control.BrokerHeartbeat;
import io.journalq.server.control.Controller;
import io.journalq.server.control.ControllerOperations;
import io.journalq.server.control.MetadataBatch;
import io.journalq.server.control.MetadataLog;
import io.journalq.server.control.MetadataPublisher;
import io.journalq.server.control.MetadataReplica;
import io.journalq.server.control.NotControllerException;
import io.journalq.server.control.Outcome;
import io.journalq.server.control.PartitionOutcome;
import io.journalq.server.journal.file.FilterFileStore;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.loop.EventLoops;
import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.metadata.BrokerRegistration;
import io.journalq.server.metadata.MetadataDelta;
import io.journalq.server.metadata.MetadataMachine;
import io.journalq.server.metadata.TestBrokers;
import io.journalq.server.metadata.TopicSpec;
import io.journalq.server.metadata.partition.InSyncProposal;
import io.journalq.server.metadata.record.BrokerChangeRecord;
import io.journalq.server.shard.Shards;
import io.journalq.server.shard.partition.SteppedLoop;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A broker with a replica whose files cannot be used, which another one could replace. */
class BrokerSupervisorTest {
    private static final int SELF = 1;
    private static final int OTHER = 2;
    private static final int INTERVAL_MS = 500;
    private static final Uuid ORDERS = new Uuid(1, 1);

    private final SteppedLoop loop = new SteppedLoop();
    private final EventLoops loops = new EventLoops(1);
    private final ExecutorService pool = Executors.newFixedThreadPool(1);
    private final MetadataPublisher metadata = new MetadataPublisher(Runnable::run);
    private final ActiveController active = new ActiveController();
    private final FollowingLog quorum = new FollowingLog();

    private List<Uuid> full = List.of();
    private CompletableFuture<Void> serving;
    private boolean registeredFenced;

    @TempDir
    Path directory;

    /** Takes heartbeats at once, and reports when the test says so. */
    private static final class ActiveController implements ControllerOperations {
        private final List<CompletableFuture<ErrorCode>> reports = new ArrayList<>();
        private int heartbeats;
        private boolean wantsFence;
        private boolean responds = true;
        private ErrorCode error = ErrorCode.NONE;

        @Override
        public CompletableFuture<ErrorCode> loseRecords(
                int loser, long brokerEpoch, Map<Uuid, List<Integer>> partitions) {
            assertThat(partitions).isEqualTo(Map.of(ORDERS, List.of(0)));
            reports.add(new CompletableFuture<>());
            return reports.get(reports.size() - 1);
        }

        @Override
        public CompletableFuture<BrokerHeartbeat.Response> heartbeat(BrokerHeartbeat heartbeat) {
            heartbeats++;
            wantsFence = heartbeat.wantsFence();
            if (!responds) {
                return CompletableFuture.failedFuture(new NotControllerException("cannot be reached"));
            }
            return CompletableFuture.completedFuture(new BrokerHeartbeat.Response(error, true, false, false));
        }

        @Override
        public CompletableFuture<Outcome> registerBroker(BrokerRegistration registration, long previousEpoch) {
            throw new AssertionError("the broker is registered");
        }

        @Override
        public CompletableFuture<List<PartitionOutcome>> alterPartitions(
                int nodeId, long brokerEpoch, List<InSyncProposal> proposals) {
            throw new AssertionError("nothing is proposed");
        }

        @Override
        public CompletableFuture<List<Outcome>> createTopics(List<TopicSpec> specs, boolean validateOnly) {
            throw new AssertionError("no topic is created");
        }

        @Override
        public CompletableFuture<Long> allocateProducerIds(int count) {
            throw new AssertionError("no ids are allocated");
        }
    }

    /** A metadata log whose leader is the other broker. */
    private static final class FollowingLog implements MetadataLog {
        private int elections;

        @Override
        public Members members() {
            return new Members(OTHER, 1, List.of(SELF, OTHER));
        }

        @Override
        public void takeOver() {
            elections++;
        }

        @Override
        public boolean electsLeader() {
            return true;
        }

        @Override
        public void onRole(Consumer<Role> listener) {}

        @Override
        public void open(Replica replica) {
            throw new AssertionError("the log is open");
        }

        @Override
        public CompletableFuture<Void> propose(MetadataBatch batch) {
            throw new AssertionError("nothing is proposed");
        }

        @Override
        public void fence(IOException reason) {
            throw new AssertionError("the log has not failed");
        }

        @Override
        public void close() {}
    }

    @AfterEach
    void close() {
        loops.close();
        pool.shutdown();
    }

    private BrokerSupervisor serveWithFailedReplica() throws ConfigException {
        return serveWithFailedReplica(false);
    }

    /** @param otherStarts whether the other broker is fenced */
    private BrokerSupervisor serveWithFailedReplica(boolean otherStarts) throws ConfigException {
        MetadataMachine.Limits limits = new MetadataMachine.Limits(SELF, 1, 100, 1_000);
        MetadataMachine decider = new MetadataMachine(limits);
        TestBrokers.register(decider, SELF, OTHER);
        if (otherStarts) {
            decider.replay(decider.cluster().fence(List.of(OTHER)).records());
        }
        decider.replay(
                decider.createTopic(new TopicSpec("orders", -1, -1, List.of(List.of(SELF, OTHER)), Map.of()), ORDERS)
                        .records());
        if (registeredFenced) {
            decider.replay(List.of(new BrokerChangeRecord()
                    .setNodeId(SELF)
                    .setEpoch(decider.image().broker(SELF).epoch())
                    .setFenced(true)));
        }
        MetadataReplica replica = new MetadataReplica(new MetadataMachine(limits), metadata);
        replica.restore(decider.snapshot());
        BrokerConfig config = BrokerConfig.defaults()
                .with("node.id", Integer.toString(SELF), ConfigOrigin.COMMAND_LINE)
                .with("data.directories", directory.toString(), ConfigOrigin.COMMAND_LINE);
        FilterFileStore bad = new FilterFileStore(new MemoryFileStore()) {
            @Override
            public List<String> list(Path listed) throws IOException {
                throw new IOException("Input/output error");
            }
        };
        Shards shards =
                new Shards(config, loops.cycles(), bad, pool, Clock.systemUTC(), Map.of(), MemoryAccount.UNBOUNDED);
        shards.partitions().open(MetadataDelta.ofAll(metadata.current())).join();
        BrokerLifecycle lifecycle = new BrokerLifecycle(
                config,
                null,
                metadata,
                active,
                () -> TestBrokers.registration(SELF).incarnationId(),
                true,
                null);
        BrokerSupervisor supervisor = new BrokerSupervisor(lifecycle, metadata, active, loop, INTERVAL_MS);
        serving = supervisor.serve(
                new Controller(replica, quorum, () -> ORDERS, pool),
                new FailedReplicas(shards.offlinePartitions()),
                () -> full);
        loop.run();
        return supervisor;
    }

    /** Heartbeats fail for a while. */
    private void loseController() {
        active.responds = false;
        loop.fireTimers();
        assertThat(quorum.elections)
                .as("elections after the first heartbeat that failed")
                .isZero();
        for (int i = 0; i < 3; i++) {
            loop.advance(INTERVAL_MS);
            loop.fireTimers();
        }
    }

    @Test
    void shouldAskToBeTheControllerWhileThatOfABrokerThatStartsCannotBeReached() throws Exception {
        serveWithFailedReplica(true);

        loseController();

        assertThat(quorum.elections).as("elections in 1.5 s").isOne();
    }

    @Test
    void shouldNotAskToBeTheControllerWhileABrokerThatServesIsIt() throws Exception {
        serveWithFailedReplica(false);

        loseController();

        assertThat(quorum.elections).isZero();
    }

    @Test
    void shouldNotAskToBeTheControllerWhenItLeaves() throws Exception {
        BrokerSupervisor supervisor = serveWithFailedReplica(true);
        var unused = supervisor.leave(60_000);

        loseController();

        assertThat(quorum.elections).isZero();
    }

    @Test
    void shouldRepeatHeartbeatsSoonWhenItLeaves() throws Exception {
        BrokerSupervisor supervisor = serveWithFailedReplica();
        int heartbeats = active.heartbeats;
        int timers = loop.timerCount();

        // when others do not lead yet
        var unused = supervisor.leave(60_000);
        loop.run();

        // then the next heartbeat does not wait for the timer of the last one before
        assertThat(active.heartbeats).isEqualTo(heartbeats + 1);
        assertThat(loop.timerCount()).as("with the one that ends the wait").isEqualTo(timers + 2);
    }

    @Test
    void shouldAskToBeFencedWhenItCannotFollowTheMetadataAnyMore() throws Exception {
        BrokerSupervisor supervisor = serveWithFailedReplica();
        assertThat(active.wantsFence).isFalse();

        supervisor.disable();
        loop.fireTimers();

        assertThat(active.wantsFence).isTrue();
    }

    @Test
    void shouldNotRegisterAgainWhenItCannotFollowTheMetadataAnyMore() throws Exception {
        // given a broker that another process of it has replaced
        BrokerSupervisor supervisor = serveWithFailedReplica();
        supervisor.disable();
        active.error = ErrorCode.STALE_BROKER_EPOCH;

        // when it hears of that, then it leaves the place to that process
        loop.fireTimers();
        loop.fireTimers();
        assertThat(active.wantsFence).isTrue();

        // and has nothing to hand over when it stops
        CompletableFuture<Void> left = supervisor.leave(60_000);
        loop.run();
        assertThat(left).isCompleted();
    }

    @Test
    void shouldEndTheStartWhenItCannotFollowTheMetadataAnyMore() throws Exception {
        // given a broker that is fenced, as far as it knows
        registeredFenced = true;
        BrokerSupervisor supervisor = serveWithFailedReplica();
        assertThat(serving).isNotDone();

        supervisor.disable();

        assertThat(serving).failsWithin(Duration.ZERO).withThrowableThat().withCauseInstanceOf(IOException.class);
    }

    @Test
    void shouldSendHeartbeatsWhileNobodyRespondsToAReportOfFailedReplicas() throws Exception {
        // when the controller is frozen, or opens the partitions of a large topic
        serveWithFailedReplica();
        assertThat(active.reports).hasSize(1);
        loop.fireTimers();
        loop.fireTimers();

        // then
        assertThat(active.heartbeats).as("heartbeats").isEqualTo(3);
        assertThat(active.reports).as("reports").hasSize(1);

        // and when there is another controller, that one gets the report, too
        active.reports.get(0).completeExceptionally(new NotControllerException("does not respond"));
        loop.run();
        loop.fireTimers();
        assertThat(active.reports).as("reports").hasSize(2);
    }
}
