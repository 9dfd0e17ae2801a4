package io.journalq.server.api.data;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ProduceRequest;
import io.journalq.common.protocol.message.ProduceResponse;
import io.journalq.server.api.RequestContext;
import io.journalq.server.shard.Append;
import io.journalq.server.shard.PartitionHost;
import io.journalq.server.shard.Shard;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;

/**
 * One Produce request from its arrival to its answer. The appends of each shard travel there together, and come back
 * together once the last of them is decided.
 *
 * <p>On the connection's loop, but for what {@link ShardPart} says.
 */
final class PendingProduce {
    private static final short NO_ACKS = 0;

    private final RequestContext context;
    private final boolean answered;
    private final List<ProduceResponse.TopicProduceResponse> topics = new ArrayList<>(1);
    private final List<ShardPart> shardParts = new ArrayList<>(1);
    private List<ProduceResponse.PartitionProduceResponse> partitions;
    private int outstandingShards;
    private String failure;

    PendingProduce(RequestContext context, ProduceRequest request) {
        this.context = context;
        this.answered = request.acks() != NO_ACKS;
    }

    void beginTopic(ProduceRequest.TopicProduceData topic) {
        partitions = new ArrayList<>(topic.partitionData().size());
        topics.add(new ProduceResponse.TopicProduceResponse()
                .setName(topic.name())
                .setTopicId(topic.topicId())
                .setPartitionResponses(partitions));
    }

    /** Answers for a partition that cannot be appended to. */
    void refuse(ProduceRequest.PartitionProduceData data, ErrorCode error) {
        answer(data.index()).setErrorCode(error.code());
        failure = error.words();
    }

    /** Prepares the append to a partition. */
    void append(ProduceRequest.PartitionProduceData data, Uuid topicId, Shard shard) {
        ShardPart part = partOf(shard);
        ByteBuf records = data.records() == null ? null : data.records().buffer();
        part.appends.add(new PartitionAppend(part, topicId, answer(data.index()), records));
    }

    /** Sends every append on its way. */
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

    private ProduceResponse.PartitionProduceResponse answer(int partition) {
        ProduceResponse.PartitionProduceResponse answer =
                new ProduceResponse.PartitionProduceResponse().setIndex(partition);
        answer.setBaseOffset(-1);
        partitions.add(answer);
        return answer;
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
        if (answered) {
            context.respond(new ProduceResponse().setResponses(topics));
        } else if (failure != null) {
            context.refuse("produce without acknowledgement failed: " + failure);
        } else {
            context.respondNothing();
        }
    }

    /** The appends of one shard, on its loop from the hand-over to the last decision. */
    private final class ShardPart implements Runnable {
        private final Shard shard;
        private final List<PartitionAppend> appends = new ArrayList<>(1);
        private int outstandingAppends;
        private String shardFailure;

        ShardPart(Shard shard) {
            this.shard = shard;
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

        void onDecided(Append append) {
            if (append.error() != ErrorCode.NONE) {
                shardFailure = append.error().words();
            }
            outstandingAppends--;
            if (outstandingAppends > 0) {
                return;
            }
            if (shard.cycle() == context.cycle()) {
                onShardDone(shardFailure);
            } else {
                shard.cycle().handOver(context.cycle(), () -> onShardDone(shardFailure));
            }
        }
    }

    /** One append and the place of its outcome in the answer. On the shard's loop. */
    private static final class PartitionAppend extends Append {
        private final ShardPart part;
        private final Uuid topicId;
        private final ProduceResponse.PartitionProduceResponse answer;

        PartitionAppend(
                ShardPart part, Uuid topicId, ProduceResponse.PartitionProduceResponse answer, ByteBuf records) {
            super(records, part.produceVersion());
            this.part = part;
            this.topicId = topicId;
            this.answer = answer;
        }

        void start() {
            PartitionHost host = part.shard.host(topicId, answer.index());
            if (host == null) {
                refuse(part.shard.errorOfMissing(topicId, answer.index()), null);
            } else {
                host.append(this);
            }
        }

        @Override
        protected void onDecided() {
            answer.setErrorCode(error().code())
                    .setErrorMessage(errorMessage())
                    .setBaseOffset(baseOffset())
                    .setLogAppendTimeMs(appendTimeMs())
                    .setLogStartOffset(logStartOffset());
            part.onDecided(this);
        }
    }
}
