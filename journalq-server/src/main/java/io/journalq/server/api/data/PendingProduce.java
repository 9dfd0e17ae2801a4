package io.journalq.server.api.data;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ProduceRequest;
import io.journalq.common.protocol.message.ProduceResponse;
import io.journalq.common.record.RecordBatch;
import io.journalq.server.api.RefusalLog;
import io.journalq.server.api.RequestContext;
import io.journalq.server.loop.Limit;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.producerstate.VerificationGuards;
import io.journalq.server.shard.Shard;
import io.journalq.server.shard.append.Append;
import io.journalq.server.shard.append.RequiredAcks;
import io.journalq.server.shard.partition.PartitionHost;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;

/**
 * One Produce request from its arrival to its response. The appends of each shard are handed over together, and their
 * results are handed back together after the last append is decided.
 *
 * <p>On the connection's loop, except where {@link ShardPart} says otherwise.
 */
final class PendingProduce {
    private static final short NO_ACKS = 0;
    private static final short ACKS_ALL = -1;

    private final RequestContext context;
    private final RefusalLog refusals;
    private final LeaderHints hints;
    private final boolean hasResponse;
    private final RequiredAcks acks;
    private final int timeoutMs;
    private final String transactionalId;
    private final List<ProduceResponse.TopicProduceResponse> topics = new ArrayList<>(1);
    private final List<ShardPart> shardParts = new ArrayList<>(1);
    private List<ProduceResponse.PartitionProduceResponse> partitions;
    private int outstandingShards;
    private String failure;

    PendingProduce(RequestContext context, ProduceRequest request, RefusalLog refusals, LeaderHints hints) {
        this.context = context;
        this.refusals = refusals;
        this.hints = hints;
        this.hasResponse = request.acks() != NO_ACKS;
        this.acks = request.acks() == ACKS_ALL ? RequiredAcks.ALL : RequiredAcks.LEADER;
        this.timeoutMs = request.timeoutMs();
        this.transactionalId = request.transactionalId();
    }

    void beginTopic(ProduceRequest.TopicProduceData topic) {
        partitions = new ArrayList<>(topic.partitionData().size());
        topics.add(new ProduceResponse.TopicProduceResponse()
                .setName(topic.name())
                .setTopicId(topic.topicId())
                .setPartitionResponses(partitions));
    }

    /** Adds the error of a partition that cannot be appended to. */
    void refuse(ProduceRequest.TopicProduceData topic, ProduceRequest.PartitionProduceData data, ErrorCode error) {
        refuse(topic, data, error, null);
    }

    /**
     * As {@link #refuse(ProduceRequest.TopicProduceData, ProduceRequest.PartitionProduceData, ErrorCode)}, with a text for
     * the client.
     */
    void refuse(
            ProduceRequest.TopicProduceData topic,
            ProduceRequest.PartitionProduceData data,
            ErrorCode error,
            String message) {
        onRefusal(topic.name(), error, null);
        newResult(data.index()).setErrorCode(error.code()).setErrorMessage(message);
        context.cycle().counters().onProduceError(error);
        failure = error.words();
    }

    /** Logs a refusal. A request without a response is logged when its connection is closed. Any thread. */
    private void onRefusal(String topic, ErrorCode error, String reason) {
        if (hasResponse) {
            refusals.refused(context, topic, error, reason);
        }
    }

    /** Prepares the append to a partition. */
    void append(ProduceRequest.PartitionProduceData data, TopicImage topic, Shard shard) {
        ShardPart part = partOf(shard);
        ByteBuf records = data.records() == null ? null : data.records().buffer();
        part.appends.add(new PartitionAppend(part, topic, newResult(data.index()), records));
    }

    /** Starts every append. */
    void start() {
        outstandingShards = shardParts.size();
        if (outstandingShards == 0) {
            respond();
            return;
        }
        for (ShardPart part : shardParts) {
            if (part.shard.cycle() == context.cycle()) {
                part.run();
            } else {
                context.cycle().handOver(part.shard.cycle(), part);
            }
        }
    }

    /** Starts every append once the transaction's coordinator allows it. */
    void startInTransaction(TransactionGate gate) {
        List<PartitionAppend> inTransaction =
                appends().stream().filter(PartitionAppend::isTransactional).toList();
        if (inTransaction.isEmpty()) {
            start();
            return;
        }
        TransactionGate.Request asked =
                TransactionAdmission.request(transactionalId, context.apiVersion(), inTransaction);
        if (asked == null) {
            refuseAll(ErrorCode.INVALID_PRODUCER_ID_MAPPING);
            return;
        }
        gate.admit(asked, refusal -> {
            if (refusal == ErrorCode.NONE) {
                startOnCoordinatorLoop();
            } else {
                context.cycle().execute(() -> refuseAll(refusal));
            }
        });
    }

    /**
     * Starts the appends on the coordinator's loop. They are passed directly to the partitions, so that no marker
     * overtakes them.
     */
    private void startOnCoordinatorLoop() {
        outstandingShards = shardParts.size();
        for (ShardPart part : shardParts) {
            if (!part.shard.cycle().execute(part)) {
                return;
            }
        }
    }

    private void refuseAll(ErrorCode refusal) {
        ErrorCode error = TransactionAdmission.errorOfProduce(refusal, context.apiVersion());
        String message = "the transaction does not allow it: " + refusal.words();
        for (PartitionAppend append : appends()) {
            append.result.setErrorCode(error.code()).setErrorMessage(message);
            context.cycle().counters().onProduceError(error);
        }
        failure = error.words();
        respond();
    }

    private List<PartitionAppend> appends() {
        List<PartitionAppend> all = new ArrayList<>();
        shardParts.forEach(part -> all.addAll(part.appends));
        return all;
    }

    private ProduceResponse.PartitionProduceResponse newResult(int partition) {
        ProduceResponse.PartitionProduceResponse result =
                new ProduceResponse.PartitionProduceResponse().setIndex(partition);
        result.setBaseOffset(-1);
        partitions.add(result);
        return result;
    }

    private ShardPart partOf(Shard shard) {
        for (ShardPart part : shardParts) {
            if (part.shard == shard) {
                return part;
            }
        }
        ShardPart part = new ShardPart(shard);
        shardParts.add(part);
        return part;
    }

    private void onShardDone(String shardFailure) {
        if (shardFailure != null) {
            failure = shardFailure;
        }
        outstandingShards--;
        if (outstandingShards == 0) {
            respond();
        }
    }

    private void respond() {
        if (hasResponse) {
            ProduceResponse response = new ProduceResponse().setResponses(topics);
            if (failure != null) {
                hints.addTo(context, response);
            }
            context.respond(response);
        } else if (failure != null) {
            context.refuse("produce without acknowledgement failed: " + failure);
        } else {
            context.respondNothing();
        }
    }

    /** The appends of one shard. On the shard's loop from the hand-over to the last decision. */
    private final class ShardPart implements Runnable {
        private final Shard shard;

        /** Taken when the request arrives, which is before the transaction's coordinator is asked. */
        private final long verificationGuard;

        private final List<PartitionAppend> appends = new ArrayList<>(1);
        private int outstandingAppends;
        private String shardFailure;

        ShardPart(Shard shard) {
            this.shard = shard;
            this.verificationGuard = transactionalId == null
                    ? VerificationGuards.NOT_VERIFIED
                    : shard.guards().guard();
        }

        @Override
        public void run() {
            outstandingAppends = appends.size();
            for (PartitionAppend append : appends) {
                append.start();
            }
        }

        int produceVersion() {
            return context.apiVersion();
        }

        RequiredAcks acks() {
            return acks;
        }

        int timeoutMs() {
            return timeoutMs;
        }

        boolean isConnected() {
            return context.isConnected();
        }

        void onDecided(PartitionAppend append) {
            if (!append.isStored()) {
                onRefusal(append.topic.name(), append.error(), append.errorMessage());
                shardFailure = append.error().words();
                shard.cycle().counters().onProduceError(append.error());
                if (append.limit() == Limit.PARTITION_TRANSACTIONS) {
                    // This error alone does not count as bad input, so it would not be logged.
                    refusals.limitExceeded(context, append.limit(), "topic", append.topic.name(), append.error());
                } else if (append.limit() != null) {
                    shard.cycle().counters().onLimit(append.limit());
                }
            }
            outstandingAppends--;
            if (outstandingAppends > 0) {
                return;
            }
            if (shard.cycle() == context.cycle()) {
                onShardDone(shardFailure);
            } else {
                shard.cycle().handBack(context.cycle(), () -> onShardDone(shardFailure));
            }
        }
    }

    /** One append and its place in the response. On the shard's loop. */
    private static final class PartitionAppend extends Append implements TransactionAdmission.TransactionalBatch {
        private final ShardPart part;
        private final TopicImage topic;
        private final ByteBuf records;
        private final ProduceResponse.PartitionProduceResponse result;

        PartitionAppend(
                ShardPart part, TopicImage topic, ProduceResponse.PartitionProduceResponse result, ByteBuf records) {
            super(records, part.produceVersion(), part.verificationGuard, part.acks(), part.timeoutMs());
            this.part = part;
            this.topic = topic;
            this.records = records;
            this.result = result;
        }

        @Override
        public TopicPartition partition() {
            return new TopicPartition(topic.name(), result.index());
        }

        @Override
        public long producerId() {
            return RecordBatch.producerId(records, records.readerIndex());
        }

        @Override
        public short producerEpoch() {
            return RecordBatch.producerEpoch(records, records.readerIndex());
        }

        /** Also false for bytes that are not a batch. The validation of batches refuses them. */
        boolean isTransactional() {
            return records != null
                    && records.readableBytes() >= RecordBatch.HEADER_SIZE_BYTES
                    && RecordBatch.magic(records, records.readerIndex()) == RecordBatch.CURRENT_MAGIC
                    && RecordBatch.isTransactional(records, records.readerIndex());
        }

        @Override
        protected boolean isAwaited() {
            return part.isConnected();
        }

        void start() {
            PartitionHost host = part.shard.host(topic.id(), result.index());
            if (host == null) {
                refuse(part.shard.errorOfMissing(topic.id(), result.index()), null);
            } else {
                host.append(this);
            }
        }

        @Override
        protected void onDecided() {
            result.setErrorCode(error().code())
                    .setErrorMessage(errorMessage())
                    .setBaseOffset(baseOffset())
                    .setLogAppendTimeMs(appendTimeMs())
                    .setLogStartOffset(logStartOffset());
            if (!recordErrors().isEmpty()) {
                result.setRecordErrors(recordErrors().stream()
                        .map(wrong -> new ProduceResponse.BatchIndexAndErrorMessage()
                                .setBatchIndex(wrong.index())
                                .setBatchIndexErrorMessage(wrong.message()))
                        .toList());
            }
            part.onDecided(this);
        }
    }
}
