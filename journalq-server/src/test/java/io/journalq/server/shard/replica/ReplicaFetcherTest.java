package io.journalq.server.shard.replica;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.RecordsData;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.RecordBatch;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.journal.FaultyFileStore;
import io.journalq.server.journal.JournalConfig;
import io.journalq.server.journal.file.SystemFileStore;
import io.journalq.server.loop.Loop;
import io.journalq.server.peer.PeerChannel;
import io.journalq.server.peer.PeerChannels;
import io.journalq.server.replication.ReplicaSet;
import io.journalq.server.shard.append.DeliveryMode;
import io.journalq.server.shard.partition.PartitionHost;
import io.journalq.server.shard.partition.ReplicationThrottle;
import io.journalq.server.shard.partition.SteppedPartition;
import io.journalq.server.shard.partition.ThrottledReplicas;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a follower acknowledges with its fetches, and when. The test responds in the place of the leader. */
class ReplicaFetcherTest {
    private static final int LEADER = 2;
    private static final int EPOCH = 1;
    private static final int SESSION = 77;
    private static final int WRITE_AHEAD_BYTES = 1 << 20;
    private static final int SLOW_RESPONSE_MS = 100;

    @TempDir
    private Path directory;

    private final FaultyFileStore store = new FaultyFileStore(new SystemFileStore());
    /** Commits of the write-ahead files, which run when the test says so. */
    private final ArrayDeque<Runnable> committing = new ArrayDeque<>();

    private final Leader leader = new Leader();
    private final List<String> rewrites = new ArrayList<>();
    private SteppedPartition partition;
    private ReplicaFetcher fetcher;
    private int leaderEpoch = EPOCH;
    private int partitionEpoch;

    /** The leader, with one connection at a time. */
    private static final class Leader implements PeerChannels {
        private final List<FetchRequest> requests = new ArrayList<>();
        private PeerChannel.ResponseListener waiting;
        private int connections;

        @Override
        public CompletableFuture<ApiMessage> send(
                String host, int port, ApiMessage request, int version, int timeoutMs) {
            throw new UnsupportedOperationException();
        }

        @Override
        public PeerChannel open(String host, int port, Loop loop) {
            connections++;
            return new PeerChannel() {
                private boolean open = true;

                @Override
                public void send(ApiMessage request, int version, int timeoutMs, ResponseListener listener) {
                    assertThat(waiting).as("one request at a time").isNull();
                    requests.add((FetchRequest) request);
                    waiting = listener;
                }

                @Override
                public boolean isOpen() {
                    return open;
                }

                @Override
                public void close() {
                    open = false;
                    waiting = null;
                }
            };
        }

        @Override
        public void close() {}

        private FetchRequest last() {
            return requests.get(requests.size() - 1);
        }

        /** The offset up to which the last request acknowledges. */
        private long acknowledged() {
            return last().topics().get(0).partitions().get(0).fetchOffset();
        }
    }

    private void follow(DeliveryMode mode) throws IOException {
        partition = mode == DeliveryMode.CONSISTENT
                ? SteppedPartition.openCovered(store, directory, WRITE_AHEAD_BYTES, committing::add)
                : SteppedPartition.open(store, directory, JournalConfig.DEFAULT, mode);
        followEpoch(EPOCH);
        fetch();
    }

    private void fetch() {
        fetcher = newFetcher();
        fetcher.add(partition.host());
        partition.loop().run();
        assertThat(leader.acknowledged()).isZero();
    }

    private ReplicaFetcher newFetcher() {
        return new ReplicaFetcher(
                partition.cycle(),
                LEADER,
                partition.host().replication().acknowledgesSynced(),
                new ReplicaPeers(
                        SteppedPartition.NODE,
                        () -> 5,
                        leader,
                        id -> new ListenerAddress("PLAINTEXT", "leader", 9092),
                        id -> true,
                        (topicId, number, proposal) -> new CompletableFuture<>(),
                        (topicId, number, proposal) -> false,
                        1_000,
                        1_000),
                new PartitionRewrites() {
                    @Override
                    public void cut(PartitionHost host, long offset) {
                        rewrites.add("cut to " + offset);
                    }

                    @Override
                    public void takeOffline(PartitionHost host, String reason) {
                        rewrites.add("offline: " + reason);
                    }
                });
    }

    private void followEpoch(int epoch) {
        leaderEpoch = epoch;
        List<Integer> replicas = List.of(SteppedPartition.NODE, LEADER);
        partition.setReplicas(1, new ReplicaSet(LEADER, epoch, ++partitionEpoch, replicas, replicas));
    }

    private ByteBuf batch(long offset) {
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, CompressionCodec.NONE)) {
            builder.append(0, null, ("r" + offset).getBytes(StandardCharsets.US_ASCII), List.of());
            ByteBuf built = builder.build();
            RecordBatch.setBaseOffset(built, built.readerIndex(), offset);
            RecordBatch.setLeaderEpoch(built, built.readerIndex(), leaderEpoch);
            return built;
        }
    }

    private FetchResponse.PartitionData data() {
        return new FetchResponse.PartitionData().setPartitionIndex(0).setHighWatermark(0);
    }

    private void respond(FetchResponse.PartitionData... parts) {
        PeerChannel.ResponseListener listener = leader.waiting;
        leader.waiting = null;
        partition.loop().advance(SLOW_RESPONSE_MS);
        FetchResponse response = new FetchResponse().setSessionId(SESSION);
        if (parts.length > 0) {
            response.setResponses(List.of(new FetchResponse.FetchableTopicResponse()
                    .setTopicId(partition.host().topicId())
                    .setPartitions(List.of(parts))));
        }
        listener.onResponse(response);
    }

    private void respondWithBatch(long offset) {
        ByteBuf batch = batch(offset);
        respond(data().setRecords(RecordsData.of(batch)).setHighWatermark(offset));
        batch.release();
    }

    private void commit() {
        for (Runnable next = committing.poll(); next != null; next = committing.poll()) {
            next.run();
            partition.loop().run();
        }
    }

    @Test
    void shouldAcknowledgeWhatIsWrittenAtTheEndOfTheCycle() throws IOException {
        follow(DeliveryMode.EVENTUAL);

        respondWithBatch(0);
        assertThat(leader.requests).hasSize(1);
        // Another partition is added meanwhile: what is not written is not acknowledged.
        fetcher.add(partition.host());
        partition.loop().run();

        assertThat(partition.host().journal().writtenOffset()).isEqualTo(1);
        assertThat(leader.requests).hasSize(2);
        assertThat(leader.acknowledged()).isEqualTo(1);
        assertThat(leader.requests.get(1).sessionId()).isEqualTo(SESSION);
        respondWithBatch(1);
        partition.loop().run();
        assertThat(leader.acknowledged()).isEqualTo(2);
        assertThat(partition.host().log().highWatermark()).isEqualTo(1);
        assertThat(leader.connections).isEqualTo(1);
    }

    private void respondWithBatchBefore(long highWatermark, long offset) {
        ByteBuf batch = batch(offset);
        respond(data().setRecords(RecordsData.of(batch)).setHighWatermark(highWatermark));
        batch.release();
        partition.loop().run();
    }

    @Test
    void shouldWaitWithTheNextFetchWhenAThrottleIsExceededAndItIsNotInSync() throws IOException {
        // given a throttled replica
        follow(DeliveryMode.EVENTUAL);
        List<Integer> replicas = List.of(SteppedPartition.NODE, LEADER);
        partition.setThrottled(new ThrottledReplicas(List.of(), List.of("0:" + SteppedPartition.NODE)));
        partition
                .throttles()
                .limit(ReplicationThrottle.UNLIMITED, 100, partition.loop().nanoTime());
        partition.setReplicas(1, new ReplicaSet(LEADER, EPOCH, ++partitionEpoch, replicas, List.of(LEADER)));

        // when it has fetched more than it may, and more follows
        respondWithBatchBefore(10, 0);
        assertThat(partition.host().journal().writtenOffset()).isEqualTo(1);
        partition.loop().fireTimers();

        // then it waits until it has made up for that
        assertThat(leader.requests).hasSize(1);
        partition.loop().advance(10_000);
        partition.loop().fireTimers();
        assertThat(leader.requests).hasSize(2);
        assertThat(leader.acknowledged()).isEqualTo(1);

        // and does not wait for the last records
        respondWithBatchBefore(2, 1);
        assertThat(leader.requests).hasSize(3);
        assertThat(leader.acknowledged()).isEqualTo(2);

        // and never when it is in sync
        partition.setReplicas(1, new ReplicaSet(LEADER, EPOCH, ++partitionEpoch, replicas, replicas));
        respondWithBatchBefore(10, 2);
        respondWithBatchBefore(10, 3);
        assertThat(leader.acknowledged()).isEqualTo(4);
        assertThat(leader.connections).isEqualTo(1);
    }

    /** Follows a partition in mode eventual whose journal is synced by {@link #commit}. */
    private void followUnsynced() throws IOException {
        partition =
                SteppedPartition.open(store, directory, JournalConfig.DEFAULT, DeliveryMode.EVENTUAL, committing::add);
        followEpoch(EPOCH);
        fetch();
    }

    private void setInSync(Integer... inSync) {
        List<Integer> replicas = List.of(SteppedPartition.NODE, LEADER);
        partition.setReplicas(1, new ReplicaSet(LEADER, leaderEpoch, ++partitionEpoch, replicas, List.of(inSync)));
    }

    @Test
    void shouldSyncRecordsThatWereAcknowledgedWithoutItBeforeItCanJoin() throws IOException {
        // given a replica that is behind
        followUnsynced();
        setInSync(LEADER);
        respondWithBatchBefore(2, 0);
        assertThat(leader.acknowledged()).isEqualTo(1);

        // when it has everything that consumers may have seen
        respondWithBatchBefore(2, 1);

        // then it acknowledges that from the disk only
        assertThat(partition.host().journal().writtenOffset()).isEqualTo(2);
        assertThat(leader.requests).hasSize(2);
        commit();
        assertThat(partition.host().journal().flushedOffset()).isEqualTo(2);
        assertThat(leader.requests).hasSize(3);
        assertThat(leader.acknowledged()).isEqualTo(2);

        // and what was acknowledged in the meantime can be on the disk later, so that it can join under load
        respondWithBatchBefore(3, 2);
        assertThat(leader.acknowledged()).isEqualTo(3);
        partition.loop().advance(1_000);
        respondWithBatchBefore(4, 3);
        assertThat(leader.acknowledged()).isEqualTo(3);
        commit();
        assertThat(leader.acknowledged()).isEqualTo(4);

        // and nothing waits for the disk when it is in sync
        setInSync(SteppedPartition.NODE, LEADER);
        partition.loop().advance(1_000);
        respondWithBatchBefore(4, 4);
        assertThat(leader.acknowledged()).isEqualTo(5);
        assertThat(leader.connections).isEqualTo(1);
    }

    @Test
    void shouldFetchSoonAfterASyncWhenOtherPartitionsHaveNothingNew() throws IOException {
        // given a replica that is behind, and another partition that has the same leader
        followUnsynced();
        fetcher.add(partition.openAnother(1));
        setInSync(LEADER);
        respondWithBatchBefore(2, 0);
        assertThat(leader.last().maxWaitMs()).isEqualTo(500);
        int connections = leader.connections;

        // when what it has fetched is being synced
        respondWithBatchBefore(2, 1);

        // then the fetch of the other partition does not wait for long
        assertThat(leader.last().topics()).isEmpty();
        assertThat(leader.last().forgottenTopicsData()).hasSize(1);
        assertThat(leader.last().maxWaitMs()).isEqualTo(10);
        commit();

        // and the next one acknowledges the records
        respond();
        partition.loop().run();
        assertThat(leader.acknowledged()).isEqualTo(2);
        assertThat(leader.last().maxWaitMs()).isEqualTo(500);
        assertThat(leader.connections).isEqualTo(connections);
    }

    @Test
    void shouldSyncRecordsOfEarlierEpochsBeforeItCanJoin() throws IOException {
        // given a replica that has synced, and a new leader whose high watermark is older than some records
        followUnsynced();
        setInSync(LEADER);
        respondWithBatchBefore(0, 0);
        followEpoch(EPOCH + 1);
        setInSync(LEADER);
        commit();
        int requests = leader.requests.size();

        // when it sends them soon after that
        leaderEpoch = EPOCH;
        respondWithBatchBefore(2, 1);

        // then
        assertThat(partition.host().journal().writtenOffset()).isEqualTo(2);
        assertThat(leader.requests).hasSize(requests);
        commit();
        assertThat(leader.acknowledged()).isEqualTo(2);
    }

    @Test
    void shouldSyncWhatAnotherLeaderHasSentBeforeItCanJoin() throws IOException {
        // given a replica that is not in sync, and whose log is not on the disk
        followUnsynced();
        setInSync(LEADER);
        respondWithBatchBefore(5, 0);
        assertThat(partition.host().journal().flushedOffset()).isZero();

        // when it fetches from another one, over a connection of its own
        leader.waiting = null;
        int requests = leader.requests.size();
        fetcher = newFetcher();
        fetcher.add(partition.host());
        partition.loop().run();

        // then
        assertThat(leader.requests).hasSize(requests);
        commit();
        assertThat(partition.host().journal().flushedOffset()).isEqualTo(1);
        assertThat(leader.acknowledged()).isEqualTo(1);
    }

    @Test
    void shouldAcknowledgeOnlyWhatIsOnTheDiskWhenTheTopicIsConsistent() throws IOException {
        // given two batches that begin the journal and the write-ahead files
        follow(DeliveryMode.CONSISTENT);
        for (int i = 0; i < 2; i++) {
            respondWithBatch(i);
            partition.loop().run();
            commit();
        }
        assertThat(leader.acknowledged()).isEqualTo(2);
        int requests = leader.requests.size();

        // when
        respondWithBatch(2);
        partition.loop().run();

        // then
        assertThat(partition.host().journal().writtenOffset()).isEqualTo(3);
        assertThat(leader.requests).hasSize(requests);
        fetcher.add(partition.host());
        partition.loop().run();
        assertThat(leader.requests).hasSize(requests);
        commit();
        assertThat(leader.requests).hasSize(requests + 1);
        assertThat(leader.acknowledged()).isEqualTo(3);
    }

    @Test
    void shouldLeaveAPartitionOutWhenItsDiskFailsToSync() throws IOException {
        follow(DeliveryMode.CONSISTENT);
        store.setSyncFails(true);

        respondWithBatch(0);
        partition.loop().run();
        commit();

        assertThat(leader.requests).hasSize(1);
        partition.loop().fireTimers();
        commit();
        assertThat(leader.requests)
                .as("what is not on the disk is not acknowledged")
                .hasSize(1);
    }

    @Test
    void shouldLeaveAPartitionOutForAWhileWhenItsDiskRejectsWrites() throws IOException {
        follow(DeliveryMode.EVENTUAL);
        store.setFull(true);

        respondWithBatch(0);
        partition.loop().run();

        assertThat(leader.requests).hasSize(1);
        store.setFull(false);
        partition.loop().fireTimers();
        partition.loop().fireTimers();
        assertThat(leader.acknowledged()).isZero();
        respondWithBatch(0);
        partition.loop().run();
        assertThat(leader.acknowledged()).isEqualTo(1);
    }

    @Test
    void shouldIgnoreAResponseOfAnOlderEpoch() throws IOException {
        follow(DeliveryMode.EVENTUAL);

        followEpoch(EPOCH + 1);
        respondWithBatch(0);
        partition.loop().run();

        assertThat(partition.host().journal().endOffset()).isZero();
        assertThat(leader.requests
                        .get(leader.requests.size() - 1)
                        .topics()
                        .get(0)
                        .partitions()
                        .get(0)
                        .currentLeaderEpoch())
                .isEqualTo(EPOCH + 1);
    }

    @Test
    void shouldCutWhereTheLogsDivergeUnlessConsumersMayHaveSeenThat() throws IOException {
        // given two batches; consumers may have seen the first
        follow(DeliveryMode.EVENTUAL);
        respondWithBatch(0);
        partition.loop().run();
        respondWithBatch(1);
        partition.loop().run();
        assertThat(partition.host().log().highWatermark()).isEqualTo(1);

        // when
        respond(data().setDivergingEpoch(
                        new FetchResponse.EpochEndOffset().setEpoch(EPOCH).setEndOffset(1)));

        // then
        assertThat(rewrites).containsExactly("cut to 1");
    }

    @Test
    void shouldRemoveEverythingWhenTheLeaderHasLostRecordsBeforeTheStartOfTheLog() throws IOException {
        // given a log that begins at 1, because its leader has deleted the first record
        follow(DeliveryMode.EVENTUAL);
        respondWithBatch(0);
        partition.loop().run();
        respondWithBatch(1);
        partition.loop().run();
        respond(data().setHighWatermark(2).setLogStartOffset(1));
        partition.loop().run();
        assertThat(partition.host().journal().startOffset()).isEqualTo(1);

        // when a leader without records leads in an epoch that is marked as recovering
        List<Integer> replicas = List.of(SteppedPartition.NODE, LEADER);
        leaderEpoch = EPOCH + 1;
        partition.setReplicas(
                1,
                new ReplicaSet(
                        LEADER,
                        leaderEpoch,
                        ++partitionEpoch,
                        replicas,
                        List.of(LEADER),
                        List.of(),
                        leaderEpoch,
                        List.of()));
        fetcher.add(partition.host());
        partition.loop().run();
        respond(data().setDivergingEpoch(
                        new FetchResponse.EpochEndOffset().setEpoch(EPOCH).setEndOffset(0)));

        // then it does not keep an empty log that begins at 1, behind what the leader has
        assertThat(rewrites).containsExactly("cut to 0");
    }

    @Test
    void shouldTellTheStartOfTheLogWhenItIsOnTheDisk() throws IOException {
        follow(DeliveryMode.EVENTUAL);
        respondWithBatch(0);
        partition.loop().run();
        respondWithBatch(1);
        partition.loop().run();

        // when the leader has deleted the first record, and the start cannot be stored
        store.setReplaceFails(true);
        respond(data().setHighWatermark(2).setLogStartOffset(1));
        partition.loop().run();

        // then the leader does not know that it is deleted here: after a power loss, it would be back
        assertThat(partition.host().journal().startOffset()).isEqualTo(1);
        assertThat(leader.requests.stream()
                        .flatMap(request -> request.topics().stream())
                        .flatMap(topic -> topic.partitions().stream()))
                .extracting(FetchRequest.FetchPartition::logStartOffset)
                .containsOnly(0L);
        assertThat(leader.last().maxWaitMs()).isEqualTo(10);

        // when it is stored at last
        for (int responses = 0; responses < 10; responses++) {
            respond();
            partition.loop().run();
        }
        assertThat(leader.last().maxWaitMs()).isEqualTo(500);
        store.setReplaceFails(false);
        partition.host().journal().applyRetention(0, 2);
        partition.loop().run();
        respond();
        partition.loop().run();

        // then the leader knows
        FetchRequest.FetchPartition told =
                leader.last().topics().get(0).partitions().get(0);
        assertThat(told.logStartOffset()).isEqualTo(1);
        respond();
        partition.loop().run();
        assertThat(leader.last().topics()).isEmpty();
        assertThat(leader.last().maxWaitMs()).isEqualTo(500);
    }

    @Test
    void shouldTakeThePartitionOfflineWhenItWouldLoseWhatConsumersMayHaveSeen() throws IOException {
        follow(DeliveryMode.EVENTUAL);
        respondWithBatch(0);
        partition.loop().run();
        respondWithBatch(1);
        partition.loop().run();

        respond(data().setDivergingEpoch(
                        new FetchResponse.EpochEndOffset().setEpoch(EPOCH).setEndOffset(0)));

        assertThat(rewrites)
                .containsExactly("offline: the leader, broker 2, does not have the records from offset 0 on, and"
                        + " consumers may have seen those before 1");
    }

    @Test
    void shouldPauseWhenALeaderSendsDamagedBatchesOrAnError() throws IOException {
        follow(DeliveryMode.EVENTUAL);
        ByteBuf damaged = batch(0);
        damaged.setByte(damaged.writerIndex() - 1, damaged.getByte(damaged.writerIndex() - 1) ^ 1);
        respond(data().setRecords(RecordsData.of(damaged)));
        partition.loop().run();

        assertThat(partition.host().journal().endOffset()).isZero();
        assertThat(leader.requests).hasSize(1);
        partition.loop().fireTimers();
        respond(data().setErrorCode(ErrorCode.NOT_LEADER_OR_FOLLOWER.code()));
        partition.loop().run();
        assertThat(leader.requests).hasSize(2);
        damaged.release();
    }

    @Test
    void shouldBeginAnotherSessionWhenTheConnectionIsLost() throws IOException {
        follow(DeliveryMode.EVENTUAL);
        respondWithBatch(0);
        partition.loop().run();

        PeerChannel.ResponseListener listener = leader.waiting;
        leader.waiting = null;
        listener.onFailure(new IOException("reset"));
        partition.loop().fireTimers();

        FetchRequest request = leader.requests.get(leader.requests.size() - 1);
        assertThat(request.sessionId()).isZero();
        assertThat(leader.acknowledged()).isEqualTo(1);
    }
}
