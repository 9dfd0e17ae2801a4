package io.journalq.client.internal.produce;

import io.journalq.client.error.JournalQException;
import io.journalq.client.internal.network.Call;
import io.journalq.client.internal.network.HostAndPort;
import io.journalq.client.internal.network.Metadata;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.MessageWriter;
import io.journalq.common.protocol.RecordsData;
import io.journalq.common.protocol.message.ProduceRequest;
import io.journalq.common.protocol.message.ProduceResponse;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** A Produce request with at most one batch per partition. Distributes the response to the batches. */
final class ProduceCall extends Call {
    /** The newest version that identifies topics by name. Later versions use only ids. */
    static final short NEWEST_VERSION = 12;

    /** The bytes per partition in addition to its batch: the index, the size of the batch, the tagged fields. */
    private static final int PARTITION_OVERHEAD_BYTES = 16;

    /** Handles the results of the batches. */
    interface Outcome {
        /** Called before the results of the batches. Another broker leads the partition, see {@link Metadata#onNamedLeader}. */
        void onNamedLeader(String topic, int partition, int leader, int leaderEpoch, HostAndPort address);

        void onResponse(ProduceCall call, PendingBatch batch, ProduceResponse.PartitionProduceResponse response);

        /**
         * There is no response: {@code cause} is the reason, or null if none is expected and the request has been
         * written.
         */
        void onNoResponse(ProduceCall call, PendingBatch batch, JournalQException cause);

        /** Called after the last batch. */
        void onDone(ProduceCall call);
    }

    private final String transactionalId;
    private final short newestVersion;
    private final short acks;
    private final int timeoutMs;
    private final int nodeId;
    private final Outcome outcome;
    private final List<PendingBatch> batches = new ArrayList<>();
    private int sizeBytes;
    private int copiedBytes;
    private long accountedBytes;
    private boolean wakesSenders;
    private long sentNanos;
    private boolean responded;

    ProduceCall(ProducerConfig config, short newestVersion, int nodeId, Outcome outcome) {
        super(ApiKey.PRODUCE, config.client().requestTimeoutMs());
        this.transactionalId = config.transactionalId();
        this.newestVersion = newestVersion;
        this.acks = config.acks();
        this.timeoutMs = config.client().requestTimeoutMs();
        this.nodeId = nodeId;
        this.outcome = outcome;
    }

    void add(PendingBatch batch) {
        batches.add(batch);
        int batchBytes = batch.payload().readableBytes();
        sizeBytes += batchBytes;
        copiedBytes += PARTITION_OVERHEAD_BYTES;
        if (batchBytes < MessageWriter.LARGE_RECORDS_SIZE_BYTES) {
            copiedBytes += batchBytes;
        }
        accountedBytes += batch.accountedBytes;
        wakesSenders |= batch.urgent;
    }

    /** The buffer memory of the records. */
    long accountedBytes() {
        return accountedBytes;
    }

    /** Whether threads wait for the response. */
    boolean wakesSenders() {
        return wakesSenders;
    }

    void sentAt(long nowNanos) {
        sentNanos = nowNanos;
    }

    long sentNanos() {
        return sentNanos;
    }

    /** Whether the broker has responded, successfully or not. */
    boolean hasResponse() {
        return responded;
    }

    int nodeId() {
        return nodeId;
    }

    /** The size of the batches, in bytes. */
    int sizeBytes() {
        return sizeBytes;
    }

    @Override
    protected short newestVersion() {
        return newestVersion;
    }

    @Override
    protected int copiedBytes() {
        return copiedBytes;
    }

    @Override
    protected boolean expectsResponse() {
        return acks != 0;
    }

    @Override
    protected ApiMessage request(short version) {
        return request(batches, acks, timeoutMs).setTransactionalId(transactionalId);
    }

    /** Builds a request with these batches. Each batch keeps its own reference to its payload. */
    static ProduceRequest request(List<PendingBatch> batches, short acks, int timeoutMs) {
        Map<String, ProduceRequest.TopicProduceData> topics = new LinkedHashMap<>();
        ProduceRequest.TopicProduceData topic = null;
        for (PendingBatch batch : batches) {
            String name = batch.lane.id.topic();
            if (topic == null || !topic.name().equals(name)) {
                topic = topics.computeIfAbsent(name, key -> new ProduceRequest.TopicProduceData()
                        .setName(key)
                        .setPartitionData(new ArrayList<>()));
            }
            topic.partitionData()
                    .add(new ProduceRequest.PartitionProduceData()
                            .setIndex(batch.lane.id.partition())
                            .setRecords(RecordsData.of(batch.payload().retainedDuplicate())));
        }
        return new ProduceRequest()
                .setAcks(acks)
                .setTimeoutMs(timeoutMs)
                .setTopicData(new ArrayList<>(topics.values()));
    }

    @Override
    protected void onResponse(ApiMessage response, ByteBuf frame, short version) {
        if (response != null) {
            responded = true;
            nameLeaders((ProduceResponse) response);
            Cursor cursor = new Cursor();
            for (ProduceResponse.TopicProduceResponse topic : ((ProduceResponse) response).responses()) {
                for (ProduceResponse.PartitionProduceResponse partition : topic.partitionResponses()) {
                    PendingBatch batch = cursor.take(topic.name(), partition.index());
                    if (batch != null) {
                        outcome.onResponse(this, batch, partition);
                    }
                }
            }
            cursor.rest(batch -> outcome.onNoResponse(this, batch, ProduceLoop.missingPartition()));
        } else {
            batches.forEach(batch -> outcome.onNoResponse(this, batch, null));
        }
        outcome.onDone(this);
    }

    private void nameLeaders(ProduceResponse response) {
        for (ProduceResponse.TopicProduceResponse topic : response.responses()) {
            for (ProduceResponse.PartitionProduceResponse partition : topic.partitionResponses()) {
                ProduceResponse.LeaderIdAndEpoch leader = partition.currentLeader();
                if (leader.leaderId() >= 0) {
                    HostAndPort address = response.nodeEndpoints().stream()
                            .filter(node -> node.nodeId() == leader.leaderId())
                            .map(node -> new HostAndPort(node.host(), node.port()))
                            .findFirst()
                            .orElse(null);
                    outcome.onNamedLeader(
                            topic.name(), partition.index(), leader.leaderId(), leader.leaderEpoch(), address);
                }
            }
        }
    }

    @Override
    protected void onFailure(JournalQException cause) {
        batches.forEach(batch -> outcome.onNoResponse(this, batch, cause));
        outcome.onDone(this);
    }

    /** Finds batches in the order of the request, which is also the order of most responses. */
    private final class Cursor {
        private final boolean[] taken = new boolean[batches.size()];
        private int next;

        private PendingBatch take(String topic, int partition) {
            for (int i = 0; i < taken.length; i++) {
                int at = (next + i) % taken.length;
                PendingBatch batch = batches.get(at);
                if (!taken[at]
                        && batch.lane.id.partition() == partition
                        && batch.lane.id.topic().equals(topic)) {
                    taken[at] = true;
                    next = at + 1;
                    return batch;
                }
            }
            return null;
        }

        private void rest(Consumer<PendingBatch> action) {
            for (int i = 0; i < taken.length; i++) {
                if (!taken[i]) {
                    action.accept(batches.get(i));
                }
            }
        }
    }
}
