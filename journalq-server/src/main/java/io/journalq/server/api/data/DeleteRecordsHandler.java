package io.journalq.server.api.data;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.DeleteRecordsRequest;
import io.journalq.common.protocol.message.DeleteRecordsResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.api.ServedApi;
import io.journalq.server.metadata.InternalTopics;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.shard.Shards;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * DeleteRecords, versions 0 to 2: gives up the records of partitions before an offset, or all of them (KIP-107). Answers
 * with the new first offset, once no crash can bring back what was before it.
 */
public final class DeleteRecordsHandler implements Handler<DeleteRecordsRequest> {
    private static final long UNKNOWN = -1L;

    private final Partitions partitions;

    /**
     * Deletes from partitions.
     *
     * @param images gives the newest image
     */
    public DeleteRecordsHandler(Supplier<MetadataImage> images, Shards shards) {
        this.partitions = new Partitions(images, shards);
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.DELETE_RECORDS, 0, 2);
    }

    @Override
    public void handle(RequestContext context, DeleteRecordsRequest request) {
        PartitionFanOut fanOut = new PartitionFanOut(context.cycle());
        List<DeleteRecordsResponse.DeleteRecordsTopicResult> topics = new ArrayList<>();
        for (DeleteRecordsRequest.DeleteRecordsTopic wanted : request.topics()) {
            List<DeleteRecordsResponse.DeleteRecordsPartitionResult> answers = new ArrayList<>();
            topics.add(new DeleteRecordsResponse.DeleteRecordsTopicResult()
                    .setName(wanted.name())
                    .setPartitions(answers));
            for (DeleteRecordsRequest.DeleteRecordsPartition partition : wanted.partitions()) {
                answers.add(ask(fanOut, wanted.name(), partition));
            }
        }
        fanOut.start(() -> context.respond(new DeleteRecordsResponse().setTopics(topics)));
    }

    private DeleteRecordsResponse.DeleteRecordsPartitionResult ask(
            PartitionFanOut fanOut, String name, DeleteRecordsRequest.DeleteRecordsPartition wanted) {
        DeleteRecordsResponse.DeleteRecordsPartitionResult answer =
                new DeleteRecordsResponse.DeleteRecordsPartitionResult()
                        .setPartitionIndex(wanted.partitionIndex())
                        .setLowWatermark(UNKNOWN);
        TopicImage topic = partitions.topicOf(name, wanted.partitionIndex());
        if (topic == null) {
            return answer.setErrorCode(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.code());
        }
        if (InternalTopics.contains(topic.name())) {
            return answer.setErrorCode(ErrorCode.INVALID_TOPIC_EXCEPTION.code());
        }
        fanOut.add(
                partitions.shardOf(topic, wanted.partitionIndex()),
                topic.id(),
                wanted.partitionIndex(),
                (host, done) -> {
                    if (host == null) {
                        answer.setErrorCode(partitions
                                .errorOfMissing(topic, wanted.partitionIndex())
                                .code());
                        done.run();
                    } else {
                        host.deleteRecordsBefore(wanted.offset(), outcome -> {
                            answer.setErrorCode(outcome.code());
                            if (outcome == ErrorCode.NONE) {
                                answer.setLowWatermark(host.log().startOffset());
                            }
                            done.run();
                        });
                    }
                });
        return answer;
    }
}
