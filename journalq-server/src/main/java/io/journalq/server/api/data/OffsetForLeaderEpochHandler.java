package io.journalq.server.api.data;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.OffsetForLeaderEpochRequest;
import io.journalq.common.protocol.message.OffsetForLeaderEpochResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.api.ServedApi;
import io.journalq.server.journal.segment.EpochEndOffset;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.shard.Shards;
import io.journalq.server.shard.partition.PartitionHost;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * OffsetForLeaderEpoch, versions 2 to 4: where the records of a leader's epoch end, by which a consumer finds out
 * whether what it has read is still there (KIP-101, KIP-279, KIP-320).
 */
public final class OffsetForLeaderEpochHandler implements Handler<OffsetForLeaderEpochRequest> {
    private static final int UNKNOWN = -1;

    private final Partitions partitions;

    /**
     * Answers for partitions.
     *
     * @param images gives the newest image
     */
    public OffsetForLeaderEpochHandler(Supplier<MetadataImage> images, Shards shards) {
        this.partitions = new Partitions(images, shards);
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.OFFSET_FOR_LEADER_EPOCH, 2, 4);
    }

    @Override
    public void handle(RequestContext context, OffsetForLeaderEpochRequest request) {
        PartitionFanOut fanOut = new PartitionFanOut(context.cycle());
        List<OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult> topics = new ArrayList<>();
        for (OffsetForLeaderEpochRequest.OffsetForLeaderTopic wanted : request.topics()) {
            List<OffsetForLeaderEpochResponse.EpochEndOffset> answers = new ArrayList<>();
            topics.add(new OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult()
                    .setTopic(wanted.topic())
                    .setPartitions(answers));
            for (OffsetForLeaderEpochRequest.OffsetForLeaderPartition partition : wanted.partitions()) {
                answers.add(ask(fanOut, wanted.topic(), partition));
            }
        }
        fanOut.start(() -> context.respond(new OffsetForLeaderEpochResponse().setTopics(topics)));
    }

    private OffsetForLeaderEpochResponse.EpochEndOffset ask(
            PartitionFanOut fanOut, String name, OffsetForLeaderEpochRequest.OffsetForLeaderPartition wanted) {
        OffsetForLeaderEpochResponse.EpochEndOffset answer = new OffsetForLeaderEpochResponse.EpochEndOffset()
                .setPartition(wanted.partition())
                .setLeaderEpoch(UNKNOWN)
                .setEndOffset(UNKNOWN);
        TopicImage topic = partitions.topicOf(name, wanted.partition());
        if (topic == null) {
            return answer.setErrorCode(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.code());
        }
        fanOut.add(partitions.shardOf(topic, wanted.partition()), topic.id(), wanted.partition(), (host, done) -> {
            if (host == null) {
                answer.setErrorCode(
                        partitions.errorOfMissing(topic, wanted.partition()).code());
            } else {
                look(host, wanted, answer);
            }
            done.run();
        });
        return answer;
    }

    /** On the shard's loop. */
    private static void look(
            PartitionHost host,
            OffsetForLeaderEpochRequest.OffsetForLeaderPartition wanted,
            OffsetForLeaderEpochResponse.EpochEndOffset answer) {
        ErrorCode error = host.checkLeaderEpoch(wanted.currentLeaderEpoch());
        if (error != ErrorCode.NONE) {
            answer.setErrorCode(error.code());
            return;
        }
        EpochEndOffset end = host.journal().endOffsetForEpoch(wanted.leaderEpoch());
        answer.setLeaderEpoch(end.epoch()).setEndOffset(end.endOffset());
    }
}
