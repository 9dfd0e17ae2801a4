package io.journalq.server.api.data;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.WriteTxnMarkersRequest;
import io.journalq.common.protocol.message.WriteTxnMarkersResponse;
import io.journalq.common.record.TransactionMarker;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.coordinator.Reply;
import io.journalq.server.group.GroupMachine;
import io.journalq.server.metadata.InternalTopics;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.security.AclResourceType;
import io.journalq.server.security.Right;
import io.journalq.server.shard.Shards;
import io.journalq.server.shard.append.MarkerAppend;
import io.journalq.server.shard.coordinator.Coordinators;
import io.journalq.server.shard.partition.PartitionHost;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * WriteTxnMarkers, versions 1 and 2: ends transactions in partitions. It is sent by the coordinators of other brokers,
 * and by administrators to end hanging transactions (KIP-98, KIP-664). Version 2 contains the generation of the
 * protocol in which the transaction ended, so that a late marker does not end the next transaction (KIP-1228). In the
 * topic of committed offsets, the group coordinator ends the transaction. The response is sent when the marker is on all
 * in-sync replicas and durable on this one, because the sender never sends it again.
 */
public final class WriteTxnMarkersHandler implements Handler<WriteTxnMarkersRequest> {
    private final Supplier<MetadataImage> images;
    private final Shards shards;
    private final Coordinators<GroupMachine> groups;

    /**
     * Creates the handler.
     *
     * @param images supplies the newest image
     * @param groups hold the offsets that were committed in transactions
     */
    public WriteTxnMarkersHandler(Supplier<MetadataImage> images, Shards shards, Coordinators<GroupMachine> groups) {
        this.images = images;
        this.shards = shards;
        this.groups = groups;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(
                ApiKey.WRITE_TXN_MARKERS, 1, 2, AccessRule.asks(Right.ALTER_CLUSTER, Right.CLUSTER_ACTION));
    }

    @Override
    public void handle(RequestContext context, WriteTxnMarkersRequest request) {
        PartitionFanOut fanOut = new PartitionFanOut(context.cycle(), images.get(), shards);
        List<WriteTxnMarkersResponse.WritableTxnMarkerResult> results = new ArrayList<>();
        // Administrators end hanging transactions (KIP-664), and other brokers those that were decided.
        boolean mayWrite = context.grants(Right.ALTER_CLUSTER, AclResourceType.CLUSTER_NAME)
                || context.allows(Right.CLUSTER_ACTION);
        for (WriteTxnMarkersRequest.WritableTxnMarker wanted : request.markers()) {
            List<WriteTxnMarkersResponse.WritableTxnMarkerTopicResult> topics = new ArrayList<>();
            results.add(new WriteTxnMarkersResponse.WritableTxnMarkerResult()
                    .setProducerId(wanted.producerId())
                    .setTopics(topics));
            for (WriteTxnMarkersRequest.WritableTxnMarkerTopic topic : wanted.topics()) {
                List<WriteTxnMarkersResponse.WritableTxnMarkerPartitionResult> ofTopic = new ArrayList<>();
                topics.add(new WriteTxnMarkersResponse.WritableTxnMarkerTopicResult()
                        .setName(topic.name())
                        .setPartitions(ofTopic));
                for (int partition : topic.partitionIndexes()) {
                    ofTopic.add(mayWrite ? write(fanOut, wanted, topic.name(), partition) : denied(partition));
                }
            }
        }
        fanOut.start(() -> context.respond(new WriteTxnMarkersResponse().setMarkers(results)));
    }

    private static WriteTxnMarkersResponse.WritableTxnMarkerPartitionResult denied(int partition) {
        return new WriteTxnMarkersResponse.WritableTxnMarkerPartitionResult()
                .setPartitionIndex(partition)
                .setErrorCode(ErrorCode.CLUSTER_AUTHORIZATION_FAILED.code());
    }

    private WriteTxnMarkersResponse.WritableTxnMarkerPartitionResult write(
            PartitionFanOut fanOut, WriteTxnMarkersRequest.WritableTxnMarker wanted, String name, int partition) {
        WriteTxnMarkersResponse.WritableTxnMarkerPartitionResult result =
                new WriteTxnMarkersResponse.WritableTxnMarkerPartitionResult().setPartitionIndex(partition);
        boolean ofGroups = name.equals(InternalTopics.GROUPS);
        if (fanOut.exists(name, partition)) {
            if (wanted.producerId() < 0 || wanted.producerEpoch() < 0) {
                return result.setErrorCode(ErrorCode.INVALID_REQUEST.code());
            }
            if (InternalTopics.contains(name) && !ofGroups) {
                return result.setErrorCode(ErrorCode.INVALID_TOPIC_EXCEPTION.code());
            }
        }
        fanOut.add(name, partition, error -> result.setErrorCode(error.code()), (host, done) -> {
            if (ofGroups) {
                endInGroups(host, wanted, result, done);
            } else {
                append(host, wanted, result, done);
            }
        });
        return result;
    }

    private static void append(
            PartitionHost host,
            WriteTxnMarkersRequest.WritableTxnMarker wanted,
            WriteTxnMarkersResponse.WritableTxnMarkerPartitionResult result,
            Runnable done) {
        host.append(new MarkerAppend(marker(wanted), wanted.transactionVersion()) {
            @Override
            protected void onDecided() {
                flush(host, error(), result, done);
            }
        });
    }

    private static TransactionMarker marker(WriteTxnMarkersRequest.WritableTxnMarker wanted) {
        return new TransactionMarker(
                wanted.producerId(), wanted.producerEpoch(), wanted.transactionResult(), wanted.coordinatorEpoch());
    }

    private static void flush(
            PartitionHost host,
            ErrorCode error,
            WriteTxnMarkersResponse.WritableTxnMarkerPartitionResult result,
            Runnable done) {
        if (error == ErrorCode.NONE) {
            host.flush(failure -> end(result, failure, done));
        } else {
            end(result, error, done);
        }
    }

    private void endInGroups(
            PartitionHost host,
            WriteTxnMarkersRequest.WritableTxnMarker wanted,
            WriteTxnMarkersResponse.WritableTxnMarkerPartitionResult result,
            Runnable done) {
        int partition = host.name().partition();
        // A coordinator that was replaced may have no offsets of the transaction, while its successor has some.
        groups.submitConfirmed(
                partition,
                (machine, nowMs, replies) -> {
                    Reply<ErrorCode> reply =
                            replies.to(error -> flush(host, error, result, done), error -> end(result, error, done));
                    machine.onTransactionEnd(
                            marker(wanted),
                            wanted.transactionVersion(),
                            shards.shardOf(host.topicId(), partition).guards().onMarker(),
                            reply);
                },
                error -> end(result, error, done));
    }

    private static void end(
            WriteTxnMarkersResponse.WritableTxnMarkerPartitionResult result, ErrorCode error, Runnable done) {
        result.setErrorCode(error.code());
        done.run();
    }
}
