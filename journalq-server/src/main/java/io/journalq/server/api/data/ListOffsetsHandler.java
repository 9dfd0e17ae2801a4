package io.journalq.server.api.data;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ListOffsetsRequest;
import io.journalq.common.protocol.message.ListOffsetsResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.api.ServedApi;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.shard.Shards;
import io.journalq.server.shard.partition.PartitionHost;
import io.journalq.server.shard.read.OffsetLookup;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;

/**
 * ListOffsets, versions 1 to 11: the first, the last and other special offsets of partitions, or the first offset whose
 * record is not older than a given time. Look-ups by time read the journal, on threads that may block.
 *
 * <p>Special times: -1 the end, -2 the start, -3 the record with the largest time (KIP-734), -4 the start of what is
 * local, which is the start (KIP-405), -5 and -6 the ends of what is tiered and of what is not yet: nothing is, so there
 * is no such offset (KIP-1005, KIP-1023). A special time that the request's version does not know is refused with
 * UNSUPPORTED_VERSION, as Kafka does. With isolation level 1 the end is the last stable offset, and nothing behind it is
 * found by time (KIP-98).
 */
public final class ListOffsetsHandler implements Handler<ListOffsetsRequest> {
    private static final long LATEST = -1L;
    private static final long EARLIEST = -2L;
    private static final long MAX_TIMESTAMP = -3L;
    private static final long EARLIEST_LOCAL = -4L;
    private static final long LATEST_TIERED = -5L;
    private static final long EARLIEST_PENDING_UPLOAD = -6L;
    private static final long NONE = -1L;
    private static final short FIRST_VERSION_WITH_EPOCHS = 4;
    private static final byte READ_COMMITTED = 1;

    /** The first version that knows each special time; in an older one it is as unknown as any other negative time. */
    private static final Map<Long, Integer> FIRST_VERSIONS = Map.of(
            EARLIEST, 1,
            LATEST, 1,
            MAX_TIMESTAMP, 7,
            EARLIEST_LOCAL, 8,
            LATEST_TIERED, 9,
            EARLIEST_PENDING_UPLOAD, 11);

    private final Partitions partitions;
    private final Executor blockingPool;

    /**
     * Answers for partitions.
     *
     * @param images gives the newest image
     * @param blockingPool for look-ups by time
     */
    public ListOffsetsHandler(Supplier<MetadataImage> images, Shards shards, Executor blockingPool) {
        this.partitions = new Partitions(images, shards);
        this.blockingPool = blockingPool;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.LIST_OFFSETS, 1, 11);
    }

    @Override
    public void handle(RequestContext context, ListOffsetsRequest request) {
        PartitionFanOut fanOut = new PartitionFanOut(context.cycle());
        List<ListOffsetsResponse.ListOffsetsTopicResponse> topics = new ArrayList<>();
        for (ListOffsetsRequest.ListOffsetsTopic wanted : request.topics()) {
            List<ListOffsetsResponse.ListOffsetsPartitionResponse> answers = new ArrayList<>();
            topics.add(new ListOffsetsResponse.ListOffsetsTopicResponse()
                    .setName(wanted.name())
                    .setPartitions(answers));
            boolean committed = request.isolationLevel() == READ_COMMITTED;
            for (ListOffsetsRequest.ListOffsetsPartition partition : wanted.partitions()) {
                answers.add(ask(fanOut, context.apiVersion(), wanted.name(), partition, committed));
            }
        }
        fanOut.start(() -> {
            if (context.apiVersion() < FIRST_VERSION_WITH_EPOCHS) {
                topics.forEach(topic -> topic.partitions().forEach(answer -> answer.setLeaderEpoch((int) NONE)));
            }
            context.respond(new ListOffsetsResponse().setTopics(topics));
        });
    }

    private ListOffsetsResponse.ListOffsetsPartitionResponse ask(
            PartitionFanOut fanOut,
            short version,
            String name,
            ListOffsetsRequest.ListOffsetsPartition wanted,
            boolean readCommitted) {
        ListOffsetsResponse.ListOffsetsPartitionResponse answer =
                new ListOffsetsResponse.ListOffsetsPartitionResponse().setPartitionIndex(wanted.partitionIndex());
        answer.setTimestamp(NONE).setOffset(NONE);
        long timestamp = wanted.timestamp();
        if (timestamp < 0 && version < FIRST_VERSIONS.getOrDefault(timestamp, Integer.MAX_VALUE)) {
            return answer.setErrorCode(ErrorCode.UNSUPPORTED_VERSION.code());
        }
        TopicImage topic = partitions.topicOf(name, wanted.partitionIndex());
        if (topic == null) {
            return answer.setErrorCode(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.code());
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
                        look(host, wanted, readCommitted, answer, done);
                    }
                });
        return answer;
    }

    /** On the shard's loop. */
    private void look(
            PartitionHost host,
            ListOffsetsRequest.ListOffsetsPartition wanted,
            boolean readCommitted,
            ListOffsetsResponse.ListOffsetsPartitionResponse answer,
            Runnable done) {
        ErrorCode error = host.checkLeaderEpoch(wanted.currentLeaderEpoch());
        if (error != ErrorCode.NONE) {
            answer.setErrorCode(error.code());
            done.run();
            return;
        }
        long timestamp = wanted.timestamp();
        if (timestamp >= 0 || timestamp == MAX_TIMESTAMP) {
            lookByTime(host.log().offsetLookup(readCommitted), timestamp, answer, done);
            return;
        }
        if (timestamp == LATEST) {
            answer.setOffset(
                            readCommitted
                                    ? host.log().lastStableOffset()
                                    : host.log().highWatermark())
                    .setLeaderEpoch(host.leaderEpoch());
        } else if (timestamp == EARLIEST || timestamp == EARLIEST_LOCAL) {
            answer.setOffset(host.log().startOffset())
                    .setLeaderEpoch(host.journal().epochOf(host.log().startOffset()));
        }
        done.run();
    }

    private void lookByTime(
            OffsetLookup lookup,
            long timestampMs,
            ListOffsetsResponse.ListOffsetsPartitionResponse answer,
            Runnable done) {
        try {
            blockingPool.execute(() -> {
                OffsetLookup.Found found = timestampMs == MAX_TIMESTAMP ? lookup.largest() : lookup.first(timestampMs);
                answer.setErrorCode(found.error().code())
                        .setTimestamp(found.timestampMs())
                        .setOffset(found.offset())
                        .setLeaderEpoch(found.leaderEpoch());
                done.run();
            });
        } catch (RejectedExecutionException overloaded) {
            answer.setErrorCode(ErrorCode.REQUEST_TIMED_OUT.code());
            done.run();
        }
    }
}
