package io.journalq.sim.cluster;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.RecordsData;
import io.journalq.common.protocol.message.InitProducerIdRequest;
import io.journalq.common.protocol.message.InitProducerIdResponse;
import io.journalq.common.protocol.message.ProduceRequest;
import io.journalq.common.protocol.message.ProduceResponse;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.journalq.sim.world.SimClock;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * An idempotent producer of one partition, with one request in flight. After a request whose outcome it does not know,
 * it goes on with another producer id and other records.
 */
final class ClusterProducer {
    private static final int INIT_VERSION = 4;
    private static final int PRODUCE_VERSION = 9;
    private static final int LONGEST_PAUSE_MS = 30;
    private static final int RETRY_PAUSE_MS = 60;
    private static final int MOST_RECORDS = 3;
    private static final long NO_ID = -1;
    private static final short ALL = -1;
    private static final short LEADER = 1;
    /** All records are equally old. */
    private static final long TIMESTAMP_MS = SimClock.EPOCH_MS;

    private final ClusterClient client;
    private final ClusterListener listener;
    private final ClusterPartition partition;
    private final String name;
    private long producerId = NO_ID;
    private int nextSequence;
    private int nextNumber;
    private boolean stopped;

    ClusterProducer(ClusterClient client, ClusterListener listener, ClusterPartition partition, String name) {
        this.client = client;
        this.listener = listener;
        this.partition = partition;
        this.name = name;
    }

    void start() {
        client.later(LONGEST_PAUSE_MS, this::act);
    }

    /** Sends nothing more. */
    void stop() {
        stopped = true;
    }

    private void act() {
        if (stopped) {
            return;
        }
        int leader = client.leaderOf(partition);
        if (leader == ClusterClient.UNKNOWN) {
            client.refresh(() -> client.later(RETRY_PAUSE_MS, this::act));
        } else if (producerId == NO_ID) {
            begin();
        } else {
            produce(leader);
        }
    }

    private void begin() {
        client.send(
                client.anyBroker(),
                ApiKey.INIT_PRODUCER_ID,
                INIT_VERSION,
                new InitProducerIdRequest().setTransactionalId(null),
                message -> {
                    if (message instanceof InitProducerIdResponse response && response.errorCode() == 0) {
                        listener.onProducerId(response.producerId());
                    }
                },
                message -> {
                    if (message instanceof InitProducerIdResponse response && response.errorCode() == 0) {
                        producerId = response.producerId();
                        nextSequence = 0;
                    }
                    client.later(producerId == NO_ID ? RETRY_PAUSE_MS : LONGEST_PAUSE_MS, this::act);
                });
    }

    private void produce(int leader) {
        List<String> ids = new ArrayList<>();
        for (int i = 1 + client.random().nextInt(MOST_RECORDS); i > 0; i--) {
            ids.add(name + ":" + nextNumber++);
        }
        ProduceRequest request = new ProduceRequest()
                .setAcks(partition.byAll() ? ALL : LEADER)
                .setTimeoutMs(30_000)
                .setTopicData(List.of(new ProduceRequest.TopicProduceData()
                        .setName(partition.topic())
                        .setPartitionData(List.of(new ProduceRequest.PartitionProduceData()
                                .setIndex(partition.partition())
                                .setRecords(RecordsData.of(encode(
                                        builder -> builder.setProducerState(producerId, (short) 0, nextSequence, false),
                                        ids)))))));
        nextSequence += ids.size();
        client.send(
                leader,
                ApiKey.PRODUCE,
                PRODUCE_VERSION,
                request,
                message -> {
                    if (errorOf(message) == ErrorCode.NONE) {
                        long base = result(message).baseOffset();
                        for (int i = 0; i < ids.size(); i++) {
                            listener.onAcknowledged(partition, leader, base + i, ids.get(i));
                        }
                    }
                },
                message -> onResult(errorOf(message)));
    }

    private void onResult(ErrorCode error) {
        if (error == ErrorCode.NONE) {
            client.later(LONGEST_PAUSE_MS, this::act);
            return;
        }
        producerId = NO_ID;
        client.refresh(() -> client.later(RETRY_PAUSE_MS, this::act));
    }

    private static ErrorCode errorOf(ApiMessage message) {
        return message == null
                ? ErrorCode.NETWORK_EXCEPTION
                : ErrorCode.of(result(message).errorCode());
    }

    private static ProduceResponse.PartitionProduceResponse result(ApiMessage message) {
        return ((ProduceResponse) message)
                .responses()
                .get(0)
                .partitionResponses()
                .get(0);
    }

    /**
     * Encodes records as one batch.
     *
     * @param setProducer sets the state of the producer
     */
    static ByteBuf encode(Consumer<BatchBuilder> setProducer, List<String> ids) {
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, CompressionCodec.NONE)) {
            setProducer.accept(builder);
            for (String id : ids) {
                builder.append(TIMESTAMP_MS, null, id.getBytes(StandardCharsets.US_ASCII), List.of());
            }
            ByteBuf built = builder.build();
            ByteBuf copy = Unpooled.buffer(built.readableBytes()).writeBytes(built);
            built.release();
            return copy;
        }
    }
}
