package io.journalq.server.shard.replica;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.RecordsData;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.RecordBatch;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.journal.JournalConfig;
import io.journalq.server.loop.Loop;
import io.journalq.server.peer.PeerChannel;
import io.journalq.server.peer.PeerChannels;
import io.journalq.server.replication.ReplicaSet;
import io.journalq.server.shard.partition.PartitionHost;
import io.journalq.server.shard.partition.SteppedPartition;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Records that expire at a follower before they expire at its leader. */
class ExpiredRecordsTest {
    private static final int LEADER = 1;
    private static final int EPOCH = 1;
    private static final int RESPONSE_MS = 20;

    private final List<FetchRequest> requests = new ArrayList<>();
    private PeerChannel.ResponseListener waiting;
    private SteppedPartition partition;
    private ReplicaHost replicas;

    private final class Leader implements PeerChannels {
        @Override
        public CompletableFuture<ApiMessage> send(
                String host, int port, ApiMessage request, int version, int timeoutMs) {
            throw new AssertionError(request);
        }

        @Override
        public PeerChannel open(String host, int port, Loop loop) {
            return new PeerChannel() {
                @Override
                public void send(ApiMessage request, int version, int timeoutMs, ResponseListener listener) {
                    requests.add((FetchRequest) request);
                    waiting = listener;
                }

                @Override
                public boolean isOpen() {
                    return true;
                }

                @Override
                public void close() {}
            };
        }

        @Override
        public void close() {}
    }

    private static final class NoRewrites implements PartitionRewrites {
        @Override
        public void cut(PartitionHost host, long offset) {
            throw new AssertionError("cut to " + offset);
        }

        @Override
        public void takeOffline(PartitionHost host, String reason) {
            throw new AssertionError(reason);
        }
    }

    @BeforeEach
    void follow(@TempDir Path directory) throws IOException {
        partition = SteppedPartition.open(directory, JournalConfig.DEFAULT);
        List<Integer> all = List.of(SteppedPartition.NODE, LEADER);
        partition.setReplicas(1, new ReplicaSet(LEADER, EPOCH, 1, all, all));
        partition
                .host()
                .journal()
                .setConfig(JournalConfig.DEFAULT.withSegmentSizeBytes(1).withRetention(JournalConfig.UNLIMITED, 0));
        replicas = new ReplicaHost(
                partition.cycle(),
                new ReplicaPeers(
                        SteppedPartition.NODE,
                        () -> 5,
                        new Leader(),
                        id -> new ListenerAddress("PLAINTEXT", "leader", 9092),
                        id -> true,
                        (topicId, number, proposal) -> new CompletableFuture<>(),
                        (topicId, number, proposal) -> false,
                        1_000,
                        1_000),
                new NoRewrites());
        replicas.onReplicas(partition.host());
        partition.loop().run();
    }

    @AfterEach
    void close() {
        partition.closeCleanly();
    }

    private void respond(List<FetchResponse.FetchableTopicResponse> topics) {
        partition.loop().advance(RESPONSE_MS);
        waiting.onResponse(new FetchResponse().setSessionId(1).setResponses(topics));
        partition.loop().run();
    }

    private void respondWithRecord(long offset) {
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, CompressionCodec.NONE)) {
            builder.append(0, null, new byte[1], List.of());
            ByteBuf batch = builder.build();
            RecordBatch.setBaseOffset(batch, 0, offset);
            RecordBatch.setLeaderEpoch(batch, 0, EPOCH);
            respond(List.of(new FetchResponse.FetchableTopicResponse()
                    .setTopicId(partition.host().topicId())
                    .setPartitions(List.of(new FetchResponse.PartitionData()
                            .setPartitionIndex(0)
                            .setHighWatermark(offset + 1)
                            .setRecords(RecordsData.of(batch))))));
            batch.release();
        }
    }

    private FetchRequest last() {
        return requests.get(requests.size() - 1);
    }

    @Test
    void shouldTellTheLeaderWhenTheOldestRecordsHaveExpired() {
        respondWithRecord(0);
        respondWithRecord(1);
        respondWithRecord(2);
        respond(List.of());
        assertThat(last().topics()).isEmpty();

        // when nothing else happens
        assertThat(partition.host().maintain(0, 0, 0)).isTrue();
        replicas.onExpired(partition.host());
        partition.loop().run();
        assertThat(partition.host().journal().startOffset()).isEqualTo(2);
        respond(List.of());

        // then the leader sends no consumers here that want to read them
        assertThat(last().topics().get(0).partitions().get(0).logStartOffset()).isEqualTo(2);
        respond(List.of());
        assertThat(last().topics()).isEmpty();
    }
}
