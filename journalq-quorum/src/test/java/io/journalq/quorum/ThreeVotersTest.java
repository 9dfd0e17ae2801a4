package io.journalq.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.quorum.QuorumConfig.LogSizes;
import io.journalq.server.control.MetadataLog.Role;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Three voters in one process: order, loss of the leader, return of a voter. */
@Tag("long")
class ThreeVotersTest {
    /** An election begins 1 to 2 s after the leader is gone, and may have to be repeated. */
    private static final long FAILOVER_MAX_MS = 10_000;

    @TempDir
    Path directory;

    private static List<Long> upTo(long end) {
        return LongStream.range(0, end).boxed().toList();
    }

    @Test
    void shouldApplyTheSameRecordsInTheSameOrderEverywhere() throws Exception {
        try (TestQuorum quorum = TestQuorum.ofThree(directory, LogSizes.DEFAULT)) {
            TestVoter leader = quorum.awaitLeader();

            leader.proposeAll(0, 1_000);

            for (TestVoter voter : quorum.voters) {
                voter.awaitValues(upTo(1_000));
                assertThat(voter.log.members()).isEqualTo(leader.log.members());
            }
            assertThat(leader.log.members().leaderId()).isEqualTo(leader.voter.nodeId());
            assertThat(leader.log.members().voters()).containsExactlyInAnyOrder(1, 2, 3);
        }
    }

    @Test
    void shouldRefuseAProposalWhenAnotherVoterLeads() throws Exception {
        try (TestQuorum quorum = TestQuorum.ofThree(directory, LogSizes.DEFAULT)) {
            TestVoter leader = quorum.awaitLeader();

            for (TestVoter follower : quorum.others(leader)) {
                assertThatThrownBy(() -> follower.propose(0).join())
                        .cause()
                        .hasMessage("this broker does not lead the metadata quorum");
            }
        }
    }

    @Test
    void shouldLoseNothingAcknowledgedWhenTheLeaderIsGone() throws Exception {
        try (TestQuorum quorum = TestQuorum.ofThree(directory, LogSizes.DEFAULT)) {
            // given
            TestVoter first = quorum.awaitLeader();
            first.proposeAll(0, 100);
            int firstTerm = first.log.members().term();

            // when
            first.stop();
            long goneNanos = System.nanoTime();
            TestVoter second = quorum.awaitLeader();
            long failoverMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - goneNanos);

            // then
            System.out.println("failover_ms=" + failoverMs);
            assertThat(failoverMs).isLessThan(FAILOVER_MAX_MS);
            assertThat(second.replica.values()).isEqualTo(upTo(100));
            assertThat(second.log.members().term()).isGreaterThan(firstTerm);
            second.proposeAll(100, 100);

            // and when it comes back
            first.open();
            first.awaitValues(upTo(200));
            assertThat(first.replica.restores()).as("the log has everything").isZero();
        }
    }

    @Test
    void shouldInstallASnapshotWhenALateVoterFindsTheLogPurged() throws Exception {
        try (TestQuorum quorum = TestQuorum.ofThree(directory, TestVoter.SMALL)) {
            // given
            TestVoter leader = quorum.awaitLeader();
            leader.proposeAll(0, 20);
            TestVoter late = quorum.others(leader).get(0);
            late.awaitValues(upTo(20));
            late.stop();

            // when
            leader.proposeAll(20, 600);
            late.open();

            // then
            late.awaitValues(upTo(620));
            assertThat(late.replica.restores()).isEqualTo(1);
            leader.proposeAll(620, 10);
            late.awaitValues(upTo(630));

            // and after another restart
            late.stop();
            late.open();
            late.awaitValues(upTo(630));
        }
    }

    @Test
    void shouldElectAVoterThatAsksForItAlthoughAnotherOneLeads() throws Exception {
        try (TestQuorum quorum = TestQuorum.ofThree(directory, LogSizes.DEFAULT)) {
            // given
            TestVoter first = quorum.awaitLeader();
            first.proposeAll(0, 100);
            TestVoter second = quorum.others(first).get(0);
            second.awaitValues(upTo(100));

            // when
            second.log.takeOver();

            // then
            second.awaitLeading();
            TestVoter.await("the first one follows", () -> first.role == Role.FOLLOWING);
            second.proposeAll(100, 100);
            for (TestVoter voter : quorum.voters) {
                voter.awaitValues(upTo(200));
            }
        }
    }
}
