package io.journalq.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.quorum.QuorumConfig.LogSizes;
import io.journalq.server.control.MetadataLog.Role;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Servers that close themselves, full disks, proposals with unknown outcomes. */
@Tag("long")
class FaultTest {
    @TempDir
    Path directory;

    private static List<Long> upTo(long end) {
        return LongStream.range(0, end).boxed().toList();
    }

    @Test
    void shouldOpenAgainWhenTheServerHasClosedItself() throws Exception {
        try (TestVoter voter =
                TestVoter.single(directory, TestVoter.SMALL).open().awaitLeading()) {
            voter.proposeAll(0, 250);
            for (int time = 1; time <= 2; time++) {
                // Ratis does this after a pause beyond its threshold.
                voter.log.ratis().close();
                int leads = time + 1;
                TestVoter.await("it leads again", () -> Collections.frequency(voter.roles, Role.LEADING) == leads);
                assertThat(Collections.frequency(voter.roles, Role.FOLLOWING)).isEqualTo(time);

                assertThat(voter.replica.size()).isEqualTo(240 + 10 * time);
                voter.proposeAll(240 + 10 * time, 10);
            }
            assertThat(voter.replica.values()).isEqualTo(upTo(270));
            assertThat(voter.replica.restores()).as("the state stays").isZero();

            voter.stop();
            voter.open().awaitLeading();
            assertThat(voter.replica.values()).isEqualTo(upTo(270));
        }
    }

    @Test
    void shouldCatchUpWhenTheDiskOfAFollowerHasRoomAgain() throws Exception {
        try (TestQuorum quorum = TestQuorum.ofThree(directory, LogSizes.DEFAULT)) {
            TestVoter leader = quorum.awaitLeader();
            TestVoter follower = quorum.others(leader).get(0);
            leader.proposeAll(0, 20);
            follower.awaitValues(upTo(20));

            quorum.store(follower).full = true;
            leader.proposeAll(20, 20);
            assertThat(follower.replica.values()).isEqualTo(upTo(20));
            quorum.store(follower).full = false;

            follower.awaitValues(upTo(40));
            leader.proposeAll(40, 20);
            follower.awaitValues(upTo(60));
        }
    }

    @Test
    void shouldLetAnotherVoterLeadWhenTheDiskOfTheLeaderIsFull() throws Exception {
        try (TestQuorum quorum = TestQuorum.ofThree(directory, LogSizes.DEFAULT)) {
            TestVoter leader = quorum.awaitLeader();
            leader.proposeAll(0, 20);

            quorum.store(leader).full = true;
            assertThat(leader.propose(20)).failsWithin(20, TimeUnit.SECONDS);
            TestVoter next = quorum.awaitLeader();
            next.proposeAll(next.replica.size(), 20);
            quorum.store(leader).full = false;

            leader.awaitValues(next.replica.values());
            assertThat(next.replica.values()).isEqualTo(upTo(next.replica.size()));
        }
    }

    @Test
    void shouldApplyABatchAtMostOnceWhenItsOutcomeIsUnknown() throws Exception {
        try (TestQuorum quorum = TestQuorum.ofThree(directory, LogSizes.DEFAULT)) {
            // given a leader that has lost its majority
            TestVoter leader = quorum.awaitLeader();
            leader.proposeAll(0, 20);
            for (TestVoter follower : quorum.others(leader)) {
                follower.awaitValues(upTo(20));
                follower.stop();
            }

            // when it proposes
            CompletableFuture<Void> unknown = leader.propose(20);

            // then the proposal fails
            assertThat(unknown).failsWithin(30, TimeUnit.SECONDS);
            TestVoter.await("it does not lead", () -> leader.role == Role.FOLLOWING);
            assertThat(leader.propose(20)).isCompletedExceptionally();

            // and when the others are back, and the batch is proposed again at the same offset
            for (TestVoter follower : quorum.others(leader)) {
                follower.open();
            }
            TestVoter next = quorum.awaitLeader();
            CompletableFuture<Void> again = next.proposeAt(20, 20);
            TestVoter.await("the proposal is decided", again::isDone);

            // then it is applied once
            next.proposeAll(21, 10);
            for (TestVoter voter : quorum.voters) {
                voter.awaitValues(upTo(31));
            }
        }
    }

    @Test
    void shouldWaitUntilALostVoteIsOverWhenThePowerWasLost() throws Exception {
        try (TestVoter voter = TestVoter.single(directory, LogSizes.DEFAULT)) {
            long begin = System.nanoTime();
            voter.open(true);
            assertThat(millisSince(begin))
                    .as("a new directory has no votes")
                    .isLessThan(RatisMetadataLog.LOST_VOTE_WAIT_MS);
            voter.awaitLeading().proposeAll(0, 10);
            voter.stop();

            begin = System.nanoTime();
            voter.open(true).awaitLeading();
            assertThat(millisSince(begin)).isGreaterThanOrEqualTo(RatisMetadataLog.LOST_VOTE_WAIT_MS);
            assertThat(voter.replica.values()).isEqualTo(upTo(10));
        }
    }

    private static long millisSince(long beginNanos) {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beginNanos);
    }
}
