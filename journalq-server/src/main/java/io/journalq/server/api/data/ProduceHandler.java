package io.journalq.server.api.data;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ProduceRequest;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RefusalLog;
import io.journalq.server.api.RequestContext;
import io.journalq.server.metadata.InternalTopics;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.security.Right;
import io.journalq.server.shard.Shards;
import java.util.function.Supplier;

/**
 * Produce, versions 3 to 13: appends at most one batch of records to each of any number of partitions.
 * <ul>
 * <li>With acks=0 there is no response. An error closes the connection, because the client cannot be informed in any
 *     other way.
 * <li>The delivery mode of the topic determines when an append is acknowledged. With acks=all it must also be on every
 *     in-sync replica, which is the same as acks=1 if a partition has one replica.
 * <li>Topics are named up to version 12, and identified by id in version 13 (KIP-516).
 * <li>The batches of idempotent producers are kept in order and free of duplicates (KIP-98).
 * <li>Clients cannot append to internal topics.
 * <li>Transactional batches wait until the coordinator admits them. Up to version 11, their partitions must have been
 *     added to the transaction. From version 12, Produce adds them (KIP-890).
 * </ul>
 */
public final class ProduceHandler implements Handler<ProduceRequest> {
    private static final short FIRST_VERSION_WITH_TOPIC_IDS = 13;

    private final Supplier<MetadataImage> images;
    private final Shards shards;
    private final TransactionGate transactions;
    private final RefusalLog refusals;
    private final LeaderHints hints;

    /**
     * Creates the handler.
     *
     * @param images supplies the newest image
     * @param hints name other leaders
     * @param transactions must admit the records of a transaction before they are appended
     * @param refusals logs invalid batches
     */
    ProduceHandler(
            Supplier<MetadataImage> images,
            LeaderHints hints,
            Shards shards,
            TransactionGate transactions,
            RefusalLog refusals) {
        this.images = images;
        this.hints = hints;
        this.shards = shards;
        this.transactions = transactions;
        this.refusals = refusals;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.PRODUCE, 3, 13, AccessRule.asks(Right.WRITE_TOPIC, Right.WRITE_TRANSACTIONAL_ID));
    }

    @Override
    public void handle(RequestContext context, ProduceRequest request) {
        PendingProduce produce = new PendingProduce(context, request, refusals, hints);
        ErrorCode refusal = refusal(context, request);
        String refusalMessage = refusal == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED ? context.denial() : null;
        MetadataImage image = images.get();
        boolean byId = context.apiVersion() >= FIRST_VERSION_WITH_TOPIC_IDS;
        for (ProduceRequest.TopicProduceData topicData : request.topicData()) {
            TopicImage topic = byId ? image.topic(topicData.topicId()) : image.topic(topicData.name());
            ErrorCode missing = byId ? ErrorCode.UNKNOWN_TOPIC_ID : ErrorCode.UNKNOWN_TOPIC_OR_PARTITION;
            // A client that may not write does not learn whether a topic of that name exists.
            boolean mayWrite = (byId && topic == null)
                    || context.allows(Right.WRITE_TOPIC, byId ? topic.name() : topicData.name());
            String denial = mayWrite ? null : context.denial();
            produce.beginTopic(topicData);
            for (ProduceRequest.PartitionProduceData data : topicData.partitionData()) {
                if (refusal != ErrorCode.NONE) {
                    produce.refuse(topicData, data, refusal, refusalMessage);
                } else if (!mayWrite) {
                    produce.refuse(topicData, data, ErrorCode.TOPIC_AUTHORIZATION_FAILED, denial);
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

    private static ErrorCode refusal(RequestContext context, ProduceRequest request) {
        if (request.acks() < -1 || request.acks() > 1) {
            return ErrorCode.INVALID_REQUIRED_ACKS;
        }
        if (request.transactionalId() != null
                && !context.allows(Right.WRITE_TRANSACTIONAL_ID, request.transactionalId())) {
            return ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED;
        }
        return ErrorCode.NONE;
    }
}
