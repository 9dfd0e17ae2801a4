package io.journalq.server.api.data;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ListOffsetsRequest;
import io.journalq.common.protocol.message.ListOffsetsResponse;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.security.Right;
import io.journalq.server.shard.Shards;
import io.journalq.server.shard.partition.PartitionHost;
import io.journalq.server.shard.read.TimestampLookup;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;

/**
 * ListOffsets, versions 1 to 11: the first, the last and other special offsets of partitions, or the first offset whose
 * record has at least a given timestamp. Lookups by timestamp read the journal, in the blocking pool.
 *
 * <p>Special timestamps:
 * <ul>
 * <li>-1: the end of the log. With isolation level 1, the last stable offset, beyond which lookups by timestamp find
 *     nothing either (KIP-98).
 * <li>-2: the start of the log.
 * <li>-3: the record with the largest timestamp (KIP-734).
 * <li>-4: the start of the local log, which is the start of the log (KIP-405).
 * <li>-5 and -6: the ends of the tiered log and of the log that is not yet tiered. There is no tiered storage, so there
 *     is no such offset (KIP-1005, KIP-1023).
 * </ul>
 *
 * <p>A new leader does not know yet what consumers have seen. It responds with OFFSET_NOT_AVAILABLE until everything
 * before its epoch is below the high watermark (KIP-207).
 *
 * <p>If the version of the request does not know a special timestamp, it is refused with UNSUPPORTED_VERSION, as in
 * Kafka.
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
    private static final short FIRST_VERSION_WITH_NOT_AVAILABLE = 5;
    private static final byte READ_COMMITTED = 1;

    /**
     * The first version that supports each special timestamp. Earlier versions treat it like any other unknown negative
     * timestamp.
     */
    private static final Map<Long, Integer> FIRST_VERSIONS = Map.of(
            EARLIEST, 1,
            LATEST, 1,
            MAX_TIMESTAMP, 7,
            EARLIEST_LOCAL, 8,
            LATEST_TIERED, 9,
            EARLIEST_PENDING_UPLOAD, 11);

    private final Supplier<MetadataImage> images;
    private final Shards shards;
    private final Executor blockingPool;

    /**
     * Serves the partitions of {@code shards}.
     *
     * @param images supplies the newest image
     * @param blockingPool for lookups by timestamp
     */
    public ListOffsetsHandler(Supplier<MetadataImage> images, Shards shards, Executor blockingPool) {
        this.images = images;
        this.shards = shards;
        this.blockingPool = blockingPool;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.LIST_OFFSETS, 1, 11, AccessRule.asks(Right.DESCRIBE_TOPIC));
    }

    @Override
    public void handle(RequestContext context, ListOffsetsRequest request) {
        PartitionFanOut fanOut = new PartitionFanOut(context.cycle(), images.get(), shards);
        List<ListOffsetsResponse.ListOffsetsTopicResponse> topics = new ArrayList<>();
        for (ListOffsetsRequest.ListOffsetsTopic wanted : request.topics()) {
            List<ListOffsetsResponse.ListOffsetsPartitionResponse> responses = new ArrayList<>();
            topics.add(new ListOffsetsResponse.ListOffsetsTopicResponse()
                    .setName(wanted.name())
                    .setPartitions(responses));
            boolean mayDescribe = context.allows(Right.DESCRIBE_TOPIC, wanted.name());
            boolean committed = request.isolationLevel() == READ_COMMITTED;
            for (ListOffsetsRequest.ListOffsetsPartition partition : wanted.partitions()) {
                responses.add(
                        mayDescribe
                                ? ask(fanOut, context.apiVersion(), wanted.name(), partition, committed)
                                : denied(partition));
            }
        }
        fanOut.start(() -> {
            if (context.apiVersion() < FIRST_VERSION_WITH_EPOCHS) {
                topics.forEach(topic -> topic.partitions().forEach(response -> response.setLeaderEpoch((int) NONE)));
            }
            context.respond(new ListOffsetsResponse().setTopics(topics));
        });
    }

    private static ListOffsetsResponse.ListOffsetsPartitionResponse denied(
            ListOffsetsRequest.ListOffsetsPartition wanted) {
        return new ListOffsetsResponse.ListOffsetsPartitionResponse()
                .setPartitionIndex(wanted.partitionIndex())
                .setTimestamp(NONE)
                .setOffset(NONE)
                .setErrorCode(ErrorCode.TOPIC_AUTHORIZATION_FAILED.code());
    }

    private ListOffsetsResponse.ListOffsetsPartitionResponse ask(
            PartitionFanOut fanOut,
            short version,
            String name,
            ListOffsetsRequest.ListOffsetsPartition wanted,
            boolean readCommitted) {
        ListOffsetsResponse.ListOffsetsPartitionResponse response =
                new ListOffsetsResponse.ListOffsetsPartitionResponse().setPartitionIndex(wanted.partitionIndex());
        response.setTimestamp(NONE).setOffset(NONE);
        long timestamp = wanted.timestamp();
        if (timestamp < 0 && version < FIRST_VERSIONS.getOrDefault(timestamp, Integer.MAX_VALUE)) {
            return response.setErrorCode(ErrorCode.UNSUPPORTED_VERSION.code());
        }
        fanOut.add(
                name,
                wanted.partitionIndex(),
                error -> response.setErrorCode(error.code()),
                (host, done) -> look(host, version, wanted, readCommitted, response, done));
        return response;
    }

    /** On the shard's loop. */
    private void look(
            PartitionHost host,
            short version,
            ListOffsetsRequest.ListOffsetsPartition wanted,
            boolean readCommitted,
            ListOffsetsResponse.ListOffsetsPartitionResponse response,
            Runnable done) {
        ErrorCode error = host.checkLeaderEpoch(wanted.currentLeaderEpoch());
        boolean early = wanted.timestamp() == EARLIEST || wanted.timestamp() == EARLIEST_LOCAL;
        if (error == ErrorCode.NONE && !early && !host.isEndKnown()) {
            error = version < FIRST_VERSION_WITH_NOT_AVAILABLE
                    ? ErrorCode.LEADER_NOT_AVAILABLE
                    : ErrorCode.OFFSET_NOT_AVAILABLE;
        }
        if (error != ErrorCode.NONE) {
            response.setErrorCode(error.code());
            done.run();
            return;
        }
        long timestamp = wanted.timestamp();
        if (timestamp >= 0 || timestamp == MAX_TIMESTAMP) {
            lookByTime(host.log().offsetLookup(readCommitted), timestamp, response, done);
            return;
        }
        if (timestamp == LATEST) {
            response.setOffset(
                            readCommitted
                                    ? host.log().lastStableOffset()
                                    : host.log().highWatermark())
                    .setLeaderEpoch(host.leaderEpoch());
        } else if (early) {
            response.setOffset(host.log().startOffset())
                    .setLeaderEpoch(host.journal().epochs().epochOf(host.log().startOffset()));
        }
        done.run();
    }

    private void lookByTime(
            TimestampLookup lookup,
            long timestampMs,
            ListOffsetsResponse.ListOffsetsPartitionResponse response,
            Runnable done) {
        try {
            blockingPool.execute(() -> {
                TimestampLookup.Found found =
                        timestampMs == MAX_TIMESTAMP ? lookup.largest() : lookup.first(timestampMs);
                response.setErrorCode(found.error().code())
                        .setTimestamp(found.timestampMs())
                        .setOffset(found.offset())
                        .setLeaderEpoch(found.leaderEpoch());
                done.run();
            });
        } catch (RejectedExecutionException overloaded) {
            response.setErrorCode(ErrorCode.REQUEST_TIMED_OUT.code());
            done.run();
        }
    }
}
