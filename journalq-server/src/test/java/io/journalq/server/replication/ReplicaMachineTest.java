package io.journalq.server.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.protocol.ErrorCode;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReplicaMachineTest {
    private static final int SELF = 1;
    private static final List<Integer> REPLICAS = List.of(1, 2, 3);
    private static final long BROKER_EPOCH = 7;
    private static final long MAX_LAG_MS = 1_000;
    private static final long MAX_LONE_MS = 500;

    private int partitionEpoch;

    private ReplicaSet set(int leaderEpoch, Integer... inSync) {
        return new ReplicaSet(SELF, leaderEpoch, ++partitionEpoch, REPLICAS, List.of(inSync));
    }

    private static ReplicaMachine alone(long endOffset, long highWatermark, int epoch) {
        ReplicaMachine replica = new ReplicaMachine(endOffset, highWatermark);
        replica.lead(SELF, ReplicaSet.ofOne(SELF, epoch), 1, 0);
        return replica;
    }

    private static boolean fetch(ReplicaMachine replica, int from, long offset) {
        return replica.onFetch(from, BROKER_EPOCH, offset, 0);
    }

    private static List<Integer> members(IsrProposal proposal) {
        return proposal.members().stream().map(IsrProposal.Member::brokerId).toList();
    }

    private static IsrProposal propose(ReplicaMachine replica, long nowMs) {
        return replica.propose(id -> true, MAX_LAG_MS, nowMs);
    }

    // ---- alone

    @Test
    void shouldAdvanceTheHighWatermarkWhenRecordsAreSafe() {
        ReplicaMachine replica = new ReplicaMachine(10, 4);
        assertThat(replica.highWatermark()).isEqualTo(4);

        // Recovery has made them safe.
        assertThat(replica.lead(SELF, ReplicaSet.ofOne(SELF, 0), 1, 0)).isTrue();
        assertThat(replica.highWatermark()).isEqualTo(10);
        assertThat(replica.isSufficient()).isTrue();

        replica.onWritten(12);
        assertThat(replica.endOffset()).isEqualTo(12);
        assertThat(replica.highWatermark()).isEqualTo(10);
        assertThat(replica.onSafe(12)).isTrue();
        assertThat(replica.highWatermark()).isEqualTo(12);
    }

    @Test
    void shouldNeverMoveTheHighWatermarkBack() {
        ReplicaMachine replica = alone(10, 7, 0);

        assertThat(replica.onSafe(7)).isFalse();
        assertThat(replica.highWatermark()).isEqualTo(10);
        assertThatThrownBy(() -> replica.onWritten(9)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldEndTheHighWatermarkWithTheLogWhenRecordsWereLost() {
        ReplicaMachine replica = new ReplicaMachine(5, 9);

        assertThat(replica.highWatermark()).isEqualTo(5);
        assertThatThrownBy(() -> replica.onSafe(6)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldTellAClientWhetherItsEpochIsOlderOrNewer() {
        ReplicaMachine replica = alone(0, 0, 4);

        assertThat(replica.checkEpoch(-1)).isEqualTo(ErrorCode.NONE);
        assertThat(replica.checkEpoch(4)).isEqualTo(ErrorCode.NONE);
        assertThat(replica.checkEpoch(3)).isEqualTo(ErrorCode.FENCED_LEADER_EPOCH);
        assertThat(replica.checkEpoch(5)).isEqualTo(ErrorCode.UNKNOWN_LEADER_EPOCH);
    }

    // ---- as a leader

    @Test
    void shouldNotCountAFetchOfAnEarlierLifeOfABroker() {
        ReplicaMachine replica = new ReplicaMachine(10, 0);
        replica.lead(SELF, set(0, 1, 2), 1, 0);
        replica.onFetch(3, BROKER_EPOCH, 4, 0);

        // when a fetch arrives late that the broker has sent before it started again
        replica.onFetch(3, BROKER_EPOCH - 1, 10, 0);

        // then the replica is still where its broker is now
        assertThat(replica.isCandidate(3)).isFalse();
        replica.onFetch(3, BROKER_EPOCH, 10, 0);
        assertThat(propose(replica, 0).members()).contains(new IsrProposal.Member(3, BROKER_EPOCH));
    }

    @Test
    void shouldAdvanceTheHighWatermarkToWhatAllInSyncReplicasHave() {
        // given
        ReplicaMachine replica = new ReplicaMachine(10, 4);
        assertThat(replica.lead(SELF, set(0, 1, 2, 3), 2, 0)).isFalse();
        assertThat(replica.isSufficient()).isFalse();
        assertThat(replica.hasEnoughReplicas()).isTrue();
        assertThat(replica.hasReachedStart()).isFalse();

        // when, then
        assertThat(fetch(replica, 2, 8)).isFalse();
        assertThat(fetch(replica, 3, 6)).isTrue();
        assertThat(replica.highWatermark()).isEqualTo(6);
        assertThat(fetch(replica, 3, 10)).isTrue();
        assertThat(replica.highWatermark()).isEqualTo(8);
        assertThat(replica.hasReachedStart()).isFalse();
        assertThat(fetch(replica, 2, 10)).isTrue();
        assertThat(replica.highWatermark()).isEqualTo(10);
        assertThat(replica.hasReachedStart()).isTrue();

        // and it waits for its own disk
        replica.onWritten(12);
        assertThat(fetch(replica, 2, 12)).isFalse();
        assertThat(fetch(replica, 3, 12)).isFalse();
        assertThat(replica.onSafe(11)).isTrue();
        assertThat(replica.highWatermark()).isEqualTo(11);
    }

    @Test
    void shouldIgnoreFetchesOfReplicasThatAreNotInSyncAndOffsetsThatAreNotInTheLog() {
        ReplicaMachine replica = new ReplicaMachine(10, 4);
        replica.lead(SELF, set(0, 1, 2), 1, 0);

        assertThat(fetch(replica, 3, 10)).isFalse();
        assertThat(fetch(replica, 4, 10)).isFalse();
        assertThat(fetch(replica, 2, 11)).isFalse();
        assertThat(fetch(replica, 2, 3)).isFalse();
        assertThat(replica.highWatermark()).isEqualTo(4);
        assertThat(fetch(replica, 2, 10)).isTrue();
        assertThat(replica.highWatermark()).isEqualTo(10);
    }

    @Test
    void shouldAdvanceWhenTheReplicaThatIsBehindLeavesAndRestWhenTooFewAreLeft() {
        // given
        ReplicaMachine replica = new ReplicaMachine(10, 4);
        replica.lead(SELF, set(0, 1, 2, 3), 2, 0);
        fetch(replica, 2, 7);
        fetch(replica, 3, 5);
        assertThat(replica.highWatermark()).isEqualTo(5);

        // when, then
        assertThat(replica.lead(SELF, set(0, 1, 2), 2, 0)).isTrue();
        assertThat(replica.highWatermark()).isEqualTo(7);
        assertThat(replica.lead(SELF, set(0, 1), 2, 0)).isFalse();
        assertThat(replica.hasEnoughReplicas()).isFalse();
        assertThat(replica.isSufficient()).isFalse();
        assertThat(replica.highWatermark()).isEqualTo(7);

        // and a replica that joins counts with what it has
        assertThat(replica.lead(SELF, set(0, 1, 3), 2, 0)).isFalse();
        assertThat(fetch(replica, 3, 9)).isTrue();
        assertThat(replica.highWatermark()).isEqualTo(9);
        assertThat(replica.lead(SELF, set(0, 1), 1, 0)).isTrue();
        assertThat(replica.highWatermark()).isEqualTo(10);
    }

    @Test
    void shouldCountRecordsFromTheFirstOneThatAReplicaThatNeverFetchedLacks() {
        // given a new partition
        ReplicaMachine replica = new ReplicaMachine(0, 0);
        replica.lead(SELF, set(0, 1, 2, 3), 2, 0);
        replica.onWritten(5);

        // when, then
        replica.observe(5, MAX_LONE_MS, 100);
        assertThat(replica.isBehindAcknowledgements()).isFalse();
        replica.observe(5, MAX_LONE_MS, 100 + MAX_LONE_MS - 1);
        assertThat(replica.isBehindAcknowledgements()).isFalse();
        replica.observe(5, MAX_LONE_MS, 100 + MAX_LONE_MS);
        assertThat(replica.isBehindAcknowledgements()).isTrue();
        assertThat(members(propose(replica, 100 + MAX_LONE_MS))).containsExactly(1);
    }

    @Test
    void shouldCountRecordsThatWereAcknowledgedBeforeTheProcessWasPaused() {
        // given a leader that is observed, and then acknowledges records that nobody fetches
        ReplicaMachine replica = new ReplicaMachine(0, 0);
        replica.lead(SELF, set(0, 1, 2, 3), 2, 0);
        replica.observe(0, MAX_LONE_MS, 100);
        replica.onWritten(5);

        // when it does not run for long
        replica.observe(5, MAX_LONE_MS, 100 + MAX_LONE_MS);

        // then the records may be that old
        assertThat(replica.isBehindAcknowledgements()).isTrue();
    }

    @Test
    void shouldLetNoReplicaJoinThatLacksRecordsThatTheLeaderAcknowledgedLongAgo() {
        // given a leader that is the only in-sync replica, and acknowledges records while the high watermark rests
        ReplicaMachine replica = new ReplicaMachine(0, 0);
        replica.lead(SELF, set(0, 1), 2, 0);
        for (int written = 1; written <= 10; written++) {
            replica.onWritten(written);
            replica.observe(written, MAX_LONE_MS, written * 100L);
        }
        assertThat(replica.highWatermark()).isZero();

        // when replicas have what consumers may have seen, but not what may have been acknowledged 500 ms ago
        fetch(replica, 2, 0);
        fetch(replica, 3, 4);

        // then
        assertThat(propose(replica, 1_000)).isNull();
        fetch(replica, 2, 6);
        assertThat(members(propose(replica, 1_000))).containsExactly(1, 2);
        assertThat(replica.isBehindAcknowledgements()).isFalse();
    }

    @Test
    void shouldStayBehindItsAcknowledgementsWhenItLeadsOnInANewEpoch() {
        // given a leader that has acknowledged records long ago which another in-sync replica lacks
        ReplicaMachine replica = new ReplicaMachine(0, 0);
        replica.lead(SELF, set(0, 1, 2), 2, 0);
        replica.onWritten(5);
        replica.observe(5, MAX_LONE_MS, 100);
        replica.observe(5, MAX_LONE_MS, 100 + MAX_LONE_MS);
        assertThat(replica.isBehindAcknowledgements()).isTrue();

        // when another replica leaves, which begins an epoch
        replica.lead(SELF, set(1, 1, 2), 2, 100 + MAX_LONE_MS);

        // then it still acknowledges nothing alone, until the others have these records
        assertThat(replica.isBehindAcknowledgements()).isTrue();
        fetch(replica, 2, 5);
        assertThat(replica.isBehindAcknowledgements()).isFalse();
    }

    @Test
    void shouldIgnoreOlderMetadataOfTheSameEpoch() {
        ReplicaMachine replica = new ReplicaMachine(10, 4);
        ReplicaSet older = set(0, 1);
        replica.lead(SELF, set(0, 1, 2), 1, 0);

        assertThat(replica.lead(SELF, older, 1, 0)).isFalse();

        assertThat(replica.highWatermark()).isEqualTo(4);
    }

    @Test
    void shouldTakeANewRequiredSizeWhenThePartitionStaysTheSame() {
        // given a replica in sync that has everything, where two more are required
        ReplicaMachine replica = new ReplicaMachine(10, 4);
        ReplicaSet same = set(0, 1, 2);
        replica.lead(SELF, same, 3, 0);
        fetch(replica, 2, 10);
        assertThat(replica.highWatermark()).isEqualTo(4);
        assertThat(replica.hasEnoughReplicas()).isFalse();

        // when the topic requires one less, then
        assertThat(replica.lead(SELF, same, 2, 0)).isTrue();
        assertThat(replica.highWatermark()).isEqualTo(10);
        assertThat(replica.hasEnoughReplicas()).isTrue();

        // and when it requires more again
        assertThat(replica.lead(SELF, same, 3, 0)).isFalse();
        assertThat(replica.hasEnoughReplicas()).isFalse();
    }

    @Test
    void shouldWaitForNobodyWhenTheOtherReplicasHaveMovedAway() {
        // given a leader that waits for another replica
        ReplicaMachine replica = new ReplicaMachine(10, 4);
        replica.lead(SELF, set(0, 1, 2), 1, 0);
        assertThat(replica.highWatermark()).isEqualTo(4);

        // when it is the only replica that a reassignment leaves, in the same epoch
        ReplicaSet only = new ReplicaSet(SELF, 0, ++partitionEpoch, List.of(SELF), List.of(SELF));

        // then
        assertThat(replica.lead(SELF, only, 1, 0)).isTrue();
        assertThat(replica.highWatermark()).isEqualTo(10);
        assertThat(replica.isReplica(2)).isFalse();
        assertThat(replica.isSufficient()).isTrue();
    }

    @Test
    void shouldKnowWhenAllInSyncReplicasHaveTheRecords() {
        ReplicaMachine replica = new ReplicaMachine(10, 4);
        replica.lead(SELF, set(0, 1, 2), 1, 0);
        fetch(replica, 2, 8);

        assertThat(replica.hasReplicated(8)).isTrue();
        assertThat(replica.hasReplicated(9)).isFalse();
        fetch(replica, 2, 10);
        assertThat(replica.hasReplicated(10)).isTrue();
    }

    @Test
    void shouldWaitWithADeletionForTheReplicasInSyncOnly() {
        // given two replicas in sync
        ReplicaMachine replica = new ReplicaMachine(10, 10);
        replica.lead(SELF, set(0, 1, 2, 3), 1, 0);
        replica.onStartOffset(2, 5);
        replica.onStartOffset(3, 4);

        // when, then
        assertThat(replica.isDeletedBefore(4)).isTrue();
        assertThat(replica.isDeletedBefore(5)).isFalse();

        // and one that leaves is not waited for
        replica.lead(SELF, set(0, 1, 2), 1, 0);
        assertThat(replica.isDeletedBefore(5)).isTrue();
        assertThat(replica.isDeletedBefore(6)).isFalse();
    }

    @Test
    void shouldNameAllBrokersThatCouldLeadNext() {
        // given a replica in sync, and one that is only eligible
        ReplicaMachine replica = new ReplicaMachine(10, 10);
        replica.lead(
                SELF,
                new ReplicaSet(
                        SELF, 0, ++partitionEpoch, List.of(1, 2, 3, 4), List.of(1, 2), List.of(3), -1, List.of()),
                3,
                0);
        assertThat(replica.successors()).containsExactly(2, 3);

        // when another one may have become one of them
        fetch(replica, 2, 10);
        fetch(replica, 4, 10);
        assertThat(members(propose(replica, 0))).containsExactly(1, 2, 4);

        // then
        assertThat(replica.successors()).containsExactly(2, 3, 4);
    }

    @Test
    void shouldForgetWhatOthersHadWhenANewEpochBegins() {
        // given
        ReplicaMachine replica = new ReplicaMachine(10, 4);
        replica.lead(SELF, set(0, 1, 2), 1, 0);
        fetch(replica, 2, 10);
        replica.onWritten(12);
        replica.onSafe(12);

        // when
        assertThat(replica.lead(SELF, set(1, 1, 2), 1, 0)).isFalse();

        // then
        assertThat(replica.highWatermark()).isEqualTo(10);
        assertThat(replica.hasReachedStart()).isFalse();
        assertThat(fetch(replica, 2, 12)).isTrue();
        assertThatThrownBy(() -> replica.lead(SELF, set(0, 1), 1, 0)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldNameTheInSyncReplicaFromWhichAConsumerCanRead() {
        ReplicaMachine replica = new ReplicaMachine(10, 0);
        replica.lead(SELF, set(0, 1, 2, 3), 1, 0);
        fetch(replica, 2, 4);
        fetch(replica, 3, 8);

        // then it is the one with the longest log, if the position of the consumer is in it
        assertThat(replica.readable(id -> true, 4)).isEqualTo(3);
        assertThat(replica.readable(id -> id == 2, 4)).isEqualTo(2);
        assertThat(replica.readable(id -> id == 2, 5)).isEqualTo(-1);
        assertThat(replica.readable(id -> true, 9)).isEqualTo(-1);
        replica.onStartOffset(3, 5);
        assertThat(replica.readable(id -> true, 4)).isEqualTo(2);
        assertThat(replica.readable(id -> true, 5)).isEqualTo(3);

        // and none that is not in sync, or if it does not lead
        replica.lead(SELF, set(0, 1, 2), 1, 0);
        assertThat(replica.readable(id -> true, 4)).isEqualTo(2);
        assertThat(replica.readable(id -> id == 3, 5)).isEqualTo(-1);
        replica.follow(2, 1);
        assertThat(replica.readable(id -> true, 0)).isEqualTo(-1);
    }

    // ---- proposals

    @Test
    void shouldProposeAReplicaWhenItHasEverythingThatMayHaveBeenSeen() {
        // given a leader whose epoch begins at 10
        ReplicaMachine replica = new ReplicaMachine(10, 4);
        replica.lead(SELF, set(0, 1, 2), 1, 0);
        fetch(replica, 3, 9);
        assertThat(replica.isCandidate(3)).isFalse();
        assertThat(propose(replica, 0)).isNull();

        // when
        fetch(replica, 3, 10);

        // then
        assertThat(replica.isCandidate(3)).isTrue();
        IsrProposal proposal = propose(replica, 0);
        assertThat(members(proposal)).containsExactly(1, 2, 3);
        assertThat(proposal.members().get(2).brokerEpoch()).isEqualTo(BROKER_EPOCH);
        assertThat(proposal.partitionEpoch()).isEqualTo(partitionEpoch);

        // and there is one proposal at a time
        assertThat(replica.isCandidate(3)).isFalse();
        assertThat(propose(replica, 0)).isNull();
    }

    @Test
    void shouldAddNoReplicaThatHasEndedItsFetches() {
        // given an in-sync replica with all records, which the controller removes because its disk has failed
        ReplicaMachine replica = new ReplicaMachine(10, 10);
        replica.lead(SELF, set(1, 1, 2, 3), 2, 0);
        Object fetcher = new Object();
        replica.onFetcher(3, fetcher);
        fetch(replica, 2, 10);
        fetch(replica, 3, 10);
        replica.lead(SELF, set(1, 1, 2), 2, 0);

        // when
        replica.onForgotten(3, fetcher);

        // then
        assertThat(propose(replica, 0)).isNull();

        // and it joins when it fetches again, also if the end of an older session is noticed late
        replica.onFetcher(3, new Object());
        fetch(replica, 3, 10);
        replica.onForgotten(3, fetcher);
        assertThat(members(propose(replica, 0))).containsExactly(1, 2, 3);
    }

    @Test
    void shouldNotProposeAReplicaThatMayNotJoin() {
        ReplicaMachine replica = new ReplicaMachine(10, 4);
        replica.lead(SELF, set(0, 1, 2), 1, 0);
        fetch(replica, 3, 10);

        assertThat(replica.propose(id -> id != 3, MAX_LAG_MS, 0)).isNull();
    }

    @Test
    void shouldWaitForBothSetsWhenTheOutcomeOfAProposalIsUnknown() {
        // given a proposal that a replica joins
        ReplicaMachine replica = new ReplicaMachine(10, 10);
        replica.lead(SELF, set(0, 1, 2), 1, 0);
        fetch(replica, 2, 10);
        fetch(replica, 3, 10);
        IsrProposal joins = propose(replica, 0);
        replica.onWritten(12);
        replica.onSafe(12);

        // when, then
        assertThat(fetch(replica, 2, 12)).isFalse();
        assertThat(replica.highWatermark()).isEqualTo(10);
        assertThat(fetch(replica, 3, 11)).isTrue();
        assertThat(replica.highWatermark()).isEqualTo(11);

        // and when it was refused
        assertThat(replica.isOpen(joins)).isTrue();
        assertThat(replica.onRefused(joins, 0)).isTrue();
        assertThat(replica.highWatermark()).isEqualTo(12);
        assertThat(replica.isOpen(joins)).isFalse();
        assertThat(propose(replica, 0)).isNull();
        fetch(replica, 3, 12);
        assertThat(members(propose(replica, MAX_LAG_MS))).containsExactly(1, 2, 3);
    }

    @Test
    void shouldNotWaitForAProposedReplicaWhenNewerMetadataHaveSettledTheProposal() {
        // given a proposal that a replica joins
        ReplicaMachine replica = new ReplicaMachine(10, 10);
        replica.lead(SELF, set(0, 1, 2), 1, 0);
        fetch(replica, 3, 10);
        assertThat(members(propose(replica, 0))).containsExactly(1, 2, 3);

        // when the metadata change without it
        replica.lead(SELF, set(0, 1, 2), 1, 0);

        // then the high watermark waits for the others only
        replica.onWritten(12);
        replica.onSafe(12);
        assertThat(fetch(replica, 2, 12)).isTrue();
        assertThat(replica.highWatermark()).isEqualTo(12);
    }

    @Test
    void shouldStillWaitForAProposedReplicaWhenTheSameMetadataComeAgain() {
        // given a proposal that a replica joins, which the controller may have accepted
        ReplicaMachine replica = new ReplicaMachine(10, 10);
        ReplicaSet same = set(0, 1, 2);
        replica.lead(SELF, same, 1, 0);
        fetch(replica, 3, 10);
        IsrProposal joins = propose(replica, 0);
        replica.onWritten(12);
        replica.onSafe(12);

        // when only a setting of the topic has changed
        replica.lead(SELF, same, 1, 0);

        // then the replica may be elected, so that it must have what consumers see
        assertThat(replica.isOpen(joins)).isTrue();
        assertThat(fetch(replica, 2, 12)).isFalse();
        assertThat(replica.highWatermark()).isEqualTo(10);
    }

    @Test
    void shouldIgnoreTheRefusalOfAnEarlierProposal() {
        // given a proposal that newer metadata have settled, and another one
        ReplicaMachine replica = new ReplicaMachine(10, 10);
        replica.lead(SELF, set(0, 1, 2), 1, 0);
        fetch(replica, 3, 10);
        IsrProposal earlier = propose(replica, 0);
        replica.lead(SELF, set(0, 1, 2), 1, 0);
        IsrProposal open = propose(replica, 0);
        assertThat(open).isNotEqualTo(earlier);
        replica.onWritten(12);
        replica.onSafe(12);
        fetch(replica, 2, 12);

        // when the refusal of the first one comes late
        assertThat(replica.onRefused(earlier, 0)).isFalse();

        // then the high watermark waits for the replica that may be in sync now
        assertThat(replica.isOpen(open)).isTrue();
        assertThat(replica.highWatermark()).isEqualTo(10);
    }

    @Test
    void shouldWaitForALaggingReplicaUntilItHasLeft() {
        // given
        ReplicaMachine replica = new ReplicaMachine(10, 10);
        replica.lead(SELF, set(0, 1, 2, 3), 2, 0);
        replica.onFetch(2, BROKER_EPOCH, 10, 0);
        replica.onFetch(3, BROKER_EPOCH, 10, 0);
        replica.onWritten(12);
        replica.onSafe(12);
        replica.onFetch(2, BROKER_EPOCH, 12, MAX_LAG_MS);
        assertThat(propose(replica, MAX_LAG_MS)).isNull();

        // when
        IsrProposal leaves = propose(replica, MAX_LAG_MS + 1);

        // then
        assertThat(members(leaves)).containsExactly(1, 2);
        assertThat(replica.highWatermark()).isEqualTo(10);
        assertThat(replica.lead(SELF, set(0, 1, 2), 2, 0)).isTrue();
        assertThat(replica.highWatermark()).isEqualTo(12);
    }

    /** While nothing is written, fetches are parked. */
    @Test
    void shouldNotCountTheTimeInWhichNothingWasWrittenAsLag() {
        // given a replica that has everything
        ReplicaMachine replica = new ReplicaMachine(10, 10);
        replica.lead(SELF, set(0, 1, 2), 2, 0);
        replica.onFetch(2, BROKER_EPOCH, 10, 0);
        long writtenMs = 60 * MAX_LAG_MS;
        replica.observe(10, MAX_LONE_MS, writtenMs);

        // when
        replica.onWritten(12);

        // then
        assertThat(propose(replica, writtenMs + MAX_LAG_MS)).isNull();
        assertThat(members(propose(replica, writtenMs + MAX_LAG_MS + 1))).containsExactly(1);
    }

    @Test
    void shouldLetAReplicaThatFetchesNoMoreLeaveWhenItIsBehind() {
        // given a replica that has everything, and does not fetch
        Object fetcher = new Object();
        ReplicaMachine replica = new ReplicaMachine(10, 10);
        replica.lead(SELF, set(0, 1, 2), 2, 0);
        replica.onFetcher(2, fetcher);
        replica.onFetch(2, BROKER_EPOCH, 10, 0);
        replica.onForgotten(2, fetcher);
        replica.observe(10, MAX_LONE_MS, 2 * MAX_LAG_MS);

        // when
        replica.onWritten(12);

        // then
        assertThat(members(propose(replica, 2 * MAX_LAG_MS))).containsExactly(1);
    }

    @Test // seed 601682 of 3 brokers
    void shouldNotLetALaggingReplicaJoinAgainBeforeItHasCaughtUp() {
        // given a replica that has left, while the high watermark rests because too few are left
        ReplicaMachine replica = new ReplicaMachine(10, 10);
        replica.lead(SELF, set(0, 1, 3), 2, 0);
        replica.onFetch(3, BROKER_EPOCH, 10, 0);
        replica.onWritten(12);
        replica.onSafe(12);
        long nowMs = MAX_LAG_MS + 1;
        assertThat(members(propose(replica, nowMs))).containsExactly(1);
        replica.lead(SELF, set(0, 1), 2, nowMs);
        assertThat(replica.highWatermark()).isEqualTo(10);

        // when, then
        assertThat(propose(replica, nowMs)).isNull();
        replica.onFetch(3, BROKER_EPOCH, 12, nowMs);
        assertThat(members(propose(replica, nowMs))).containsExactly(1, 3);
    }

    @Test
    void shouldKeepAReplicaThatHadEverythingShortlyBefore() {
        // given a replica that is always one batch behind
        ReplicaMachine replica = new ReplicaMachine(10, 10);
        replica.lead(SELF, set(0, 1, 2), 1, 0);
        long end = 10;
        for (long nowMs = 0; nowMs < 5 * MAX_LAG_MS; nowMs += MAX_LAG_MS / 2) {
            replica.onFetch(2, BROKER_EPOCH, end - 1, nowMs);
            end++;
            replica.onWritten(end);
            replica.onSafe(end);

            // then
            assertThat(propose(replica, nowMs)).isNull();
        }
    }

    // ---- as a follower

    @Test
    void shouldTakeTheHighWatermarkOfTheLeaderAsFarAsItsLogReaches() {
        ReplicaMachine replica = new ReplicaMachine(10, 4);
        replica.follow(2, 5);

        assertThat(replica.isLeader()).isFalse();
        assertThat(replica.hasEnoughReplicas()).isFalse();
        assertThat(replica.leaderEpoch()).isEqualTo(5);
        assertThat(replica.onLeaderHighWatermark(12)).isTrue();
        assertThat(replica.highWatermark()).isEqualTo(10);
        replica.onWritten(11);
        assertThat(replica.onSafe(11)).isTrue();
        assertThat(replica.highWatermark()).isEqualTo(11);
        assertThat(fetch(replica, 3, 11)).isFalse();
    }

    @Test
    void shouldForgetTheHighWatermarkOfTheLastLeaderWhenItFollowsAnother() {
        ReplicaMachine replica = new ReplicaMachine(10, 4);
        replica.follow(2, 5);
        replica.onLeaderHighWatermark(12);
        replica.follow(3, 6);

        replica.onWritten(12);
        assertThat(replica.onSafe(12)).isFalse();
        assertThat(replica.highWatermark()).isEqualTo(10);
    }

    @Test
    void shouldCutOnlyWhatNobodyMayHaveSeen() {
        ReplicaMachine replica = new ReplicaMachine(10, 4);
        replica.follow(2, 5);

        assertThat(replica.cut(3, false)).isFalse();
        assertThat(replica.role()).isInstanceOf(FollowerRole.class);
        assertThat(replica.cut(4, false)).isTrue();
        assertThat(replica.role()).isEqualTo(new CuttingRole(5, 4));
        assertThat(replica.onLeaderHighWatermark(10)).isFalse();
    }

    @Test
    void shouldCutWhatConsumersHaveSeenWhenANewerEpochHasBegunWithoutIt() {
        ReplicaMachine replica = new ReplicaMachine(10, 4);
        replica.follow(2, 5);

        assertThat(replica.cut(3, true)).isTrue();
        assertThat(replica.role()).isEqualTo(new CuttingRole(5, 3));
    }

    @Test
    void shouldLeadFromItsEndWhenItIsElected() {
        ReplicaMachine replica = new ReplicaMachine(10, 4);
        replica.follow(2, 5);

        replica.lead(SELF, set(6, 1, 3), 1, 0);

        assertThat(replica.role()).isInstanceOfSatisfying(LeaderRole.class, leading -> assertThat(leading.startOffset())
                .isEqualTo(10));
        assertThat(fetch(replica, 3, 10)).isTrue();
        assertThat(replica.highWatermark()).isEqualTo(10);
    }
}
