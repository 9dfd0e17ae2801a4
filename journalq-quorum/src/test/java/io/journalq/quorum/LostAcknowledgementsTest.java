package io.journalq.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.control.MetadataLog.Role;
import io.journalq.server.control.QuorumVoter;
import io.journalq.server.journal.file.SystemFileStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.ratis.server.RaftServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Connections between three voters break at a bad moment. */
class LostAcknowledgementsTest {
    private static final int WAIT_SECONDS = 20;
    private static final int FIRST_VALUES = 5;
    /** Longer than a test needs to see that a voter has an entry. */
    private static final int REPLY_DELAY_MS = 200;

    private final List<TestVoter> voters = new ArrayList<>();
    private final List<LossyProxy> proxies = new ArrayList<>();

    @BeforeEach
    void start(@TempDir Path directory) throws IOException {
        List<QuorumVoter> founders =
                IntStream.rangeClosed(1, 3).mapToObj(TestVoter::identity).toList();
        for (QuorumVoter founder : founders) {
            TestVoter voter = new TestVoter(
                    founder,
                    directory.resolve(Integer.toString(founder.nodeId())),
                    new SystemFileStore(),
                    TestVoter.SMALL,
                    founders);
            LossyProxy proxy = new LossyProxy(founder.port());
            voter.listenPort = proxy.targetPort;
            voters.add(voter);
            proxies.add(proxy);
        }
        for (TestVoter voter : voters) {
            voter.open();
        }
    }

    @AfterEach
    void stop() throws IOException {
        for (TestVoter voter : voters) {
            voter.close();
        }
        for (LossyProxy proxy : proxies) {
            proxy.close();
        }
    }

    private TestVoter awaitLeader() {
        TestVoter.await("a voter leads", () -> voters.stream().anyMatch(voter -> voter.role == Role.LEADING));
        return voters.stream()
                .filter(voter -> voter.role == Role.LEADING)
                .findFirst()
                .orElseThrow();
    }

    private static RaftServer.Division division(TestVoter voter) {
        try {
            var ratis = voter.log.ratis();
            return ratis.getDivision(ratis.getGroupIds().iterator().next());
        } catch (IOException closed) {
            throw new AssertionError(closed);
        }
    }

    private static long lastEntry(TestVoter voter) {
        return division(voter).getRaftLog().getLastEntryTermIndex().getIndex();
    }

    @Test // seed 7014 of chaos in a cluster
    void shouldCommitABatchWhoseAcknowledgementsAreLost() throws Exception {
        // given a batch that all voters have, while its leader does not know it
        TestVoter leader = awaitLeader();
        leader.proposeAll(0, FIRST_VALUES);
        proxies.forEach(LossyProxy::loseReplies);
        long before = lastEntry(leader);
        CompletableFuture<Void> proposal = leader.propose(FIRST_VALUES);
        TestVoter.await("all have the batch", () -> voters.stream().allMatch(voter -> lastEntry(voter) > before));
        assertThat(proposal).isNotDone();

        // when the connections break
        proxies.forEach(LossyProxy::reset);

        // then it is committed, once, and the log goes on
        proposal.get(WAIT_SECONDS, TimeUnit.SECONDS);
        leader.proposeAll(FIRST_VALUES + 1, 2);
        List<Long> expected = LongStream.range(0, FIRST_VALUES + 3).boxed().toList();
        voters.forEach(voter -> voter.awaitValues(expected));
    }

    @Test
    void shouldElectAControllerWhenTheAcknowledgementsOfItsFirstEntryAreLost() throws Exception {
        // given a new leader whose first entry the other voter has, while the leader does not know it
        TestVoter old = awaitLeader();
        old.proposeAll(0, FIRST_VALUES);
        List<Long> first = LongStream.range(0, FIRST_VALUES).boxed().toList();
        voters.forEach(voter -> voter.awaitValues(first));
        long before = lastEntry(old);
        List<TestVoter> others = voters.stream().filter(voter -> voter != old).toList();
        proxies.forEach(proxy -> proxy.delayReplies(REPLY_DELAY_MS));
        old.stop();
        TestVoter.await("both have the entry", () -> others.stream().allMatch(voter -> lastEntry(voter) > before));
        proxies.forEach(LossyProxy::loseReplies);
        assertThat(others).allMatch(voter -> voter.role != Role.LEADING);

        // when the connections break
        proxies.forEach(LossyProxy::reset);

        // then one of them leads, and the log goes on
        TestVoter leader = awaitLeader();
        leader.proposeAll(FIRST_VALUES, 2);
        List<Long> expected = LongStream.range(0, FIRST_VALUES + 2).boxed().toList();
        others.forEach(voter -> voter.awaitValues(expected));
    }
}
