package io.journalq.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.quorum.QuorumConfig.LogSizes;
import io.journalq.server.control.MetadataLog.Role;
import io.journalq.server.control.QuorumVoter;
import io.journalq.server.journal.file.SystemFileStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.LongStream;
import org.apache.ratis.server.RaftServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Voters that are added, removed and replaced. */
@Tag("long")
class MembershipTest {
    @TempDir
    Path directory;

    private static List<Long> upTo(long end) {
        return LongStream.range(0, end).boxed().toList();
    }

    private static void addVoter(TestVoter leader, TestVoter added) throws Exception {
        leader.log.add(added.voter, false).get(30, TimeUnit.SECONDS);
    }

    private static void removeVoter(TestVoter leader, QuorumVoter removed) throws Exception {
        leader.log.remove(removed.nodeId()).get(30, TimeUnit.SECONDS);
    }

    @Test
    void shouldKeepEverythingWhenItGrowsToThreeAndShrinksToAnotherOne() throws Exception {
        try (TestQuorum quorum = TestQuorum.ofOne(directory, TestVoter.SMALL)) {
            // given a log without its first entries
            TestVoter founder = quorum.awaitLeader();
            founder.proposeAll(0, 300);

            // when it grows
            TestVoter second = quorum.addJoining(2).open();
            TestVoter third = quorum.addJoining(3).open();
            addVoter(founder, second);
            assertThat(founder.log.members().voters()).containsExactlyInAnyOrder(1, 2);
            founder.proposeAll(300, 10);
            addVoter(founder, third);
            assertThat(founder.log.members().voters()).containsExactlyInAnyOrder(1, 2, 3);
            founder.proposeAll(310, 10);

            // then
            second.awaitValues(upTo(320));
            third.awaitValues(upTo(320));

            // and when the leader itself is removed
            removeVoter(founder, founder.voter);
            founder.stop();
            TestVoter leader = quorum.awaitLeader();
            leader.proposeAll(320, 10);
            TestVoter last = leader == second ? third : second;
            last.awaitValues(upTo(330));
            removeVoter(leader, last.voter);
            last.stop();

            // then
            leader.proposeAll(330, 10);
            assertThat(leader.replica.values()).isEqualTo(upTo(340));
            assertThat(leader.log.members().voters()).containsExactly(leader.voter.nodeId());
        }
    }

    @Test
    void shouldRefuseAChangeOfVotersWhenItDoesNotLead() throws Exception {
        try (TestQuorum quorum = TestQuorum.ofThree(directory, LogSizes.DEFAULT)) {
            TestVoter leader = quorum.awaitLeader();
            TestVoter follower = quorum.others(leader).get(0);

            assertThatThrownBy(() -> removeVoter(follower, leader.voter))
                    .cause()
                    .hasMessageContaining("the voters did not change");
            assertThat(leader.log.members().voters()).hasSize(3);
        }
    }

    @Test
    void shouldNotVoteAsBeforeWhenItsDirectoryWasEmptied() throws Exception {
        try (TestQuorum quorum = TestQuorum.ofThree(directory, LogSizes.DEFAULT)) {
            // given
            TestVoter leader = quorum.awaitLeader();
            leader.proposeAll(0, 20);
            TestVoter other = quorum.others(leader).get(0);
            TestVoter emptied = quorum.others(leader).get(1);
            emptied.stop();
            new SystemFileStore().delete(emptied.directory);

            // when it comes back, with another directory at the same address
            QuorumVoter before = emptied.voter;
            TestVoter again = quorum.add(
                    new QuorumVoter(
                            before.nodeId(),
                            TestVoter.identity(before.nodeId()).directoryId(),
                            before.host(),
                            before.port()),
                    List.of());
            again.open();
            leader.proposeAll(20, 10);
            Thread.sleep(2 * RatisSettings.ELECTION_TIMEOUT_MAX_MS);

            // then it accepts nothing that is addressed to its predecessor
            assertThat(again.replica.size()).isZero();

            // and when it is needed for a majority
            other.stop();

            // then nothing is committed
            assertThat(leader.propose(30)).failsWithin(30, TimeUnit.SECONDS);
            TestVoter.await("the leader notices that it has no majority", () -> leader.role == Role.FOLLOWING);
            Thread.sleep(2 * RatisSettings.ELECTION_TIMEOUT_MAX_MS);
            assertThat(leader.role).isEqualTo(Role.FOLLOWING);
            assertThat(again.replica.size()).isZero();

            // and when it replaces its predecessor
            other.open();
            TestVoter newLeader = quorum.awaitLeader();
            assertThatThrownBy(() -> addVoter(newLeader, again))
                    .hasCauseInstanceOf(TimeoutException.class)
                    .hasMessageContaining("is not fenced yet");
            newLeader.log.add(again.voter, true).get(30, TimeUnit.SECONDS);
            assertThat(newLeader.log.members().voters()).hasSize(3);
            newLeader.proposeAll(newLeader.replica.size(), 10);
            again.awaitValues(newLeader.replica.values());
            assertThat(newLeader.replica.values()).isEqualTo(upTo(newLeader.replica.size()));
        }
    }

    /** A change of the voters by a leader. */
    private interface Change {
        void by(TestVoter leader) throws Exception;
    }

    /** Repeats a change until a leader has made it. On a busy machine, another voter can become the leader. */
    private static void change(TestQuorum quorum, Change change) {
        TestVoter.await("the voters have changed", () -> {
            try {
                change.by(quorum.awaitLeader());
                return true;
            } catch (Exception notNow) {
                return false;
            }
        });
    }

    /** Proposes records until a leader has {@code end} of them. */
    private static void grow(TestQuorum quorum, long end) {
        change(quorum, leader -> leader.proposeAll(leader.replica.size(), (int) end - leader.replica.size()));
    }

    /** Removes a voter, which does not lead, while it is stopped. */
    private static TestVoter removeStopped(TestQuorum quorum) throws Exception {
        TestVoter removed = quorum.others(quorum.awaitLeader()).get(0);
        removed.awaitValues(upTo(10));
        removed.stop();
        change(quorum, leader -> removeVoter(leader, removed.voter));
        return removed;
    }

    @Test
    void shouldOpenItsServerAgainWhenItVotesAgainAfterItWasRemoved() throws Exception {
        try (TestQuorum quorum = TestQuorum.ofThree(directory, LogSizes.DEFAULT)) {
            // given a voter that was removed, and whose log has everything since then
            grow(quorum, 10);
            TestVoter again = removeStopped(quorum);
            grow(quorum, 20);
            again.open();
            change(quorum, leader -> addVoter(leader, again));
            again.awaitValues(upTo(20));

            // when its server closes itself
            again.log.ratis().close();

            // then
            grow(quorum, 30);
            again.awaitValues(upTo(30));
        }
    }

    private static boolean isClosed(RaftServer server) {
        try {
            return server.getDivision(QuorumMembers.groupId(TestVoter.CLUSTER))
                    .getInfo()
                    .getLifeCycleState()
                    .isClosingOrClosed();
        } catch (IOException closed) {
            return true;
        }
    }

    @Test
    void shouldVoteAgainWhenItIsAddedAfterItsServerHasClosedItself() throws Exception {
        try (TestQuorum quorum = TestQuorum.ofThree(directory, LogSizes.DEFAULT)) {
            // given
            grow(quorum, 10);
            TestVoter again = removeStopped(quorum);

            // when it has asked for votes, and closed its server, before it is added
            again.admission = () -> {
                RaftServer first = again.log.ratis();
                TestVoter.await("its server has closed itself", () -> isClosed(first));
                change(quorum, leader -> addVoter(leader, again));
            };
            again.open();

            // then
            grow(quorum, 20);
            again.awaitValues(upTo(20));
        }
    }
}
