package io.journalq.sim.world;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.Message;
import io.journalq.server.control.MetadataBatch;
import io.journalq.server.control.MetadataLog;
import io.journalq.server.control.MetadataLog.Role;
import io.journalq.server.metadata.record.ClusterRecord;
import io.journalq.server.metadata.record.ProducerIdsRecord;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/** The model keeps the contract of {@link MetadataLog}. */
class SimQuorumTest {
    private static final int VOTERS = 3;
    private static final long LIMIT_MS = 20_000;
    private static final SimQuorum.Odds NO_FAULTS = new SimQuorum.Odds(0, 0, 0, 0, 0);

    private final Random random = new Random(1);
    private final Scheduler scheduler = new Scheduler(random);
    private final SimNetwork network = new SimNetwork(scheduler, random);
    private final List<Voter> voters = new ArrayList<>();

    /** A voter, with the records that it has applied. */
    private static final class Voter implements MetadataLog.Replica {
        private final List<Message> records = new ArrayList<>();
        private SimMetadataLog log;
        private Role role = Role.FOLLOWING;

        @Override
        public void replay(List<Message> more) {
            records.addAll(more);
        }

        @Override
        public void restore(List<Message> snapshot) {
            records.clear();
            records.addAll(snapshot);
        }

        @Override
        public List<Message> snapshot() {
            return List.copyOf(records);
        }

        @Override
        public int level() {
            return 1;
        }

        CompletableFuture<Void> propose(long producerId) {
            return log.propose(
                    new MetadataBatch(records.size(), List.of(new ProducerIdsRecord().setNextProducerId(producerId))));
        }
    }

    private static final class NoListener implements SimQuorum.Listener {
        @Override
        public void onReplay(int nodeId, long offset, List<Message> records) {}

        @Override
        public void onRestore(int nodeId, long offset, List<Message> snapshot) {}
    }

    private void start(SimQuorum.Odds odds) throws IOException {
        SimQuorum quorum = new SimQuorum(
                scheduler,
                random,
                network,
                odds,
                Interference.NONE,
                new NoListener(),
                List.of(new ClusterRecord().setClusterId("cluster")));
        for (int id = 1; id <= VOTERS; id++) {
            quorum.add(id);
            SimNode node = new SimNode(id, scheduler, random, new SimClock(scheduler), () -> {});
            node.disk().createDurableDirectories(Path.of("host", "data"));
            Voter voter = new Voter();
            voter.log = quorum.log(node);
            voter.log.onRole(role -> voter.role = role);
            voter.log.open(voter);
            voters.add(voter);
        }
    }

    private boolean runUntil(BooleanSupplier done) {
        long limitMs = scheduler.nowMs() + LIMIT_MS;
        scheduler.runUntil(() -> done.getAsBoolean() || scheduler.nowMs() > limitMs);
        return done.getAsBoolean();
    }

    private Voter leader() {
        assertThat(runUntil(() -> voters.stream().anyMatch(voter -> voter.role == Role.LEADING)))
                .isTrue();
        return voters.stream()
                .filter(voter -> voter.role == Role.LEADING)
                .findFirst()
                .orElseThrow();
    }

    private void isolate(Voter voter) {
        int one = voters.indexOf(voter) + 1;
        for (int other = 1; other <= VOTERS; other++) {
            if (other != one) {
                network.cut(one, other);
                network.cut(other, one);
            }
        }
    }

    @Test
    void shouldApplyABatchEverywhereWhenTheLeaderHasProposedIt() throws Exception {
        start(NO_FAULTS);
        Voter leader = leader();

        CompletableFuture<Void> proposal = leader.propose(7);

        assertThat(runUntil(proposal::isDone)).isTrue();
        assertThat(proposal).isCompleted();
        assertThat(leader.records).hasSize(2);
        assertThat(runUntil(() -> voters.stream().allMatch(voter -> voter.records.equals(leader.records))))
                .isTrue();
        assertThat(voters).filteredOn(voter -> voter.role == Role.LEADING).containsExactly(leader);
    }

    @Test
    void shouldCommitNothingOfADeposedLeaderWhenItIsCutOff() throws Exception {
        start(NO_FAULTS);
        Voter deposed = leader();
        isolate(deposed);

        // when
        CompletableFuture<Void> lost = deposed.propose(7);
        assertThat(runUntil(() -> voters.stream().anyMatch(voter -> voter != deposed && voter.role == Role.LEADING)))
                .isTrue();
        Voter leader = voters.stream()
                .filter(voter -> voter != deposed && voter.role == Role.LEADING)
                .findFirst()
                .orElseThrow();
        CompletableFuture<Void> committed = leader.propose(8);
        assertThat(runUntil(() -> committed.isDone() && lost.isDone())).isTrue();
        network.heal();

        // then
        assertThat(committed).isCompleted();
        assertThat(lost).isCompletedExceptionally();
        assertThat(runUntil(() -> deposed.records.equals(leader.records))).isTrue();
        assertThat(leader.records).doesNotContain(new ProducerIdsRecord().setNextProducerId(7));
    }

    @Test
    void shouldCommitNothingWhenNoMajorityIsConnected() throws Exception {
        start(NO_FAULTS);
        Voter leader = leader();
        voters.forEach(this::isolate);

        CompletableFuture<Void> proposal = leader.propose(7);
        runUntil(() -> false);

        assertThat(proposal.isDone() && !proposal.isCompletedExceptionally()).isFalse();
        assertThat(voters).allSatisfy(voter -> assertThat(voter.records).hasSize(1));
        assertThat(voters).noneMatch(voter -> voter.role == Role.LEADING);
    }

    @Test
    void shouldCommitAllTheSameWhenAProposalHasFailedForItsCaller() throws Exception {
        start(new SimQuorum.Odds(0, 1, 0, 0, 0));
        Voter leader = leader();
        boolean[] found = new boolean[1];
        for (int producerId = 1; producerId <= 50 && !found[0]; producerId++) {
            Message record = new ProducerIdsRecord().setNextProducerId(producerId);
            CompletableFuture<Void> proposal = leader.propose(producerId);
            runUntil(() -> proposal.isDone() && leader.records.contains(record));
            found[0] = proposal.isCompletedExceptionally();
        }

        assertThat(found[0]).isTrue();
    }

    @Test
    void shouldApplyABatchOnceWhenItIsRepeated() throws Exception {
        start(new SimQuorum.Odds(0, 0, 1, 0, 0));
        Voter leader = leader();

        runUntil(leader.propose(7)::isDone);
        long endMs = scheduler.nowMs() + 2_000;
        runUntil(() -> scheduler.nowMs() > endMs);

        assertThat(voters).allSatisfy(voter -> assertThat(voter.records).hasSize(2));
    }
}
