package io.journalq.server.api.data;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.DeleteRecordsRequest;
import io.journalq.common.protocol.message.DeleteRecordsResponse;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.metadata.InternalTopics;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.security.Right;
import io.journalq.server.shard.Shards;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * DeleteRecords, versions 0 to 2 (KIP-107): deletes all records of partitions, or those before an offset. Responds with
 * the new log start offset, once neither a crash nor the election of another in-sync replica can restore the deleted
 * records.
 */
public final class DeleteRecordsHandler implements Handler<DeleteRecordsRequest> {
    private static final long UNKNOWN = -1L;

    private final Supplier<MetadataImage> images;
    private final Shards shards;

    /**
     * Creates the handler.
     *
     * @param images supplies the newest image
     */
    public DeleteRecordsHandler(Supplier<MetadataImage> images, Shards shards) {
        this.images = images;
        this.shards = shards;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.DELETE_RECORDS, 0, 2, AccessRule.asks(Right.DELETE_TOPIC));
    }

    @Override
    public void handle(RequestContext context, DeleteRecordsRequest request) {
        PartitionFanOut fanOut = new PartitionFanOut(context.cycle(), images.get(), shards);
        List<DeleteRecordsResponse.DeleteRecordsTopicResult> topics = new ArrayList<>();
        for (DeleteRecordsRequest.DeleteRecordsTopic wanted : request.topics()) {
            List<DeleteRecordsResponse.DeleteRecordsPartitionResult> results = new ArrayList<>();
            topics.add(new DeleteRecordsResponse.DeleteRecordsTopicResult()
                    .setName(wanted.name())
                    .setPartitions(results));
            boolean mayDelete = context.allows(Right.DELETE_TOPIC, wanted.name());
            for (DeleteRecordsRequest.DeleteRecordsPartition partition : wanted.partitions()) {
                results.add(mayDelete ? ask(fanOut, request, wanted.name(), partition) : denied(partition));
            }
        }
        fanOut.start(() -> context.respond(new DeleteRecordsResponse().setTopics(topics)));
    }

    private static DeleteRecordsResponse.DeleteRecordsPartitionResult denied(
            DeleteRecordsRequest.DeleteRecordsPartition wanted) {
        return new DeleteRecordsResponse.DeleteRecordsPartitionResult()
                .setPartitionIndex(wanted.partitionIndex())
                .setLowWatermark(UNKNOWN)
                .setErrorCode(ErrorCode.TOPIC_AUTHORIZATION_FAILED.code());
    }

    private DeleteRecordsResponse.DeleteRecordsPartitionResult ask(
            PartitionFanOut fanOut,
            DeleteRecordsRequest request,
            String name,
            DeleteRecordsRequest.DeleteRecordsPartition wanted) {
        DeleteRecordsResponse.DeleteRecordsPartitionResult result =
                new DeleteRecordsResponse.DeleteRecordsPartitionResult()
                        .setPartitionIndex(wanted.partitionIndex())
                        .setLowWatermark(UNKNOWN);
        if (InternalTopics.contains(name) && fanOut.exists(name, wanted.partitionIndex())) {
            return result.setErrorCode(ErrorCode.INVALID_TOPIC_EXCEPTION.code());
        }
        fanOut.add(
                name,
                wanted.partitionIndex(),
                error -> result.setErrorCode(error.code()),
                (host, done) -> host.deleteRecordsBefore(wanted.offset(), request.timeoutMs(), outcome -> {
                    result.setErrorCode(outcome.code());
                    if (outcome == ErrorCode.NONE) {
                        result.setLowWatermark(host.log().startOffset());
                    }
                    done.run();
                }));
        return result;
    }
}
