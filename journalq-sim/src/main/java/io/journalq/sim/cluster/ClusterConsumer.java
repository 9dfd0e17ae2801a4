package io.journalq.sim.cluster;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.common.record.BatchReader;
import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Reads one partition from its leader, from the beginning on. */
final class ClusterConsumer {
    /** A version without fetch sessions and with topic names. */
    private static final int FETCH_VERSION = 12;

    private static final int MAX_WAIT_MS = 20;
    private static final int MAX_BYTES = 1 << 20;
    private static final int RETRY_PAUSE_MS = 60;
    private static final int LONGEST_PAUSE_MS = 20;

    private final ClusterClient client;
    private final ClusterListener listener;
    private final ClusterPartition partition;
    private long next;
    private long highWatermark = Long.MAX_VALUE;
    private ErrorCode lastError = ErrorCode.NONE;
    private boolean stopped;

    ClusterConsumer(ClusterClient client, ClusterListener listener, ClusterPartition partition) {
        this.client = client;
        this.listener = listener;
        this.partition = partition;
    }

    void start() {
        client.later(LONGEST_PAUSE_MS, this::act);
    }

    void stop() {
        stopped = true;
    }

    ClusterPartition partition() {
        return partition;
    }

    /** Whether everything up to the high watermark of the last response was read. */
    boolean isAtEnd() {
        return next >= highWatermark;
    }

    /** The error of the last response. */
    ErrorCode lastError() {
        return lastError;
    }

    private void act() {
        if (stopped) {
            return;
        }
        int leader = client.leaderOf(partition);
        if (leader == ClusterClient.UNKNOWN) {
            client.refresh(() -> client.later(RETRY_PAUSE_MS, this::act));
            return;
        }
        FetchRequest request = new FetchRequest()
                .setMaxWaitMs(MAX_WAIT_MS)
                .setMinBytes(1)
                .setMaxBytes(MAX_BYTES)
                .setSessionEpoch(-1)
                .setTopics(List.of(new FetchRequest.FetchTopic()
                        .setTopic(partition.topic())
                        .setPartitions(List.of(new FetchRequest.FetchPartition()
                                .setPartition(partition.number())
                                .setFetchOffset(next)
                                .setLastFetchedEpoch(-1)
                                .setPartitionMaxBytes(MAX_BYTES)))));
        client.send(leader, ApiKey.FETCH, FETCH_VERSION, request, message -> {}, this::onResult);
    }

    private void onResult(ApiMessage message) {
        if (!(message instanceof FetchResponse response)) {
            lastError = ErrorCode.NETWORK_EXCEPTION;
            client.refresh(() -> client.later(RETRY_PAUSE_MS, this::act));
            return;
        }
        FetchResponse.PartitionData data =
                response.responses().get(0).partitions().get(0);
        lastError = ErrorCode.of(data.errorCode());
        if (lastError == ErrorCode.NONE) {
            highWatermark = data.highWatermark();
            read(data);
            client.later(LONGEST_PAUSE_MS, this::act);
            return;
        }
        if (lastError == ErrorCode.OFFSET_OUT_OF_RANGE) {
            next = 0; // The partition has lost its end.
        }
        client.refresh(() -> client.later(RETRY_PAUSE_MS, this::act));
    }

    private void read(FetchResponse.PartitionData data) {
        ByteBuf batches = data.records() == null ? null : data.records().buffer();
        if (batches == null) {
            return;
        }
        try (BatchReader reader = new BatchReader(UnpooledByteBufAllocator.DEFAULT, MAX_BYTES, true)) {
            reader.reset(batches);
            while (reader.nextBatch()) {
                int epoch = RecordBatch.leaderEpoch(batches, reader.batchIndex());
                while (reader.next()) {
                    if (reader.offset() >= next) {
                        String id = new String(ByteBufUtil.getBytes(reader.value()), StandardCharsets.US_ASCII);
                        listener.onRead(partition, reader.offset(), epoch, id);
                    }
                }
                next = Math.max(next, reader.nextOffset());
            }
        }
        data.records().release();
    }
}
