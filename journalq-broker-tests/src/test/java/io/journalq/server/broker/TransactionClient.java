package io.journalq.server.broker;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.AddOffsetsToTxnRequest;
import io.journalq.common.protocol.message.AddOffsetsToTxnResponse;
import io.journalq.common.protocol.message.AddPartitionsToTxnRequest;
import io.journalq.common.protocol.message.AddPartitionsToTxnResponse;
import io.journalq.common.protocol.message.DescribeTransactionsRequest;
import io.journalq.common.protocol.message.DescribeTransactionsResponse;
import io.journalq.common.protocol.message.EndTxnRequest;
import io.journalq.common.protocol.message.EndTxnResponse;
import io.journalq.common.protocol.message.FindCoordinatorRequest;
import io.journalq.common.protocol.message.FindCoordinatorResponse;
import io.journalq.common.protocol.message.InitProducerIdRequest;
import io.journalq.common.protocol.message.InitProducerIdResponse;
import io.journalq.common.protocol.message.ProduceRequest;
import io.journalq.common.protocol.message.ProduceResponse;
import io.journalq.common.protocol.message.TxnOffsetCommitRequest;
import io.journalq.common.protocol.message.TxnOffsetCommitResponse;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * A transactional producer on one plain socket, of either generation. It acts only on request and hides no error. It
 * retries only if the protocol requires the client to wait.
 */
final class TransactionClient implements AutoCloseable {
    private static final int TRANSACTION_TIMEOUT_MS = 60_000;
    private static final int LIMIT_SECONDS = 30;
    private static final byte TRANSACTION_KEY = 1;

    final WireClient wire;
    final String id;
    final boolean second;
    private final Map<String, Integer> sequences = new TreeMap<>();
    long producerId = -1;
    short epoch = -1;

    /** @param second whether it uses the second generation of the protocol (KIP-890) */
    TransactionClient(int port, String id, boolean second) throws IOException {
        this.wire = new WireClient(port);
        this.id = id;
        this.second = second;
    }

    private interface Attempt {
        ErrorCode run() throws IOException;
    }

    private static boolean passes(ErrorCode error) {
        return switch (error) {
            case CONCURRENT_TRANSACTIONS,
                    COORDINATOR_LOAD_IN_PROGRESS,
                    COORDINATOR_NOT_AVAILABLE,
                    NOT_ENOUGH_REPLICAS -> true;
            default -> false;
        };
    }

    /** Retries until the response has no temporary error. */
    private static ErrorCode ask(Attempt attempt) throws IOException {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        ErrorCode error = attempt.run();
        while (passes(error) && System.nanoTime() < deadlineNanos) {
            Thread.onSpinWait();
            error = attempt.run();
        }
        return error;
    }

    /** Creates the internal topics. */
    void findCoordinators(String group) throws IOException {
        FindCoordinatorRequest forTransaction =
                new FindCoordinatorRequest().setKeyType(TRANSACTION_KEY).setCoordinatorKeys(List.of(id));
        ask(() -> ErrorCode.of(wire.call(FindCoordinatorResponse.class, forTransaction, 4)
                .coordinators()
                .get(0)
                .errorCode()));
        FindCoordinatorRequest forGroup = new FindCoordinatorRequest().setCoordinatorKeys(List.of(group));
        ask(() -> ErrorCode.of(wire.call(FindCoordinatorResponse.class, forGroup, 4)
                .coordinators()
                .get(0)
                .errorCode()));
    }

    /** Starts a producer with the transactional id, which fences the previous one. */
    ErrorCode init() throws IOException {
        return init(TRANSACTION_TIMEOUT_MS);
    }

    ErrorCode init(int timeoutMs) throws IOException {
        sequences.clear();
        return ask(() -> {
            InitProducerIdResponse response = wire.call(
                    InitProducerIdResponse.class,
                    new InitProducerIdRequest().setTransactionalId(id).setTransactionTimeoutMs(timeoutMs),
                    5);
            producerId = response.producerId();
            epoch = response.producerEpoch();
            return ErrorCode.of(response.errorCode());
        });
    }

    ErrorCode addPartition(String topic, int partition) throws IOException {
        AddPartitionsToTxnRequest request = new AddPartitionsToTxnRequest()
                .setV3AndBelowTransactionalId(id)
                .setV3AndBelowProducerId(producerId)
                .setV3AndBelowProducerEpoch(epoch)
                .setV3AndBelowTopics(List.of(new AddPartitionsToTxnRequest.AddPartitionsToTxnTopic()
                        .setName(topic)
                        .setPartitions(List.of(partition))));
        return ask(() -> ErrorCode.of(wire.call(AddPartitionsToTxnResponse.class, request, 3)
                .resultsByTopicV3AndBelow()
                .get(0)
                .resultsByPartition()
                .get(0)
                .partitionErrorCode()));
    }

    /**
     * Appends one record to a partition that takes part already. In the second generation, this also adds the
     * partition.
     */
    ErrorCode produce(String topic, int partition, String value) throws IOException {
        return produce(topic, partition, value, second ? 12 : 11);
    }

    ErrorCode produce(String topic, int partition, String value, int version) throws IOException {
        String place = topic + "-" + partition;
        int sequence = sequences.getOrDefault(place, 0);
        ErrorCode error = ask(() -> {
            ProduceRequest request = WireClient.produceRequest(
                            topic, partition, batch(value, producerId, epoch, sequence))
                    .setTransactionalId(id);
            return ErrorCode.of(wire.call(ProduceResponse.class, request, version)
                    .responses()
                    .get(0)
                    .partitionResponses()
                    .get(0)
                    .errorCode());
        });
        if (error == ErrorCode.NONE) {
            sequences.put(place, sequence + 1);
        }
        return error;
    }

    static ByteBuf batch(String value, long producerId, short epoch, int sequence) {
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, CompressionCodec.NONE)) {
            builder.setProducerState(producerId, epoch, sequence, true);
            builder.append(
                    System.currentTimeMillis(), (byte[]) null, value.getBytes(StandardCharsets.UTF_8), List.of());
            return builder.build();
        }
    }

    ErrorCode addOffsets(String group) throws IOException {
        AddOffsetsToTxnRequest request = new AddOffsetsToTxnRequest()
                .setTransactionalId(id)
                .setProducerId(producerId)
                .setProducerEpoch(epoch)
                .setGroupId(group);
        return ask(() -> ErrorCode.of(
                wire.call(AddOffsetsToTxnResponse.class, request, 3).errorCode()));
    }

    /** Commits an offset with the transaction. */
    ErrorCode commitOffset(String group, String topic, int partition, long offset) throws IOException {
        return commitOffset(group, topic, partition, offset, second ? 5 : 4);
    }

    ErrorCode commitOffset(String group, String topic, int partition, long offset, int version) throws IOException {
        TxnOffsetCommitRequest request = new TxnOffsetCommitRequest()
                .setTransactionalId(id)
                .setGroupId(group)
                .setProducerId(producerId)
                .setProducerEpoch(epoch)
                .setTopics(List.of(new TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic()
                        .setName(topic)
                        .setPartitions(List.of(new TxnOffsetCommitRequest.TxnOffsetCommitRequestPartition()
                                .setPartitionIndex(partition)
                                .setCommittedOffset(offset)
                                .setCommittedMetadata("")))));
        return ask(() -> ErrorCode.of(wire.call(TxnOffsetCommitResponse.class, request, version)
                .topics()
                .get(0)
                .partitions()
                .get(0)
                .errorCode()));
    }

    /** Commits or aborts. In the second generation, the producer continues in its next epoch. */
    ErrorCode end(boolean commit) throws IOException {
        return ask(() -> {
            EndTxnResponse response = wire.call(
                    EndTxnResponse.class,
                    new EndTxnRequest()
                            .setTransactionalId(id)
                            .setProducerId(producerId)
                            .setProducerEpoch(epoch)
                            .setCommitted(commit),
                    second ? 5 : 4);
            if (second && response.errorCode() == 0) {
                producerId = response.producerId();
                epoch = response.producerEpoch();
                sequences.clear();
            }
            return ErrorCode.of(response.errorCode());
        });
    }

    DescribeTransactionsResponse.TransactionState describe() throws IOException {
        return wire.call(
                        DescribeTransactionsResponse.class,
                        new DescribeTransactionsRequest().setTransactionalIds(List.of(id)),
                        0)
                .transactionStates()
                .get(0);
    }

    /** Waits until the id has no open or ending transaction. */
    void awaitIdle() throws IOException {
        ask(() -> {
            DescribeTransactionsResponse.TransactionState state = describe();
            if (state.errorCode() != 0) {
                return ErrorCode.of(state.errorCode());
            }
            boolean busy = state.transactionState().equals("Ongoing")
                    || state.transactionState().startsWith("Prepare");
            return busy ? ErrorCode.CONCURRENT_TRANSACTIONS : ErrorCode.NONE;
        });
    }

    @Override
    public void close() throws IOException {
        wire.close();
    }
}
