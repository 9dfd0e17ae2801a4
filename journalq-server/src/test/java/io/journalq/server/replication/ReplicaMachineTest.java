package io.journalq.server.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.protocol.ErrorCode;
import org.junit.jupiter.api.Test;

class ReplicaMachineTest {
    @Test
    void shouldAdvanceTheHighWatermarkWhenRecordsAreSafe() {
        ReplicaMachine replica = new ReplicaMachine(10, 4);
        assertThat(replica.highWatermark()).isEqualTo(4);

        assertThat(replica.onSafe(7)).isTrue();
        assertThat(replica.highWatermark()).isEqualTo(7);

        replica.onWritten(12);
        assertThat(replica.endOffset()).isEqualTo(12);
        assertThat(replica.highWatermark()).isEqualTo(7);
        assertThat(replica.onSafe(12)).isTrue();
        assertThat(replica.highWatermark()).isEqualTo(12);
    }

    @Test
    void shouldNeverMoveTheHighWatermarkBack() {
        ReplicaMachine replica = new ReplicaMachine(10, 7);

        assertThat(replica.onSafe(7)).isFalse();
        assertThat(replica.onSafe(3)).isFalse();

        assertThat(replica.highWatermark()).isEqualTo(7);
        assertThatThrownBy(() -> replica.onWritten(6)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldEndTheHighWatermarkWithTheLogWhenRecordsWereLost() {
        ReplicaMachine replica = new ReplicaMachine(5, 9);

        assertThat(replica.highWatermark()).isEqualTo(5);
        assertThatThrownBy(() -> replica.onSafe(6)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldBeginAnEpochOnceWhenItLeads() {
        ReplicaMachine replica = new ReplicaMachine(0, 0);

        assertThat(replica.lead(3)).isTrue();
        assertThat(replica.lead(3)).isFalse();
        assertThat(replica.lead(4)).isTrue();
        assertThat(replica.leaderEpoch()).isEqualTo(4);
        assertThatThrownBy(() -> replica.lead(3)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldTellAClientWhetherItsEpochIsOlderOrNewer() {
        ReplicaMachine replica = new ReplicaMachine(0, 0);
        replica.lead(4);

        assertThat(replica.checkEpoch(-1)).isEqualTo(ErrorCode.NONE);
        assertThat(replica.checkEpoch(4)).isEqualTo(ErrorCode.NONE);
        assertThat(replica.checkEpoch(3)).isEqualTo(ErrorCode.FENCED_LEADER_EPOCH);
        assertThat(replica.checkEpoch(5)).isEqualTo(ErrorCode.UNKNOWN_LEADER_EPOCH);
    }

    @Test
    void shouldAdvanceTheHighWatermarkToWhatAllInSyncReplicasHave() {
        // given
        ReplicaMachine replica = new ReplicaMachine(10, 4);
        assertThat(replica.isSufficient()).isTrue();
        assertThat(replica.onInSyncReplicas(new int[] {2, 3}, 2)).isFalse();
        assertThat(replica.isSufficient()).isFalse();
        assertThat(replica.hasEnoughReplicas()).isTrue();

        // when, then
        assertThat(replica.onSafe(9)).isFalse();
        assertThat(replica.onFetch(2, 8)).isFalse();
        assertThat(replica.onFetch(3, 6)).isTrue();
        assertThat(replica.highWatermark()).isEqualTo(6);
        assertThat(replica.onFetch(3, 10)).isTrue();
        assertThat(replica.highWatermark()).isEqualTo(8);
        assertThat(replica.onFetch(2, 10)).isTrue();
        assertThat(replica.highWatermark()).isEqualTo(9);
        assertThat(replica.onSafe(10)).isTrue();
    }

    @Test
    void shouldIgnoreFetchesOfReplicasThatAreNotInSyncAndOffsetsThatAreNotInTheLog() {
        ReplicaMachine replica = new ReplicaMachine(10, 4);
        replica.onInSyncReplicas(new int[] {2}, 1);
        replica.onSafe(10);

        assertThat(replica.onFetch(3, 10)).isFalse();
        assertThat(replica.onFetch(2, 11)).isFalse();
        assertThat(replica.onFetch(2, 3)).isFalse();
        assertThat(replica.highWatermark()).isEqualTo(4);
        assertThat(replica.onFetch(2, 10)).isTrue();
        assertThat(replica.highWatermark()).isEqualTo(10);
    }

    @Test
    void shouldAdvanceWhenTheReplicaThatIsBehindLeavesAndRestWhenTooFewAreLeft() {
        // given
        ReplicaMachine replica = new ReplicaMachine(10, 4);
        replica.onInSyncReplicas(new int[] {2, 3}, 2);
        replica.onSafe(10);
        replica.onFetch(2, 7);
        replica.onFetch(3, 5);
        assertThat(replica.highWatermark()).isEqualTo(5);

        // when, then
        assertThat(replica.onInSyncReplicas(new int[] {2}, 2)).isTrue();
        assertThat(replica.highWatermark()).isEqualTo(7);
        assertThat(replica.onInSyncReplicas(new int[] {}, 2)).isFalse();
        assertThat(replica.hasEnoughReplicas()).isFalse();
        assertThat(replica.isSufficient()).isFalse();
        assertThat(replica.highWatermark()).isEqualTo(7);

        // and a replica that joins must fetch first
        assertThat(replica.onInSyncReplicas(new int[] {4}, 2)).isFalse();
        assertThat(replica.onFetch(4, 9)).isTrue();
        assertThat(replica.highWatermark()).isEqualTo(9);
        assertThat(replica.onInSyncReplicas(new int[] {}, 1)).isTrue();
        assertThat(replica.highWatermark()).isEqualTo(10);
    }
}
