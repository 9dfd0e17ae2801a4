package io.journalq.server.shard.partition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.InvalidBatchException;
import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.JournalConfig;
import io.journalq.server.replication.FollowerRole;
import io.journalq.server.replication.ReplicaSet;
import io.journalq.server.shard.append.RequiredAcks;
import io.journalq.server.shard.partition.SteppedPartition.Outcome;
import io.journalq.server.shard.read.PartitionRead;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A partition leads, follows another broker, and leads again. */
class ReplicaRolesTest {
    private static final short PRODUCER_EPOCH = 0;
    private static final int OTHER = 2;
    private static final int ALL = 1 << 20;
    private static final List<Integer> REPLICAS = List.of(SteppedPartition.NODE, OTHER);

    @TempDir
    private Path directory;

    private SteppedPartition partition;
    private int partitionEpoch;

    @BeforeEach
    void open() throws IOException {
        partition = SteppedPartition.open(directory, JournalConfig.DEFAULT);
        partition.setAcks(RequiredAcks.ALL, 1_000);
    }

    private void lead(int epoch, Integer... inSync) {
        partition.setReplicas(
                1, new ReplicaSet(SteppedPartition.NODE, epoch, ++partitionEpoch, REPLICAS, List.of(inSync)));
    }

    private void follow(int epoch) {
        partition.setReplicas(1, new ReplicaSet(OTHER, epoch, ++partitionEpoch, REPLICAS, REPLICAS));
    }

    /** A batch of one record, as a leader sends it. */
    private static ByteBuf batch(long offset, int epoch, int sequence, boolean transactional) {
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, CompressionCodec.NONE)) {
            builder.setProducerState(7, PRODUCER_EPOCH, sequence, transactional);
            builder.append(0, null, ("r" + offset).getBytes(StandardCharsets.US_ASCII), List.of());
            ByteBuf built = builder.build();
            RecordBatch.setBaseOffset(built, built.readerIndex(), offset);
            RecordBatch.setLeaderEpoch(built, built.readerIndex(), epoch);
            return built;
        }
    }

    private void append(long offset, int epoch, int sequence) {
        append(batch(offset, epoch, sequence, false));
    }

    private void append(ByteBuf batch) {
        try {
            partition.host().replication().appendFetched(batch);
        } finally {
            batch.release();
        }
        partition.loop().run();
    }

    @Test
    void shouldRejectWhatWaitsWhenAnotherBrokerLeads() {
        // given
        lead(0, SteppedPartition.NODE, OTHER);
        Outcome waiting = partition.append(1, PRODUCER_EPOCH, 0, false, "a");
        assertThat(waiting.error()).isNull();

        // when
        follow(1);

        // then
        assertThat(waiting.error()).isEqualTo(ErrorCode.NOT_LEADER_OR_FOLLOWER);
        assertThat(partition.append(1, PRODUCER_EPOCH, 1, false, "b").error())
                .isEqualTo(ErrorCode.NOT_LEADER_OR_FOLLOWER);
        assertThat(partition.host().read(0, -1, -1, ALL, true, false).error())
                .isEqualTo(ErrorCode.NOT_LEADER_OR_FOLLOWER);
        assertThat(partition.host().journal().endOffset()).isEqualTo(1);
        assertThat(partition.host().replica().role())
                .isInstanceOfSatisfying(
                        FollowerRole.class, role -> assertThat(role.leader()).isEqualTo(OTHER));
    }

    private ErrorCode readReplica(int replicaId, int epoch, long offset, long expectedEnd) {
        PartitionRead read =
                partition.host().replication().readAsReplica(replicaId, 1, offset, epoch, epoch, ALL, true);
        assertThat(read.slice() == null ? offset : read.slice().offsetLimit()).isEqualTo(expectedEnd);
        if (read.slice() != null) {
            read.slice().release();
        }
        return read.error();
    }

    @Test
    void shouldSendTheNextLeaderTheRestWhenAnotherBrokerLeads() {
        // given records that no other replica has
        lead(3, SteppedPartition.NODE, OTHER);
        partition.append(1, PRODUCER_EPOCH, 0, false, "a");
        partition.append(1, PRODUCER_EPOCH, 1, false, "b");

        // when
        follow(4);

        // then only the next leader gets them, only in the last epoch, and learns that there are no more
        assertThat(readReplica(OTHER, 3, 1, 2)).isEqualTo(ErrorCode.NONE);
        assertThat(readReplica(OTHER, 3, 2, 2)).isEqualTo(ErrorCode.NOT_LEADER_OR_FOLLOWER);
        assertThat(readReplica(OTHER, 4, 1, 1)).isEqualTo(ErrorCode.NOT_LEADER_OR_FOLLOWER);
        assertThat(readReplica(3, 3, 1, 1)).isEqualTo(ErrorCode.NOT_LEADER_OR_FOLLOWER);
        assertThat(partition.host().log().highWatermark()).isZero();

        // when the next leader has sent records of its own, or there is another one
        append(2, 4, 2);
        assertThat(readReplica(OTHER, 3, 1, 1)).isEqualTo(ErrorCode.NOT_LEADER_OR_FOLLOWER);
    }

    @Test
    void shouldSendNothingInAnEpochBeforeTheLastOneWhenTheLeaderHasChangedTwice() {
        lead(3, SteppedPartition.NODE, OTHER);
        partition.append(1, PRODUCER_EPOCH, 0, false, "a");

        follow(5);

        assertThat(readReplica(OTHER, 3, 0, 0)).isEqualTo(ErrorCode.NOT_LEADER_OR_FOLLOWER);
    }

    /** Begins to lead in epoch 2 while the leader of epoch 1 runs, and appends. */
    private Outcome beginToLead() {
        follow(1);
        append(0, 1, 0);
        partition.setLastLeaderLives(true);
        lead(2, SteppedPartition.NODE, OTHER);
        return partition.append(1, PRODUCER_EPOCH, 0, false, "new");
    }

    @Test
    void shouldLeadWhenTheLastLeaderHasSentTheRest() {
        // given
        Outcome first = beginToLead();
        assertThat(partition.host().leads()).isFalse();
        assertThat(first.error()).isNull();

        // when
        append(1, 1, 1);
        partition.host().replication().onLeaderRefusal();
        partition.loop().fireTimers();

        // then
        assertThat(partition.host().leads()).isTrue();
        assertThat(partition.host().leaderEpoch()).isEqualTo(2);
        assertThat(partition.host().journal().writtenOffset()).isEqualTo(3);
        assertThat(readReplica(OTHER, 2, 3, 3)).isEqualTo(ErrorCode.NONE);
        assertThat(first.error()).isEqualTo(ErrorCode.NONE);
        assertThat(first.offset()).isEqualTo(2);
        assertThat(partition.append(1, PRODUCER_EPOCH, 1, false, "next").error())
                .isNull();
    }

    @Test
    void shouldLeadWithoutTheRestWhenTheLastLeaderDoesNotRespond() {
        // given
        Outcome first = beginToLead();

        // when
        partition.host().replication().setLeaderResponds(false);
        partition.loop().fireTimers();

        // then
        assertThat(partition.host().leads()).isTrue();
        assertThat(partition.host().journal().writtenOffset()).isEqualTo(2);
        assertThat(readReplica(OTHER, 2, 2, 2)).isEqualTo(ErrorCode.NONE);
        assertThat(first.error()).isEqualTo(ErrorCode.NONE);
    }

    @Test
    void shouldLeadWithoutTheRestWhenTheLastLeaderTakesTooLong() {
        beginToLead();

        partition.loop().fireTimers();

        assertThat(partition.host().leads()).isTrue();
    }

    @Test
    void shouldLeadAtOnceWhenTheLastLeaderIsGone() {
        follow(1);
        append(0, 1, 0);

        lead(2, SteppedPartition.NODE, OTHER);

        assertThat(partition.host().leads()).isTrue();
    }

    @Test
    void shouldLeadAtOnceWhenTheLastLeaderDidNotRespondBefore() {
        follow(1);
        partition.host().replication().setLeaderResponds(false);
        partition.setLastLeaderLives(true);

        lead(2, SteppedPartition.NODE, OTHER);

        assertThat(partition.host().leads()).isTrue();
    }

    @Test
    void shouldRejectAppendsWhenAnotherBrokerLeadsBeforeTheLastLeaderHasStopped() {
        // given
        Outcome first = beginToLead();

        // when other in-sync replicas change nothing, and another leader does
        lead(2, SteppedPartition.NODE);
        assertThat(first.error()).isNull();
        follow(3);

        // then
        assertThat(first.error()).isEqualTo(ErrorCode.NOT_LEADER_OR_FOLLOWER);
        partition.loop().fireTimers();
        assertThat(partition.host().leads()).isFalse();
    }

    @Test
    void shouldRejectAppendsWhenItIsClosedBeforeTheLastLeaderHasStopped() {
        Outcome first = beginToLead();

        partition.host().close();

        assertThat(first.error()).isEqualTo(ErrorCode.NOT_LEADER_OR_FOLLOWER);
    }

    /** Follows, has not led for a while, and gets an append from a client that may know more. */
    private Outcome appendToFollower() {
        follow(2);
        append(0, 2, 0);
        partition.loop().advance(1_000);
        return partition.append(1, PRODUCER_EPOCH, 0, false, "early");
    }

    @Test
    void shouldAppendWhatArrivesBeforeItLearnsThatItLeads() {
        // given
        Outcome early = appendToFollower();
        assertThat(early.error()).isNull();

        // when
        lead(3, SteppedPartition.NODE);
        Outcome next = partition.append(1, PRODUCER_EPOCH, 1, false, "next");

        // then
        assertThat(early.error()).isEqualTo(ErrorCode.NONE);
        assertThat(early.offset()).isEqualTo(1);
        assertThat(next.offset()).isEqualTo(2);
    }

    @Test
    void shouldAppendWhatArrivesBeforeItLearnsThatItWillLeadAfterTheLastLeader() {
        // given
        Outcome early = appendToFollower();
        partition.setLastLeaderLives(true);
        lead(3, SteppedPartition.NODE);
        assertThat(early.error()).isNull();

        // when
        partition.host().replication().onLeaderRefusal();
        partition.loop().fireTimers();

        // then
        assertThat(early.error()).isEqualTo(ErrorCode.NONE);
    }

    @Test
    void shouldRejectAppendsWhenItStillFollowsAfterAMoment() {
        Outcome early = appendToFollower();

        partition.loop().fireTimers();

        assertThat(early.error()).isEqualTo(ErrorCode.NOT_LEADER_OR_FOLLOWER);
    }

    @Test
    void shouldRejectAppendsWhenItIsClosedOrAThirdBrokerLeadsBeforeAMomentHasPassed() {
        Outcome early = appendToFollower();
        follow(3);
        assertThat(early.error()).isEqualTo(ErrorCode.NOT_LEADER_OR_FOLLOWER);

        Outcome next = partition.append(1, PRODUCER_EPOCH, 1, false, "next");
        assertThat(next.error()).isNull();
        partition.host().close();

        assertThat(next.error()).isEqualTo(ErrorCode.NOT_LEADER_OR_FOLLOWER);
    }

    @Test
    void shouldRejectAppendsAtOnceWhenItIsNotInSync() {
        partition.setReplicas(1, new ReplicaSet(OTHER, 2, ++partitionEpoch, REPLICAS, List.of(OTHER)));

        assertThat(partition.append(1, PRODUCER_EPOCH, 0, false, "a").error())
                .isEqualTo(ErrorCode.NOT_LEADER_OR_FOLLOWER);
    }

    @Test
    void shouldForgetAnEpochWithoutRecordsWhenAnotherBrokerLeads() {
        lead(3, SteppedPartition.NODE, OTHER);
        assertThat(partition.host().journal().epochs().latest()).isEqualTo(3);

        follow(4);

        assertThat(partition.host().journal().epochs().latest()).isEqualTo(-1);
    }

    @Test
    void shouldAppendWhatTheLeaderSendsAndTakeItsOffsets() {
        // given
        follow(1);

        // when
        append(0, 0, 0);
        append(1, 1, 1);

        // then consumers will see what the leader says
        assertThat(partition.host().journal().writtenOffset()).isEqualTo(2);
        assertThat(partition.host().log().highWatermark()).isZero();
        partition.host().replication().onLeaderOffsets(1, 0);
        assertThat(partition.host().log().highWatermark()).isEqualTo(1);
        partition.host().replication().onLeaderOffsets(5, 1);
        assertThat(partition.host().log().highWatermark()).isEqualTo(2);
        assertThat(partition.host().log().startOffset()).isEqualTo(1);
        append(2, 1, 2);
        assertThat(partition.host().log().highWatermark()).isEqualTo(3);
    }

    private ErrorCode readFollower(long offset, int epoch, long expectedEnd) {
        PartitionRead read = partition.host().replication().readAsFollower(offset, epoch, -1, ALL, true, false);
        assertThat(read.slice() == null ? offset : read.slice().offsetLimit()).isEqualTo(expectedEnd);
        if (read.slice() != null) {
            read.slice().release();
        }
        return read.error();
    }

    @Test
    void shouldServeConsumersUpToTheHighWatermarkOfItsLeaderWhenItFollows() {
        // given three records, the first of them final as far as the leader has said
        follow(1);
        append(0, 1, 0);
        append(1, 1, 1);
        append(2, 1, 2);
        partition.host().replication().onLeaderOffsets(1, 0);

        // then
        assertThat(readFollower(0, 1, 1)).isEqualTo(ErrorCode.NONE);
        assertThat(readFollower(0, -1, 1)).isEqualTo(ErrorCode.NONE);
        assertThat(readFollower(1, 1, 1)).isEqualTo(ErrorCode.NONE);
        assertThat(readFollower(3, 1, 3)).isEqualTo(ErrorCode.NONE);
        partition.host().replication().onLeaderOffsets(5, 0);
        assertThat(readFollower(2, 1, 3)).isEqualTo(ErrorCode.NONE);

        // and consumers that are further, or know another leader, have to read from the leader
        assertThat(readFollower(4, 1, 4)).isEqualTo(ErrorCode.OFFSET_NOT_AVAILABLE);
        assertThat(readFollower(0, 0, 0)).isEqualTo(ErrorCode.FENCED_LEADER_EPOCH);
        assertThat(readFollower(0, 2, 0)).isEqualTo(ErrorCode.UNKNOWN_LEADER_EPOCH);
        partition.host().replication().onLeaderOffsets(5, 2);
        assertThat(readFollower(0, 1, 0)).isEqualTo(ErrorCode.OFFSET_OUT_OF_RANGE);
        assertThat(partition.host().read(2, 1, -1, ALL, true, false).error())
                .isEqualTo(ErrorCode.NOT_LEADER_OR_FOLLOWER);
    }

    @Test
    void shouldRefuseConsumersWhenItIsNotInSyncOrItsLeaderIsSilent() {
        // given
        follow(1);
        append(0, 1, 0);
        partition.host().replication().onLeaderOffsets(1, 0);
        assertThat(readFollower(0, 1, 1)).isEqualTo(ErrorCode.NONE);

        // when / then
        partition.host().replication().setLeaderResponds(false);
        assertThat(readFollower(0, 1, 0)).isEqualTo(ErrorCode.NOT_LEADER_OR_FOLLOWER);
        partition.host().replication().setLeaderResponds(true);
        assertThat(readFollower(0, 1, 1)).isEqualTo(ErrorCode.NONE);

        partition.setReplicas(1, new ReplicaSet(OTHER, 1, ++partitionEpoch, REPLICAS, List.of(OTHER)));
        assertThat(readFollower(0, 1, 0)).isEqualTo(ErrorCode.NOT_LEADER_OR_FOLLOWER);
    }

    @Test
    void shouldRefuseBatchesThatDoNotContinueTheLog() {
        follow(1);
        append(0, 1, 0);

        assertThatThrownBy(() -> append(0, 1, 1)).isInstanceOf(InvalidBatchException.class);
        assertThatThrownBy(() -> append(1, 0, 1)).isInstanceOf(InvalidBatchException.class);
        assertThatThrownBy(() -> append(1, 2, 1)).isInstanceOf(InvalidBatchException.class);
        assertThat(partition.host().journal().endOffset()).isEqualTo(1);
    }

    @Test
    void shouldKnowTheProducersOfTheLeaderWhenItIsElected() {
        // given a batch of a producer
        follow(1);
        append(0, 1, 0);

        // when
        lead(2, SteppedPartition.NODE);

        // then its repetition is found, and new batches have the new epoch
        assertThat(partition.append(7, PRODUCER_EPOCH, 0, false, "r0").offset()).isZero();
        Outcome next = partition.append(7, PRODUCER_EPOCH, 1, false, "next");
        assertThat(next.error()).isEqualTo(ErrorCode.NONE);
        assertThat(next.offset()).isEqualTo(1);
        assertThat(partition.host().journal().epochs().epochOf(1)).isEqualTo(2);
        assertThat(partition.host().log().highWatermark()).isEqualTo(2);
    }

    @Test
    void shouldKnowTheTransactionsOfTheLeaderWhenItIsElected() {
        // given a transaction that the leader has begun, and whose records are final
        follow(1);
        append(batch(0, 1, 0, true));
        partition.host().replication().onLeaderOffsets(1, 0);

        // when
        lead(2, SteppedPartition.NODE);

        // then it is open until it ends here
        assertThat(partition.host().log().highWatermark()).isEqualTo(1);
        assertThat(partition.host().log().lastStableOffset()).isZero();
        Outcome marker = partition.stageMarker(7, PRODUCER_EPOCH, true);
        partition.loop().run();
        assertThat(marker.error()).isEqualTo(ErrorCode.NONE);
        assertThat(partition.host().log().lastStableOffset()).isEqualTo(2);
    }

    @Test
    void shouldRefuseWhatWasVerifiedBeforeItWasElected() {
        // given a verification by an earlier leadership, since when another broker may have written a marker
        partition.setAcks(RequiredAcks.LEADER, 1_000);
        lead(0, SteppedPartition.NODE, OTHER);
        long guard = partition.guard();
        follow(1);
        lead(2, SteppedPartition.NODE, OTHER);

        // then the producer sends the batch again, and it is verified again
        assertThat(partition.appendVerified(guard, 7, PRODUCER_EPOCH, 0, "late").error())
                .isEqualTo(ErrorCode.NOT_LEADER_OR_FOLLOWER);
        assertThat(partition
                        .appendVerified(partition.guard(), 7, PRODUCER_EPOCH, 0, "again")
                        .error())
                .isEqualTo(ErrorCode.NONE);
    }

    @Test
    void shouldTellAReplicaWhereItsLogDivergesAndNotCountItsFetch() {
        // given a leader with one batch of epoch 0, whose epoch 2 begins behind it
        lead(0, SteppedPartition.NODE, OTHER);
        var unused = partition.append(1, PRODUCER_EPOCH, 0, false, "a");
        lead(2, SteppedPartition.NODE, OTHER);

        // when a replica has two batches of epoch 0
        PartitionRead read = partition.host().replication().readAsReplica(OTHER, 1, 2, 2, 0, ALL, true);

        // then
        assertThat(read.divergingEpoch().epoch()).isZero();
        assertThat(read.divergingEpoch().endOffset()).isEqualTo(1);
        assertThat(partition.host().log().highWatermark()).isZero();

        // and others are refused
        assertThat(partition
                        .host()
                        .replication()
                        .readAsReplica(OTHER, 1, 1, 1, 0, ALL, true)
                        .error())
                .isEqualTo(ErrorCode.FENCED_LEADER_EPOCH);
        assertThat(partition
                        .host()
                        .replication()
                        .readAsReplica(OTHER + 1, 1, 1, 2, 0, ALL, true)
                        .error())
                .isEqualTo(ErrorCode.UNKNOWN_LEADER_EPOCH);
        assertThat(partition.host().log().highWatermark()).isZero();

        // and when it has cut its log, its fetch counts
        assertThat(partition
                        .host()
                        .replication()
                        .readAsReplica(OTHER, 1, 1, 2, 0, ALL, true)
                        .error())
                .isEqualTo(ErrorCode.NONE);
        assertThat(partition.host().log().highWatermark()).isEqualTo(1);
    }

    @Test
    void shouldRefuseTheOffsetOfAConsumerThatHasRecordsOfALaterEpochThanThisLog() {
        // given
        lead(1, SteppedPartition.NODE);
        var unused = partition.append(1, PRODUCER_EPOCH, 0, false, "a");

        // when a consumer has read a topic of the same name, which was deleted
        PartitionRead read = partition.host().read(0, -1, 7, ALL, true, false);

        // then
        assertThat(read.error()).isEqualTo(ErrorCode.OFFSET_OUT_OF_RANGE);
        assertThat(read.divergingEpoch()).isNull();
    }

    private int bytesFor(long offset) {
        PartitionRead read = partition.host().replication().readAsReplica(OTHER, 1, offset, 0, -1, ALL, true);
        assertThat(read.error()).isEqualTo(ErrorCode.NONE);
        int sizeBytes = read.sizeBytes();
        if (read.slice() != null) {
            read.slice().release();
        }
        return sizeBytes;
    }

    @Test
    void shouldHoldAThrottledReplicaBackOnlyWhenItIsNotInSync() {
        // given
        lead(0, SteppedPartition.NODE);
        for (int i = 0; i < 10; i++) {
            var unused = partition.append(1, PRODUCER_EPOCH, i, false, "a");
        }
        partition
                .throttles()
                .limit(100, ReplicationThrottle.UNLIMITED, partition.loop().nanoTime());
        assertThat(bytesFor(0)).as("without throttled replicas").isPositive();

        // when
        partition.setThrottled(new ThrottledReplicas(List.of("0:" + SteppedPartition.NODE), List.of()));
        assertThat(bytesFor(0)).isZero();
        partition.loop().advance(100);
        assertThat(bytesFor(0)).isPositive();

        // then it waits until it has made up for what it has read
        assertThat(bytesFor(5)).isZero();
        partition.loop().advance(60_000);
        assertThat(bytesFor(5)).isPositive();
        assertThat(bytesFor(6)).isZero();

        // and does not wait when it is in sync
        lead(0, SteppedPartition.NODE, OTHER);
        assertThat(bytesFor(7)).isPositive();
        assertThat(bytesFor(8)).isPositive();

        // and no other broker's throttle applies here
        lead(0, SteppedPartition.NODE);
        partition.setThrottled(new ThrottledReplicas(List.of("0:" + OTHER, "1:" + SteppedPartition.NODE), List.of()));
        assertThat(bytesFor(8)).isPositive();
        partition.setThrottled(new ThrottledReplicas(List.of("*"), List.of()));
        assertThat(bytesFor(8)).isZero();
    }

    @Test
    void shouldCutItsJournalAndKeepTheRestWhenItIsClosed() throws IOException {
        // given
        follow(1);
        append(0, 1, 0);
        append(1, 1, 1);

        // when
        assertThat(partition.host().replication().beginCut(1)).isTrue();
        partition.host().close();
        partition.host().replication().cutJournal(1);
        open();

        // then
        assertThat(partition.host().journal().endOffset()).isEqualTo(1);
    }
}
