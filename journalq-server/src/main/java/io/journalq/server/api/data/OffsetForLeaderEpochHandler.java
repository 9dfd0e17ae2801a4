package io.journalq.server.api.data;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.OffsetForLeaderEpochRequest;
import io.journalq.common.protocol.message.OffsetForLeaderEpochResponse;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.segment.LeaderEpochs.EpochEndOffset;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.security.Right;
import io.journalq.server.shard.Shards;
import io.journalq.server.shard.partition.PartitionHost;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * OffsetForLeaderEpoch, versions 2 to 4: the end offset of a leader epoch. A consumer can determine from it whether the
 * records that it has read still exist (KIP-101, KIP-279, KIP-320). A broker that asks for the end of no epoch gets the
 * end of the log of any replica, and its newest epoch with records. It can name the current leader epoch too, to find out
 * whether the replica knows a later one.
 */
public final class OffsetForLeaderEpochHandler implements Handler<OffsetForLeaderEpochRequest> {
    private static final int UNKNOWN = -1;

    private final Supplier<MetadataImage> images;
    private final Shards shards;

    /**
     * Serves the partitions of {@code shards}.
     *
     * @param images supplies the newest image
     */
    public OffsetForLeaderEpochHandler(Supplier<MetadataImage> images, Shards shards) {
        this.images = images;
        this.shards = shards;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(
                ApiKey.OFFSET_FOR_LEADER_EPOCH, 2, 4, AccessRule.asks(Right.DESCRIBE_TOPIC, Right.CLUSTER_ACTION));
    }

    @Override
    public void handle(RequestContext context, OffsetForLeaderEpochRequest request) {
        PartitionFanOut fanOut = new PartitionFanOut(context.cycle(), images.get(), shards);
        List<OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult> topics = new ArrayList<>();
        boolean ofBroker = request.replicaId() >= 0 && context.allows(Right.CLUSTER_ACTION);
        for (OffsetForLeaderEpochRequest.OffsetForLeaderTopic wanted : request.topics()) {
            List<OffsetForLeaderEpochResponse.EpochEndOffset> ends = new ArrayList<>();
            topics.add(new OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult()
                    .setTopic(wanted.topic())
                    .setPartitions(ends));
            boolean mayDescribe = ofBroker || context.allows(Right.DESCRIBE_TOPIC, wanted.topic());
            for (OffsetForLeaderEpochRequest.OffsetForLeaderPartition partition : wanted.partitions()) {
                ends.add(mayDescribe ? ask(fanOut, wanted.topic(), partition, ofBroker) : denied(partition));
            }
        }
        fanOut.start(() -> context.respond(new OffsetForLeaderEpochResponse().setTopics(topics)));
    }

    private static OffsetForLeaderEpochResponse.EpochEndOffset denied(
            OffsetForLeaderEpochRequest.OffsetForLeaderPartition wanted) {
        return new OffsetForLeaderEpochResponse.EpochEndOffset()
                .setPartition(wanted.partition())
                .setLeaderEpoch(UNKNOWN)
                .setEndOffset(UNKNOWN)
                .setErrorCode(ErrorCode.TOPIC_AUTHORIZATION_FAILED.code());
    }

    private OffsetForLeaderEpochResponse.EpochEndOffset ask(
            PartitionFanOut fanOut,
            String name,
            OffsetForLeaderEpochRequest.OffsetForLeaderPartition wanted,
            boolean ofBroker) {
        boolean ofReplica = ofBroker && wanted.leaderEpoch() == UNKNOWN;
        OffsetForLeaderEpochResponse.EpochEndOffset end = new OffsetForLeaderEpochResponse.EpochEndOffset()
                .setPartition(wanted.partition())
                .setLeaderEpoch(UNKNOWN)
                .setEndOffset(UNKNOWN);
        fanOut.add(name, wanted.partition(), error -> end.setErrorCode(error.code()), (host, done) -> {
            if (ofReplica) {
                lookAtReplica(host, wanted, end);
            } else {
                look(host, wanted, end);
            }
            done.run();
        });
        return end;
    }

    /** On the shard's loop. */
    private static void lookAtReplica(
            PartitionHost host,
            OffsetForLeaderEpochRequest.OffsetForLeaderPartition wanted,
            OffsetForLeaderEpochResponse.EpochEndOffset response) {
        if (host.isClosed() || !host.isWritable()) {
            response.setErrorCode(ErrorCode.KAFKA_STORAGE_ERROR.code());
            return;
        }
        if (wanted.currentLeaderEpoch() != UNKNOWN && wanted.currentLeaderEpoch() < host.leaderEpoch()) {
            response.setErrorCode(ErrorCode.FENCED_LEADER_EPOCH.code());
            return;
        }
        Journal journal = host.journal();
        response.setLeaderEpoch(journal.epochs().latest()).setEndOffset(journal.writtenOffset());
    }

    /** On the shard's loop. */
    private static void look(
            PartitionHost host,
            OffsetForLeaderEpochRequest.OffsetForLeaderPartition wanted,
            OffsetForLeaderEpochResponse.EpochEndOffset response) {
        ErrorCode error = host.checkLeaderEpoch(wanted.currentLeaderEpoch());
        if (error != ErrorCode.NONE) {
            response.setErrorCode(error.code());
            return;
        }
        Journal journal = host.journal();
        EpochEndOffset end = journal.epochs().endOffsetOf(wanted.leaderEpoch(), journal.writtenOffset());
        response.setLeaderEpoch(end.epoch()).setEndOffset(end.endOffset());
    }
}
