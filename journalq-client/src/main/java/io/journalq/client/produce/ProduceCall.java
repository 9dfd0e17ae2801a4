package io.journalq.client.produce;

import io.journalq.client.JournalQException;
import io.journalq.client.network.Call;
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

/** One Produce request with at most one batch of each partition, and the way from its answer back to the batches. */
final class ProduceCall extends Call {
    /** Newest version that names topics; later ones know them by id only. */
    static final short NEWEST_VERSION = 12;

    /** Around a partition's batch: its number, the batch's size, the tags. */
    private static final int PARTITION_OVERHEAD_BYTES = 16;

    /** What becomes of the request's batches. */
    interface Outcome {
        void onAnswer(ProduceCall call, PendingBatch batch, ProduceResponse.PartitionProduceResponse answer);

        /** No answer: {@code cause} says why, or is null when none is expected and the request is written. */
        void onNoAnswer(ProduceCall call, PendingBatch batch, JournalQException cause);

        /** After the last batch. */
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
    private boolean answered;

    ProduceCall(ProducerConfig config, short newestVersion, int nodeId, Outcome outcome) {
        super(ApiKey.PRODUCE, config.client().requestTimeoutMs());
        this.transactionalId = config.transactionalId();
        this.newestVersion = newestVersion;
        this.acks = config.acks().code();
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

    /** What its records took of the buffer memory. */
    long accountedBytes() {
        return accountedBytes;
    }

    /** Whether senders wait for its answer. */
    boolean wakesSenders() {
        return wakesSenders;
    }

    void sentAt(long nowNanos) {
        sentNanos = nowNanos;
    }

    long sentNanos() {
        return sentNanos;
    }

    /** Whether the broker said something, whatever it was. */
    boolean isAnswered() {
        return answered;
    }

    int nodeId() {
        return nodeId;
    }

    /** Bytes of the batches. */
    int sizeBytes() {
        return sizeBytes;
    }

    int batchCount() {
        return batches.size();
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
    protected boolean expectsAnswer() {
        return acks != 0;
    }

    @Override
    protected ApiMessage request(short version) {
        return request(batches, acks, timeoutMs).setTransactionalId(transactionalId);
    }

    /** A request of these batches, each of which keeps a reference of its own. */
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
    protected void onAnswer(ApiMessage answer, ByteBuf frame, short version) {
        if (answer != null) {
            answered = true;
            Cursor cursor = new Cursor();
            for (ProduceResponse.TopicProduceResponse topic : ((ProduceResponse) answer).responses()) {
                for (ProduceResponse.PartitionProduceResponse partition : topic.partitionResponses()) {
                    PendingBatch batch = cursor.take(topic.name(), partition.index());
                    if (batch != null) {
                        outcome.onAnswer(this, batch, partition);
                    }
                }
            }
            cursor.rest(batch -> outcome.onNoAnswer(this, batch, ProduceLoop.notAnswered()));
        } else {
            batches.forEach(batch -> outcome.onNoAnswer(this, batch, null));
        }
        outcome.onDone(this);
    }

    @Override
    protected void onFailure(JournalQException cause) {
        batches.forEach(batch -> outcome.onNoAnswer(this, batch, cause));
        outcome.onDone(this);
    }

    /** Finds batches in the order of the request, which is that of most brokers' answers. */
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
