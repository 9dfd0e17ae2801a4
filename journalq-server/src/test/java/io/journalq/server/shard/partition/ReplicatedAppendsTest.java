package io.journalq.server.shard.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.journal.FaultyFileStore;
import io.journalq.server.journal.JournalConfig;
import io.journalq.server.journal.file.SystemFileStore;
import io.journalq.server.producerstate.ProducerDedup;
import io.journalq.server.replication.IsrProposal;
import io.journalq.server.replication.ReplicaSet;
import io.journalq.server.shard.append.DeliveryMode;
import io.journalq.server.shard.append.RequiredAcks;
import io.journalq.server.shard.partition.SteppedPartition.Outcome;
import io.journalq.server.shard.read.PartitionRead;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Appends with acks=all wait for the other in-sync replicas. The test fetches in the place of those. */
class ReplicatedAppendsTest {
    private static final short EPOCH = 0;
    private static final int FOLLOWER = 2;
    private static final int OTHER_FOLLOWER = 3;
    private static final int TIMEOUT_MS = 1_000;
    private static final int LONE_MS = 100;
    private static final int ALL = 1 << 20;

    @TempDir
    private Path directory;

    /** The threads that may block: they run when the test says so. */
    private final ArrayDeque<Runnable> blocking = new ArrayDeque<>();

    private SteppedPartition partition;
    private int partitionEpoch;

    private void open(DeliveryMode mode) throws IOException {
        partition = SteppedPartition.open(
                new FaultyFileStore(new SystemFileStore()), directory, JournalConfig.DEFAULT, mode, blocking::add);
        partition.setAcks(RequiredAcks.ALL, TIMEOUT_MS);
    }

    private void inSync(int required, int... others) {
        List<Integer> inSync = new ArrayList<>(List.of(SteppedPartition.NODE));
        for (int other : others) {
            inSync.add(other);
        }
        List<Integer> replicas = List.of(SteppedPartition.NODE, FOLLOWER, OTHER_FOLLOWER);
        partition.setReplicas(
                required, new ReplicaSet(SteppedPartition.NODE, EPOCH, ++partitionEpoch, replicas, inSync));
    }

    private void fetch(int replica, long offset) {
        PartitionRead read = partition.host().replication().readAsReplica(replica, 1, offset, EPOCH, -1, ALL, true);
        if (read.slice() != null) {
            read.slice().release();
        }
        partition.loop().run();
    }

    private void flush() {
        while (!blocking.isEmpty()) {
            blocking.remove().run();
            partition.loop().run();
        }
    }

    private void pass(long ms) {
        partition.loop().advance(ms);
        partition.loop().fireTimers();
    }

    @Test
    void shouldAcknowledgeWhenTheBatchIsWrittenAndThereIsOneReplica() throws IOException {
        // given
        open(DeliveryMode.EVENTUAL);
        partition.setAcks(RequiredAcks.LEADER, TIMEOUT_MS);
        assertThat(partition.append(1, EPOCH, 0, false, "a").error()).isEqualTo(ErrorCode.NONE);
        int timers = partition.loop().timerCount();

        // when
        partition.setAcks(RequiredAcks.ALL, TIMEOUT_MS);
        assertThat(partition.append(1, EPOCH, 1, false, "b").error()).isEqualTo(ErrorCode.NONE);

        // then

        assertThat(partition.loop().timerCount()).isEqualTo(timers);
        assertThat(partition.host().log().highWatermark()).isEqualTo(2);
    }

    @Test
    void shouldAcknowledgeWhenAllInSyncReplicasHaveTheBatch() throws IOException {
        // given
        open(DeliveryMode.EVENTUAL);
        inSync(2, FOLLOWER, OTHER_FOLLOWER);

        // when
        Outcome first = partition.append(1, EPOCH, 0, false, "a", "b");
        Outcome second = partition.append(1, EPOCH, 2, false, "c");
        fetch(FOLLOWER, 3);
        fetch(OTHER_FOLLOWER, 1);

        // then consumers see what all of them have
        assertThat(first.error()).isNull();
        assertThat(partition.host().log().highWatermark()).isEqualTo(1);
        fetch(OTHER_FOLLOWER, 2);
        assertThat(first.error()).isEqualTo(ErrorCode.NONE);
        assertThat(first.offset()).isZero();
        assertThat(second.error()).isNull();
        assertThat(partition.readCommitted(0, ALL)).containsExactly("a", "b");
        fetch(OTHER_FOLLOWER, 3);
        assertThat(second.error()).isEqualTo(ErrorCode.NONE);
    }

    @Test
    void shouldAcknowledgeADeletionWhenAllInSyncReplicasHaveDeletedTheRecords() throws IOException {
        // given
        List<ErrorCode> outcomes = new ArrayList<>();
        deleteTwoOfThree(outcomes);
        assertThat(partition.host().log().startOffset()).isEqualTo(2);

        // when one of them has, and then the other one
        tellStart(FOLLOWER, 2);
        assertThat(outcomes).isEmpty();
        tellStart(OTHER_FOLLOWER, 2);

        // then
        assertThat(outcomes).containsExactly(ErrorCode.NONE);
    }

    @Test
    void shouldNotWaitWithADeletionForReplicasThatHaveLeft() throws IOException {
        List<ErrorCode> outcomes = new ArrayList<>();
        deleteTwoOfThree(outcomes);
        tellStart(FOLLOWER, 2);

        inSync(1, FOLLOWER);
        pass(10);

        assertThat(outcomes).containsExactly(ErrorCode.NONE);
    }

    @Test
    void shouldSayThatADeletionIsNotSafeWhenAReplicaDoesNotTakePartInItOrAnotherLeads() throws IOException {
        List<ErrorCode> timedOut = new ArrayList<>();
        deleteTwoOfThree(timedOut);
        pass(TIMEOUT_MS);
        assertThat(timedOut).containsExactly(ErrorCode.REQUEST_TIMED_OUT);

        List<ErrorCode> replaced = new ArrayList<>();
        partition.host().deleteRecordsBefore(3, TIMEOUT_MS, replaced::add);
        flush();
        List<Integer> replicas = List.of(SteppedPartition.NODE, FOLLOWER, OTHER_FOLLOWER);
        partition.setReplicas(1, new ReplicaSet(FOLLOWER, EPOCH + 1, ++partitionEpoch, replicas, replicas));
        pass(10);
        assertThat(replaced).containsExactly(ErrorCode.NOT_LEADER_OR_FOLLOWER);
    }

    /** Two followers have the three records, and know of no deletion. */
    private void deleteTwoOfThree(List<ErrorCode> outcomes) throws IOException {
        open(DeliveryMode.EVENTUAL);
        inSync(1, FOLLOWER, OTHER_FOLLOWER);
        partition.append(1, EPOCH, 0, false, "a");
        partition.append(1, EPOCH, 1, false, "b");
        partition.append(1, EPOCH, 2, false, "c");
        fetch(FOLLOWER, 3);
        fetch(OTHER_FOLLOWER, 3);
        partition.host().deleteRecordsBefore(2, TIMEOUT_MS, outcomes::add);
        flush();
        pass(10);
    }

    private void tellStart(int replica, long offset) {
        partition.host().replication().onFetcher(replica, offset, this);
        pass(10);
    }

    @Test
    void shouldAcknowledgeFromTheLeaderAloneWhenTheSenderAsksForThat() throws IOException {
        // given
        open(DeliveryMode.EVENTUAL);
        inSync(1, FOLLOWER);
        Outcome waiting = partition.append(1, EPOCH, 0, false, "a");
        partition.setAcks(RequiredAcks.LEADER, TIMEOUT_MS);

        // when
        Outcome outcome = partition.append(1, EPOCH, 1, false, "b");

        // then
        assertThat(outcome.error()).isEqualTo(ErrorCode.NONE);
        assertThat(waiting.error()).isNull();
        assertThat(partition.host().log().highWatermark()).isZero();
    }

    @ParameterizedTest
    @EnumSource(names = {"EVENTUAL", "PERFORMANCE"})
    void shouldAcknowledgeOnlyWhatAllInSyncReplicasHaveWhenTheBrokerIsAboutToStop(DeliveryMode mode)
            throws IOException {
        // given
        open(mode);
        inSync(1, FOLLOWER);
        partition.setAcks(RequiredAcks.LEADER, TIMEOUT_MS);
        assertThat(partition.append(1, EPOCH, 0, false, "a").error()).isEqualTo(ErrorCode.NONE);

        // when
        partition.host().beginHandOver();
        partition.loop().run();

        // then it is not over before the follower has what was acknowledged without it
        assertThat(partition.host().canHandOver()).isFalse();
        Outcome held = partition.append(1, EPOCH, 1, false, "b");
        assertThat(held.error()).isNull();
        fetch(FOLLOWER, 1);
        assertThat(partition.host().canHandOver()).isTrue();
        assertThat(held.error()).isNull();
        fetch(FOLLOWER, 2);
        assertThat(held.error()).isEqualTo(ErrorCode.NONE);

        // and what waits then can be sent to the next leader
        Outcome refused = partition.append(1, EPOCH, 2, false, "c");
        assertThat(refused.error()).isNull();
        List<Integer> replicas = List.of(SteppedPartition.NODE, FOLLOWER);
        partition.setReplicas(1, new ReplicaSet(FOLLOWER, 1, ++partitionEpoch, replicas, List.of(FOLLOWER)));
        assertThat(refused.error()).isEqualTo(ErrorCode.NOT_LEADER_OR_FOLLOWER);
    }

    @Test
    void shouldWaitForTheDisksOfAllReplicasWhenTheModeIsConsistent() throws IOException {
        for (RequiredAcks acks : RequiredAcks.values()) {
            // given
            open(DeliveryMode.CONSISTENT);
            partition.setAcks(acks, TIMEOUT_MS);
            inSync(1, FOLLOWER);
            long end = partition.host().journal().endOffset();

            // when the other replica is faster, and then this one
            Outcome first = partition.append(1, EPOCH, (int) end, false, "a");
            fetch(FOLLOWER, end + 1);
            assertThat(first.error()).isNull();
            flush();
            assertThat(first.error()).isEqualTo(ErrorCode.NONE);
            Outcome second = partition.append(1, EPOCH, (int) end + 1, false, "b");
            flush();
            assertThat(second.error()).isNull();
            fetch(FOLLOWER, end + 2);

            // then
            assertThat(second.error()).isEqualTo(ErrorCode.NONE);
            partition.closeCleanly();
        }
    }

    @Test
    void shouldTimeOutAtTheDeadlineOfEachAppendWhenAReplicaIsBehind() throws IOException {
        // given
        open(DeliveryMode.EVENTUAL);
        inSync(1, FOLLOWER);
        Outcome late = partition.append(1, EPOCH, 0, false, "a");
        int timers = partition.loop().timerCount();
        partition.setAcks(RequiredAcks.ALL, TIMEOUT_MS / 2);
        Outcome early = partition.append(1, EPOCH, 1, false, "b");
        partition.setAcks(RequiredAcks.ALL, TIMEOUT_MS);
        Outcome latest = partition.append(1, EPOCH, 2, false, "c");

        // then there is one timer for all of them
        assertThat(partition.loop().timerCount()).isEqualTo(timers);

        // when
        pass(TIMEOUT_MS / 2 - 1);
        assertThat(early.error()).isNull();
        pass(1);
        assertThat(early.error()).isEqualTo(ErrorCode.REQUEST_TIMED_OUT);
        assertThat(late.error()).isNull();
        fetch(FOLLOWER, 2);
        assertThat(late.error()).isEqualTo(ErrorCode.NONE);
        pass(TIMEOUT_MS);

        // then
        assertThat(latest.error()).isEqualTo(ErrorCode.REQUEST_TIMED_OUT);
    }

    @Test
    void shouldAcknowledgeARepeatedBatchAtItsFirstPlaceWhenItsReplicationTimedOut() throws IOException {
        // given
        open(DeliveryMode.EVENTUAL);
        inSync(1, FOLLOWER);
        Outcome first = partition.append(1, EPOCH, 0, false, "a");
        pass(TIMEOUT_MS);
        assertThat(first.error()).isEqualTo(ErrorCode.REQUEST_TIMED_OUT);

        // when
        Outcome again = partition.append(1, EPOCH, 0, false, "a");
        assertThat(again.error()).isNull();
        fetch(FOLLOWER, 1);

        // then
        assertThat(again.error()).isEqualTo(ErrorCode.NONE);
        assertThat(again.offset()).isZero();
        assertThat(partition.append(1, EPOCH, 0, false, "a").error()).isEqualTo(ErrorCode.NONE);
        assertThat(partition.host().journal().endOffset()).isEqualTo(1);
    }

    @Test
    void shouldAcknowledgeARepeatedBatchThatIsOlderThanWhatIsRememberedWhenItIsReplicated() throws IOException {
        // given many batches that no other replica has
        open(DeliveryMode.EVENTUAL);
        inSync(1, FOLLOWER);
        int batches = 5 * ProducerDedup.REMEMBERED_BATCHES;
        for (int i = 0; i < batches; i++) {
            partition.append(1, EPOCH, i, false, "record " + i);
        }

        // when the second is sent again
        Outcome again = partition.append(1, EPOCH, 1, false, "record 1");
        fetch(FOLLOWER, 1);
        assertThat(again.error()).isNull();
        fetch(FOLLOWER, batches);

        // then
        assertThat(again.error()).isEqualTo(ErrorCode.DUPLICATE_SEQUENCE_NUMBER);
        assertThat(again.offset()).isEqualTo(-1);
        assertThat(partition.host().journal().endOffset()).isEqualTo(batches);
    }

    @Test
    void shouldAppendNothingWithAcksAllWhenTooFewReplicasAreInSync() throws IOException {
        // given
        open(DeliveryMode.EVENTUAL);
        inSync(3, FOLLOWER);

        // when, then
        assertThat(partition.append(1, EPOCH, 0, false, "a").error()).isEqualTo(ErrorCode.NOT_ENOUGH_REPLICAS);
        assertThat(partition.mark(1, EPOCH, true).error()).isEqualTo(ErrorCode.NOT_ENOUGH_REPLICAS);
        assertThat(partition.host().journal().endOffset()).isZero();

        // and acks=1 does not ask for the others
        partition.setAcks(RequiredAcks.LEADER, TIMEOUT_MS);
        assertThat(partition.append(1, EPOCH, 0, false, "a").error()).isEqualTo(ErrorCode.NONE);
        assertThat(partition.host().log().highWatermark()).isZero();

        // unless the mode is consistent
        partition.setMode(DeliveryMode.CONSISTENT);
        assertThat(partition.append(1, EPOCH, 1, false, "b").error()).isEqualTo(ErrorCode.NOT_ENOUGH_REPLICAS);
    }

    @Test
    void shouldRejectAcksOfOneInModeConsistentOnlyWhileTheLeaderIsNotEnough() throws IOException {
        // given a leader without other replicas that needs one
        open(DeliveryMode.EVENTUAL);
        inSync(2);
        partition.setAcks(RequiredAcks.LEADER, TIMEOUT_MS);
        assertThat(partition.append(1, EPOCH, 0, false, "a").error()).isEqualTo(ErrorCode.NONE);
        assertThat(partition.host().log().highWatermark()).isZero();

        // when
        inSync(1);

        // then
        assertThat(partition.host().log().highWatermark()).isEqualTo(1);
    }

    @Test
    void shouldRejectWhatIsAppendedWhenTheInSyncReplicasBecomeTooFew() throws IOException {
        // given
        open(DeliveryMode.EVENTUAL);
        inSync(2, FOLLOWER, OTHER_FOLLOWER);
        Outcome first = partition.append(1, EPOCH, 0, false, "a");
        fetch(FOLLOWER, 1);

        // when one is left, which is enough
        inSync(2, FOLLOWER);
        assertThat(first.error()).isEqualTo(ErrorCode.NONE);
        Outcome second = partition.append(1, EPOCH, 1, false, "b");
        Outcome staged = partition.stage(1, EPOCH, 2, false, "c");

        // and then none
        inSync(2);

        // then
        assertThat(second.error()).isEqualTo(ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND);
        assertThat(staged.error()).isEqualTo(ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND);
        assertThat(partition.host().log().highWatermark()).isEqualTo(1);
    }

    @Test
    void shouldAcknowledgeWhatWaitsWhenTheReplicaThatIsBehindLeaves() throws IOException {
        open(DeliveryMode.EVENTUAL);
        inSync(1, FOLLOWER);
        Outcome waiting = partition.append(1, EPOCH, 0, false, "a");

        inSync(1);

        assertThat(waiting.error()).isEqualTo(ErrorCode.NONE);
        assertThat(partition.append(1, EPOCH, 1, false, "b").error()).isEqualTo(ErrorCode.NONE);
    }

    @Test
    void shouldEndATransactionForConsumersWhenItsMarkerIsReplicated() throws IOException {
        // given
        open(DeliveryMode.PERFORMANCE);
        inSync(1, FOLLOWER);
        Outcome batch = partition.append(1, EPOCH, 0, true, "a");
        assertThat(batch.error()).isNull();
        Outcome marker = partition.mark(1, EPOCH, true);

        // when, then
        fetch(FOLLOWER, 1);
        assertThat(batch.error()).isEqualTo(ErrorCode.NONE);
        assertThat(marker.error()).isNull();
        assertThat(partition.readCommitted(0, ALL)).isEmpty();
        fetch(FOLLOWER, 2);
        assertThat(marker.error()).isEqualTo(ErrorCode.NONE);
        assertThat(partition.readCommitted(0, ALL)).containsExactly("a");
    }

    /** Looks for records that only the leader has, after some time. */
    private boolean isBehindAfter(long ms) {
        partition.loop().advance(ms);
        boolean behind = partition
                .host()
                .replication()
                .observe(LONE_MS, TimeUnit.NANOSECONDS.toMillis(partition.loop().nanoTime()));
        partition.loop().run();
        return behind;
    }

    @Test
    void shouldAcknowledgeNothingAloneWhileAReplicaLacksWhatWasAcknowledgedTooLongAgo() throws IOException {
        for (DeliveryMode mode : List.of(DeliveryMode.EVENTUAL, DeliveryMode.PERFORMANCE)) {
            // given a record that only the leader has
            open(mode);
            partition.setAcks(RequiredAcks.LEADER, TIMEOUT_MS);
            inSync(1, FOLLOWER);
            int end = (int) partition.host().journal().endOffset();
            fetch(FOLLOWER, end);
            assertThat(partition.append(1, EPOCH, end, false, "a").error()).isEqualTo(ErrorCode.NONE);
            assertThat(isBehindAfter(0)).isFalse();
            assertThat(isBehindAfter(LONE_MS - 1)).isFalse();
            assertThat(partition.append(1, EPOCH, end + 1, false, "b").error()).isEqualTo(ErrorCode.NONE);

            // when
            assertThat(isBehindAfter(1)).isTrue();
            Outcome held = partition.append(1, EPOCH, end + 2, false, "c");

            // then
            assertThat(held.error()).isNull();
            partition.loop().fireTimers(); // writes what was acknowledged from memory
            assertThat(partition
                            .host()
                            .replica()
                            .propose(id -> true, 60_000, LONE_MS)
                            .members())
                    .extracting(IsrProposal.Member::brokerId)
                    .containsExactly(SteppedPartition.NODE);
            held = partition.append(1, EPOCH, end + 3, false, "d");
            assertThat(held.error()).isNull();
            fetch(FOLLOWER, end + 1);
            assertThat(held.error()).isEqualTo(ErrorCode.NONE);
            assertThat(partition.append(1, EPOCH, end + 4, false, "e").error()).isEqualTo(ErrorCode.NONE);
            partition.closeCleanly();
        }
    }

    @Test
    void shouldAcknowledgeWhatIsHeldWhenTheReplicaThatIsBehindLeaves() throws IOException {
        // given
        open(DeliveryMode.EVENTUAL);
        partition.setAcks(RequiredAcks.LEADER, TIMEOUT_MS);
        inSync(2, FOLLOWER);
        partition.append(1, EPOCH, 0, false, "a");
        isBehindAfter(0);
        assertThat(isBehindAfter(LONE_MS)).isTrue();
        Outcome held = partition.append(1, EPOCH, 1, false, "b");
        assertThat(held.error()).isNull();

        // when
        inSync(2);

        // then acks=1 does not need a second one, although consumers do not see the record
        assertThat(held.error()).isEqualTo(ErrorCode.NONE);
        assertThat(partition.host().log().highWatermark()).isZero();
    }

    @Test
    void shouldLetOnlyRecordsCountThatWereAcknowledged() throws IOException {
        open(DeliveryMode.EVENTUAL);
        inSync(1, FOLLOWER);
        Outcome waiting = partition.append(1, EPOCH, 0, false, "a");

        assertThat(isBehindAfter(0)).isFalse();
        assertThat(isBehindAfter(LONE_MS - 1)).isFalse();
        assertThat(isBehindAfter(LONE_MS - 1)).isFalse();

        assertThat(waiting.error()).isNull();
    }

    @Test
    void shouldLetProducersContinueBehindALossWhenAnotherLeaderAcknowledgedFromMemory() throws IOException {
        for (DeliveryMode mode : List.of(DeliveryMode.PERFORMANCE, DeliveryMode.EVENTUAL)) {
            // given a follower that has a part of what its leader has acknowledged
            open(mode);
            List<Integer> replicas = List.of(SteppedPartition.NODE, FOLLOWER);
            partition.setReplicas(
                    1, new ReplicaSet(SteppedPartition.NODE, EPOCH, ++partitionEpoch, replicas, replicas));
            partition.setAcks(RequiredAcks.LEADER, TIMEOUT_MS);
            int end = (int) partition.host().journal().endOffset();
            partition.append(1, EPOCH, end, false, "a");
            partition.setReplicas(1, new ReplicaSet(FOLLOWER, EPOCH + 1, ++partitionEpoch, replicas, replicas));

            // when it leads, and the producer continues behind a record that is lost
            partition.setReplicas(
                    1,
                    new ReplicaSet(
                            SteppedPartition.NODE,
                            EPOCH + 2,
                            ++partitionEpoch,
                            replicas,
                            List.of(SteppedPartition.NODE)));
            Outcome first = partition.append(1, EPOCH, end + 2, false, "c");
            Outcome again = partition.append(1, EPOCH, end + 2, false, "c");

            // then
            if (mode == DeliveryMode.PERFORMANCE) {
                assertThat(first.error()).isEqualTo(ErrorCode.NOT_LEADER_OR_FOLLOWER);
                assertThat(again.error()).isEqualTo(ErrorCode.NONE);
            } else {
                assertThat(again.error()).isEqualTo(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER);
            }
            partition.closeCleanly();
        }
    }

    @Test
    void shouldLetProducersContinueBehindALossWhenTheOnlyReplicaHasMovedHere() throws IOException {
        // given the new replica of a partition that moves, which has a part of what its leader has acknowledged
        open(DeliveryMode.PERFORMANCE);
        List<Integer> replicas = List.of(SteppedPartition.NODE, FOLLOWER);
        partition.setReplicas(1, new ReplicaSet(SteppedPartition.NODE, EPOCH, ++partitionEpoch, replicas, replicas));
        partition.setAcks(RequiredAcks.LEADER, TIMEOUT_MS);
        partition.append(1, EPOCH, 0, false, "a");
        partition.setReplicas(1, new ReplicaSet(FOLLOWER, EPOCH + 1, ++partitionEpoch, replicas, replicas));

        // when the leader leaves, and the producer continues behind a record that is lost
        List<Integer> only = List.of(SteppedPartition.NODE);
        partition.setReplicas(1, new ReplicaSet(SteppedPartition.NODE, EPOCH + 2, ++partitionEpoch, only, only));
        Outcome first = partition.append(1, EPOCH, 2, false, "c");
        Outcome again = partition.append(1, EPOCH, 2, false, "c");

        // then
        assertThat(first.error()).isEqualTo(ErrorCode.NOT_LEADER_OR_FOLLOWER);
        assertThat(again.error()).isEqualTo(ErrorCode.NONE);
    }

    @Test
    void shouldRejectWhatWaitsWhenThePartitionLeavesOrGoesOffline() throws IOException {
        open(DeliveryMode.EVENTUAL);
        inSync(1, FOLLOWER);
        Outcome offline = partition.append(1, EPOCH, 0, false, "a");
        partition.host().takeOffline(new IOException("the disk is gone"));
        assertThat(offline.error()).isEqualTo(ErrorCode.KAFKA_STORAGE_ERROR);

        open(DeliveryMode.EVENTUAL);
        inSync(1, FOLLOWER);
        Outcome leaving = partition.append(1, EPOCH, 1, false, "b");
        partition.host().close();
        assertThat(leaving.error()).isEqualTo(ErrorCode.NOT_LEADER_OR_FOLLOWER);
        pass(TIMEOUT_MS);
        fetch(FOLLOWER, 2);
    }
}
