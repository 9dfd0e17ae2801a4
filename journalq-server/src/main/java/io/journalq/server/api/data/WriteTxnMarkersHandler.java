package io.journalq.server.api.data;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.WriteTxnMarkersRequest;
import io.journalq.common.protocol.message.WriteTxnMarkersResponse;
import io.journalq.common.record.TransactionMarker;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.api.ServedApi;
import io.journalq.server.coordinator.Reply;
import io.journalq.server.group.GroupMachine;
import io.journalq.server.metadata.InternalTopics;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.shard.Shards;
import io.journalq.server.shard.append.MarkerAppend;
import io.journalq.server.shard.coordinator.Coordinators;
import io.journalq.server.shard.partition.PartitionHost;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * WriteTxnMarkers, versions 1 and 2: ends transactions in partitions, as coordinators of other brokers do, and
 * administrators with a transaction that no coordinator ends (KIP-98, KIP-664). Version 2 says by which generation of the
 * protocol the transaction ended, so that a marker that comes late does not end the next one (KIP-1228). In the topic of
 * committed offsets a transaction is ended with the group coordinator.
 */
public final class WriteTxnMarkersHandler implements Handler<WriteTxnMarkersRequest> {
    private final Partitions partitions;
    private final Coordinators<GroupMachine> groups;

    /**
     * Ends transactions in partitions.
     *
     * @param images gives the newest image
     * @param groups hold the offsets that were committed in transactions
     */
    public WriteTxnMarkersHandler(Supplier<MetadataImage> images, Shards shards, Coordinators<GroupMachine> groups) {
        this.partitions = new Partitions(images, shards);
        this.groups = groups;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.WRITE_TXN_MARKERS, 1, 2);
    }

    @Override
    public void handle(RequestContext context, WriteTxnMarkersRequest request) {
        PartitionFanOut fanOut = new PartitionFanOut(context.cycle());
        List<WriteTxnMarkersResponse.WritableTxnMarkerResult> results = new ArrayList<>();
        for (WriteTxnMarkersRequest.WritableTxnMarker wanted : request.markers()) {
            List<WriteTxnMarkersResponse.WritableTxnMarkerTopicResult> topics = new ArrayList<>();
            results.add(new WriteTxnMarkersResponse.WritableTxnMarkerResult()
                    .setProducerId(wanted.producerId())
                    .setTopics(topics));
            for (WriteTxnMarkersRequest.WritableTxnMarkerTopic topic : wanted.topics()) {
                List<WriteTxnMarkersResponse.WritableTxnMarkerPartitionResult> answers = new ArrayList<>();
                topics.add(new WriteTxnMarkersResponse.WritableTxnMarkerTopicResult()
                        .setName(topic.name())
                        .setPartitions(answers));
                for (int partition : topic.partitionIndexes()) {
                    answers.add(write(fanOut, wanted, topic.name(), partition));
                }
            }
        }
        fanOut.start(() -> context.respond(new WriteTxnMarkersResponse().setMarkers(results)));
    }

    private WriteTxnMarkersResponse.WritableTxnMarkerPartitionResult write(
            PartitionFanOut fanOut, WriteTxnMarkersRequest.WritableTxnMarker wanted, String name, int partition) {
        WriteTxnMarkersResponse.WritableTxnMarkerPartitionResult answer =
                new WriteTxnMarkersResponse.WritableTxnMarkerPartitionResult().setPartitionIndex(partition);
        TopicImage topic = partitions.topicOf(name, partition);
        if (topic == null) {
            return answer.setErrorCode(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.code());
        }
        if (wanted.producerId() < 0 || wanted.producerEpoch() < 0) {
            return answer.setErrorCode(ErrorCode.INVALID_REQUEST.code());
        }
        boolean ofGroups = name.equals(InternalTopics.GROUPS);
        if (InternalTopics.contains(name) && !ofGroups) {
            return answer.setErrorCode(ErrorCode.INVALID_TOPIC_EXCEPTION.code());
        }
        fanOut.add(partitions.shardOf(topic, partition), topic.id(), partition, (host, done) -> {
            if (host == null) {
                answer.setErrorCode(partitions.errorOfMissing(topic, partition).code());
                done.run();
            } else if (ofGroups) {
                endInGroups(wanted, partition, answer, done);
            } else {
                append(host, wanted, answer, done);
            }
        });
        return answer;
    }

    private static void append(
            PartitionHost host,
            WriteTxnMarkersRequest.WritableTxnMarker wanted,
            WriteTxnMarkersResponse.WritableTxnMarkerPartitionResult answer,
            Runnable done) {
        TransactionMarker marker = new TransactionMarker(
                wanted.producerId(), wanted.producerEpoch(), wanted.transactionResult(), wanted.coordinatorEpoch());
        host.append(new MarkerAppend(marker, wanted.transactionVersion()) {
            @Override
            protected void onDecided() {
                answer.setErrorCode(error().code());
                done.run();
            }
        });
    }

    private void endInGroups(
            WriteTxnMarkersRequest.WritableTxnMarker wanted,
            int partition,
            WriteTxnMarkersResponse.WritableTxnMarkerPartitionResult answer,
            Runnable done) {
        groups.submit(
                partition,
                (machine, nowMs, replies) -> {
                    Reply<ErrorCode> reply =
                            replies.to(error -> end(answer, error, done), error -> end(answer, error, done));
                    machine.onTransactionEnd(
                            wanted.producerId(),
                            wanted.producerEpoch(),
                            wanted.transactionVersion(),
                            wanted.transactionResult(),
                            reply);
                },
                error -> end(answer, error, done));
    }

    private static void end(
            WriteTxnMarkersResponse.WritableTxnMarkerPartitionResult answer, ErrorCode error, Runnable done) {
        answer.setErrorCode(error.code());
        done.run();
    }
}
