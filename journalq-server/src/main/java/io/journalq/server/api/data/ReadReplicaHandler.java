package io.journalq.server.api.data;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.RecordsData;
import io.journalq.common.protocol.message.ReadReplicaRequest;
import io.journalq.common.protocol.message.ReadReplicaResponse;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.api.peer.PeerGate;
import io.journalq.server.journal.read.RangeCheck;
import io.journalq.server.journal.read.RangeCheck.CheckedRange;
import io.journalq.server.journal.read.RangeCheck.Range;
import io.journalq.server.loop.ConcurrencyLimitedExecutor;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.security.Right;
import io.journalq.server.shard.Shard;
import io.journalq.server.shard.Shards;
import io.journalq.server.shard.healing.DamageListener;
import io.journalq.server.shard.partition.PartitionHost;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * ReadReplica, version 0: reads a range of the log of this broker's replica, whether it leads or not, checks every batch,
 * and responds with a checksum. Kafka has no such API. Below the high watermark, replicas that were never compacted have
 * the same batches, so that the checksums of a range are equal. Other brokers also get the batches.
 *
 * <p>Requests are read one after another, so that they take at most one processor and one thread from other work.
 */
public final class ReadReplicaHandler implements Handler<ReadReplicaRequest> {
    private static final Logger log = LoggerFactory.getLogger(ReadReplicaHandler.class);

    /** Maximum size that one request reads, even if it asks for more. */
    static final int MAX_BYTES = 8 << 20;

    /** Maximum size of the batches in a response, unless a single one is larger. */
    static final int MAX_RECORDS_BYTES = 1 << 20;

    private final Supplier<MetadataImage> images;
    private final Shards shards;
    private final Executor reading;
    private final DamageListener damage;
    /** Null for a broker that is alone. */
    private final PeerGate gate;

    /**
     * Serves the partitions of {@code shards}.
     *
     * @param images supplies the newest image
     * @param blockingPool reads the files
     * @param damage learns of damage
     * @param gate admits other brokers, which get the batches; null for a broker that is alone
     */
    public ReadReplicaHandler(
            Supplier<MetadataImage> images,
            Shards shards,
            Executor blockingPool,
            DamageListener damage,
            PeerGate gate) {
        this.images = images;
        this.shards = shards;
        this.reading = new ConcurrencyLimitedExecutor(blockingPool, 1);
        this.damage = damage;
        this.gate = gate;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.READ_REPLICA, 0, 0, AccessRule.asks(Right.DESCRIBE_CLUSTER, Right.CLUSTER_ACTION));
    }

    @Override
    public void handle(RequestContext context, ReadReplicaRequest request) {
        if (!isAllowed(context, request)) {
            fail(context, ErrorCode.CLUSTER_AUTHORIZATION_FAILED, context.denial());
            return;
        }
        TopicImage topic = images.get().topic(request.topicId());
        if (topic == null) {
            fail(context, ErrorCode.UNKNOWN_TOPIC_ID, null);
        } else if (!topic.hasPartition(request.partition())) {
            fail(context, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, null);
        } else {
            Shard shard = shards.shardOf(topic.id(), request.partition());
            shard.cycle().execute(() -> look(shard, context, request));
        }
    }

    private boolean isAllowed(RequestContext context, ReadReplicaRequest request) {
        if (!request.withRecords()) {
            return context.allows(Right.DESCRIBE_CLUSTER);
        }
        if (gate == null || !gate.admits(context, ApiKey.READ_REPLICA, Right.CLUSTER_ACTION)) {
            return false;
        }
        context.exemptFromQuotas();
        return true;
    }

    private static void fail(RequestContext context, ErrorCode error, String reason) {
        context.respond(new ReadReplicaResponse().setErrorCode(error.code()).setErrorMessage(reason));
    }

    /** On the shard's loop. */
    private void look(Shard shard, RequestContext context, ReadReplicaRequest request) {
        PartitionHost host = shard.host(request.topicId(), request.partition());
        if (host == null) {
            fail(
                    context,
                    shards.offlinePartitions().errorOfMissing(request.topicId(), request.partition()),
                    "this broker has no replica that it can read");
            return;
        }
        if (host.isOffline()) {
            fail(context, ErrorCode.KAFKA_STORAGE_ERROR, "the replica is offline");
            return;
        }
        ReadReplicaResponse response = new ReadReplicaResponse()
                .setStartOffset(host.log().startOffset())
                .setHighWatermark(host.log().highWatermark())
                .setMayHaveGaps(host.journal().rewrites().mayHaveGaps())
                .setEndOffset(request.offset());
        long end = Math.min(request.endOffset(), response.highWatermark());
        if (request.offset() < response.startOffset() || request.offset() >= end) {
            context.respond(response);
            return;
        }
        int limit = request.withRecords() ? MAX_RECORDS_BYTES : MAX_BYTES;
        Range range = new Range(
                request.offset(), end, Math.max(0, Math.min(limit, request.maxBytes())), response.mayHaveGaps());
        try {
            reading.execute(() -> read(host, range, context, request, response));
        } catch (RejectedExecutionException overloaded) {
            fail(context, ErrorCode.REQUEST_TIMED_OUT, "the broker is stopping or overloaded");
        }
    }

    /** On a thread that may block. */
    private void read(
            PartitionHost host,
            Range range,
            RequestContext context,
            ReadReplicaRequest request,
            ReadReplicaResponse response) {
        ByteBuf batches = null;
        try (RangeCheck check = host.journal().rangeCheck()) {
            batches = request.withRecords() ? PooledByteBufAllocator.DEFAULT.buffer() : null;
            CheckedRange checked = check.run(range, batches);
            if (checked.isDamaged()) {
                damage.onDamage(request.topicId(), request.partition(), checked.endOffset());
            }
            response.setEndOffset(checked.endOffset())
                    .setDamagedUntil(checked.damagedUntil())
                    .setSizeBytes(checked.sizeBytes())
                    .setBatches(checked.batches())
                    .setChecksum(checked.checksum());
            if (batches != null) {
                response.setRecords(RecordsData.of(batches));
                batches = null;
            }
        } catch (IOException failure) {
            log.error("cannot read a replica: partition={} offset={}", host.name(), range.offset(), failure);
            response.setErrorCode(ErrorCode.KAFKA_STORAGE_ERROR.code()).setErrorMessage(failure.getMessage());
        } catch (OutOfMemoryError noMemory) {
            response.setErrorCode(ErrorCode.REQUEST_TIMED_OUT.code())
                    .setErrorMessage("the broker has too little memory: " + noMemory.getMessage());
        } finally {
            if (batches != null) {
                batches.release();
            }
        }
        context.respond(response);
    }
}
