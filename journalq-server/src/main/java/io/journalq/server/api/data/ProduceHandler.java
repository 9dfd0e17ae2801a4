package io.journalq.server.api.data;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ProduceRequest;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RefusalLog;
import io.journalq.server.api.RequestContext;
import io.journalq.server.api.ServedApi;
import io.journalq.server.metadata.InternalTopics;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.shard.Shards;
import java.util.function.Supplier;

/**
 * Produce, versions 3 to 13: one batch of records for each of any number of partitions.
 *
 * <p>Acks 0 (no answer; an error closes the connection, as the client can hear of it in no other way), 1 and all, which
 * are the same while partitions have one replica: when an append is acknowledged is the topic's delivery mode. Topics by
 * name up to version 12, by id in 13 (KIP-516). Idempotent producers are kept in order and free of duplicates (KIP-98). The
 * broker's own topics take no records from outside. Records of a transaction wait for its coordinator's leave: up to
 * version 11 their partitions must have been added to it, from 12 on they are added now (KIP-890).
 */
public final class ProduceHandler implements Handler<ProduceRequest> {
    private static final short FIRST_VERSION_WITH_TOPIC_IDS = 13;

    private final Supplier<MetadataImage> images;
    private final Shards shards;
    private final TransactionGate transactions;
    private final RefusalLog refusals;

    /**
     * Serves producers.
     *
     * @param images gives the newest image
     * @param transactions asked before records of a transaction are appended
     * @param refusals told of batches that are wrong
     */
    public ProduceHandler(
            Supplier<MetadataImage> images, Shards shards, TransactionGate transactions, RefusalLog refusals) {
        this.images = images;
        this.shards = shards;
        this.transactions = transactions;
        this.refusals = refusals;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.PRODUCE, 3, 13);
    }

    @Override
    public void handle(RequestContext context, ProduceRequest request) {
        PendingProduce produce = new PendingProduce(context, request, refusals);
        ErrorCode refusal = refusal(request);
        MetadataImage image = images.get();
        boolean byId = context.apiVersion() >= FIRST_VERSION_WITH_TOPIC_IDS;
        for (ProduceRequest.TopicProduceData topicData : request.topicData()) {
            TopicImage topic = byId ? image.topic(topicData.topicId()) : image.topic(topicData.name());
            ErrorCode missing = byId ? ErrorCode.UNKNOWN_TOPIC_ID : ErrorCode.UNKNOWN_TOPIC_OR_PARTITION;
            produce.beginTopic(topicData);
            for (ProduceRequest.PartitionProduceData data : topicData.partitionData()) {
                if (refusal != ErrorCode.NONE) {
                    produce.refuse(topicData, data, refusal);
                } else if (topic == null) {
                    produce.refuse(topicData, data, missing);
                } else if (InternalTopics.contains(topic.name())) {
                    produce.refuse(topicData, data, ErrorCode.INVALID_TOPIC_EXCEPTION);
                } else if (data.index() < 0
                        || data.index() >= topic.partitions().size()) {
                    produce.refuse(topicData, data, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
                } else {
                    produce.append(data, topic, shards.shardOf(topic.id(), data.index()));
                }
            }
        }
        if (request.transactionalId() == null) {
            produce.start();
        } else {
            produce.startInTransaction(transactions);
        }
    }

    private static ErrorCode refusal(ProduceRequest request) {
        if (request.acks() < -1 || request.acks() > 1) {
            return ErrorCode.INVALID_REQUIRED_ACKS;
        }
        return ErrorCode.NONE;
    }
}
