package io.journalq.sim.workload;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.RecordsData;
import io.journalq.common.protocol.message.AddOffsetsToTxnRequest;
import io.journalq.common.protocol.message.AddOffsetsToTxnResponse;
import io.journalq.common.protocol.message.AddPartitionsToTxnRequest;
import io.journalq.common.protocol.message.AddPartitionsToTxnResponse;
import io.journalq.common.protocol.message.EndTxnRequest;
import io.journalq.common.protocol.message.EndTxnResponse;
import io.journalq.common.protocol.message.FindCoordinatorRequest;
import io.journalq.common.protocol.message.InitProducerIdRequest;
import io.journalq.common.protocol.message.InitProducerIdResponse;
import io.journalq.common.protocol.message.ProduceRequest;
import io.journalq.common.protocol.message.ProduceResponse;
import io.journalq.common.protocol.message.TxnOffsetCommitRequest;
import io.journalq.common.protocol.message.TxnOffsetCommitResponse;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.TransactionMarker;
import io.journalq.sim.workload.World.Work;
import io.journalq.sim.world.SimBroker;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes transactions to several partitions, one after the other, with the first version of the transaction protocol,
 * and commits most of them. After an error, the producer starts again with a new epoch, which aborts the open
 * transaction.
 */
public final class SimTransactionalProducer {
    private static final int FIND_VERSION = 4;
    private static final int INIT_VERSION = 4;
    private static final int ADD_VERSION = 3;
    private static final int PRODUCE_VERSION = 11;
    private static final int END_VERSION = 3;
    private static final byte TRANSACTIONS = 1;
    private static final int TIMEOUT_MS = 60_000;
    private static final int LONGEST_PAUSE_MS = 20;
    private static final int RETRY_PAUSE_MS = 50;
    private static final int ADD_OFFSETS_VERSION = 3;
    private static final int TXN_COMMIT_VERSION = 3;
    private static final int OFFSETS_ODDS = 3;
    private static final int MOST_PARTITIONS = 3;
    /** The marker of the producer, and the marker of the coordinator if the producer does not end the transaction. */
    private static final int MARKERS_SIZE_BYTES = 2 * TransactionMarker.BATCH_SIZE_BYTES;

    /**
     * Number of transactions whose markers a new coordinator may write again, because it may have lost the newest
     * state.
     */
    private static final int ENDED_AGAIN = 2;

    private final World world;
    private final List<Topic> topics;
    private final String id;
    private final List<Sent> transactions = new ArrayList<>();
    private final Map<PartitionHistory, Integer> sequences = new HashMap<>();
    private SimBroker.Connection connection;
    private long producerId;
    private short epoch;
    private int nextNumber;
    private int generation;
    private int waiting;
    private boolean failed;

    /** A transaction with its records by partition. */
    private static final class Sent extends SentTransaction {
        private final Map<PartitionHistory, List<SentRecord>> records = new LinkedHashMap<>();

        Sent(String name) {
            super(name);
        }

        void add(PartitionHistory partition, SentRecord record) {
            add(record.id(), partition.toString());
            records.computeIfAbsent(partition, none -> new ArrayList<>()).add(record);
            record.setTransaction(this);
        }

        PartitionHistory firstPartition() {
            return records.keySet().iterator().next();
        }
    }

    /** @param topics all topics; later ones are added */
    public SimTransactionalProducer(World world, List<Topic> topics, String id) {
        this.world = world;
        this.topics = topics;
        this.id = id;
    }

    /** All transactions that were begun. */
    public List<SentTransaction> transactions() {
        return List.copyOf(transactions);
    }

    /** A life of the broker begins. Requests in flight get no response. */
    public void onStart() {
        connection = world.broker().connect();
        transactions.stream()
                .skip(Math.max(0, transactions.size() - ENDED_AGAIN))
                .flatMap(ended -> ended.records.keySet().stream())
                .forEach(partition -> partition.onMarker(TransactionMarker.BATCH_SIZE_BYTES));
        FindCoordinatorRequest request =
                new FindCoordinatorRequest().setKeyType(TRANSACTIONS).setCoordinatorKeys(List.of(id));
        connection.send(
                ApiKey.FIND_COORDINATOR,
                FIND_VERSION,
                request,
                message -> world.deliver(() -> restart(RETRY_PAUSE_MS)));
    }

    private void restart(int longestMs) {
        world.later(longestMs, this::init);
    }

    private void init() {
        InitProducerIdRequest request =
                new InitProducerIdRequest().setTransactionalId(id).setTransactionTimeoutMs(TIMEOUT_MS);
        connection.send(
                ApiKey.INIT_PRODUCER_ID,
                INIT_VERSION,
                request,
                message -> world.deliver(() -> {
                    if (message instanceof InitProducerIdResponse response && response.errorCode() == 0) {
                        producerId = response.producerId();
                        epoch = response.producerEpoch();
                        sequences.clear();
                        generation++;
                        world.later(LONGEST_PAUSE_MS, this::begin);
                    } else {
                        restart(RETRY_PAUSE_MS);
                    }
                }));
    }

    /** The partitions of the next transaction, of topics that exist. */
    private List<PartitionHistory> choosePartitions() {
        return topics.stream()
                .filter(topic -> topic.state() == Topic.State.PRESENT)
                .flatMap(topic -> topic.partitions().stream())
                .limit(MOST_PARTITIONS)
                .toList();
    }

    private void begin() {
        List<PartitionHistory> partitions = choosePartitions();
        if (partitions.isEmpty()) {
            world.later(RETRY_PAUSE_MS, this::begin);
            return;
        }
        Sent transaction = new Sent(id + "." + transactions.size());
        transactions.add(transaction);
        List<AddPartitionsToTxnRequest.AddPartitionsToTxnTopic> added = new ArrayList<>();
        for (PartitionHistory partition : partitions) {
            for (int i = 1 + world.random().nextInt(2); i > 0; i--) {
                int number = nextNumber++;
                SentRecord record = new SentRecord(
                        transaction.name() + ":" + number, id + "/" + generation, number, partition.newContent(world));
                partition.add(record);
                transaction.add(partition, record);
            }
            partition.onMarker(MARKERS_SIZE_BYTES);
            added.add(new AddPartitionsToTxnRequest.AddPartitionsToTxnTopic()
                    .setName(partition.topic())
                    .setPartitions(List.of(partition.partition())));
        }
        AddPartitionsToTxnRequest request = new AddPartitionsToTxnRequest()
                .setV3AndBelowTransactionalId(id)
                .setV3AndBelowProducerId(producerId)
                .setV3AndBelowProducerEpoch(epoch)
                .setV3AndBelowTopics(added);
        connection.send(
                ApiKey.ADD_PARTITIONS_TO_TXN,
                ADD_VERSION,
                request,
                message -> world.deliver(() -> {
                    boolean taken = message instanceof AddPartitionsToTxnResponse response
                            && response.resultsByTopicV3AndBelow().stream()
                                    .flatMap(topic -> topic.resultsByPartition().stream())
                                    .allMatch(partition -> partition.partitionErrorCode() == 0);
                    if (taken) {
                        write(transaction);
                    } else {
                        restart(RETRY_PAUSE_MS);
                    }
                }));
    }

    private void write(Sent transaction) {
        waiting = transaction.records.size();
        failed = false;
        transaction.records.forEach((partition, records) -> {
            ProduceRequest request = new ProduceRequest()
                    .setTransactionalId(id)
                    .setAcks((short) -1)
                    .setTimeoutMs(30_000)
                    .setTopicData(List.of(new ProduceRequest.TopicProduceData()
                            .setName(partition.topic())
                            .setPartitionData(List.of(new ProduceRequest.PartitionProduceData()
                                    .setIndex(partition.partition())
                                    .setRecords(RecordsData.of(encode(partition, records)))))));
            connection.send(ApiKey.PRODUCE, PRODUCE_VERSION, request, message -> {
                boolean stored = false;
                if (message instanceof ProduceResponse response) {
                    var data = response.responses().get(0).partitionResponses().get(0);
                    stored = data.errorCode() == 0;
                    for (int i = 0; stored && i < records.size(); i++) {
                        world.onAcknowledged(partition, records.get(i), data.baseOffset() + i);
                    }
                }
                boolean allStored = stored;
                world.deliver(() -> onWritten(transaction, allStored));
            });
        });
    }

    private ByteBuf encode(PartitionHistory partition, List<SentRecord> records) {
        int sequence = sequences.merge(partition, records.size(), Integer::sum) - records.size();
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, CompressionCodec.NONE)) {
            builder.setProducerState(producerId, epoch, sequence, true);
            return SentRecord.encode(builder, partition, records);
        }
    }

    private void onWritten(Sent transaction, boolean stored) {
        failed |= !stored;
        waiting--;
        if (waiting > 0) {
            return;
        }
        if (failed) {
            restart(RETRY_PAUSE_MS);
        } else {
            world.later(LONGEST_PAUSE_MS, () -> {
                if (world.random().nextInt(OFFSETS_ODDS) == 0) {
                    addOffsets(transaction);
                } else {
                    end(transaction, null);
                }
            });
        }
    }

    private CommitHistory history(Sent transaction) {
        return world.commits("offsets-" + id, transaction.firstPartition());
    }

    private void addOffsets(Sent transaction) {
        AddOffsetsToTxnRequest request = new AddOffsetsToTxnRequest()
                .setTransactionalId(id)
                .setProducerId(producerId)
                .setProducerEpoch(epoch)
                .setGroupId("offsets-" + id);
        connection.send(
                ApiKey.ADD_OFFSETS_TO_TXN,
                ADD_OFFSETS_VERSION,
                request,
                message -> world.deliver(() -> {
                    if (message instanceof AddOffsetsToTxnResponse response && response.errorCode() == 0) {
                        commitOffsets(transaction);
                    } else {
                        restart(RETRY_PAUSE_MS);
                    }
                }));
    }

    private void commitOffsets(Sent transaction) {
        PartitionHistory partition = transaction.firstPartition();
        OffsetCommitSender.Position position = partition.readPosition();
        TxnOffsetCommitRequest request = new TxnOffsetCommitRequest()
                .setTransactionalId(id)
                .setProducerId(producerId)
                .setProducerEpoch(epoch)
                .setGroupId("offsets-" + id)
                .setTopics(List.of(new TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic()
                        .setName(partition.topic())
                        .setPartitions(List.of(new TxnOffsetCommitRequest.TxnOffsetCommitRequestPartition()
                                .setPartitionIndex(partition.partition())
                                .setCommittedOffset(position.offset())
                                .setCommittedLeaderEpoch(position.leaderEpoch())))));
        connection.send(
                ApiKey.TXN_OFFSET_COMMIT,
                TXN_COMMIT_VERSION,
                request,
                message -> world.deliver(() -> {
                    boolean taken = message instanceof TxnOffsetCommitResponse response
                            && response.topics().get(0).partitions().get(0).errorCode() == 0;
                    if (taken) {
                        end(transaction, position);
                    } else {
                        restart(RETRY_PAUSE_MS);
                    }
                }));
    }

    /** @param position the position to commit in the transaction; null for none */
    private void end(Sent transaction, OffsetCommitSender.Position position) {
        boolean commit = world.random().nextInt(4) > 0;
        transaction.onEnding(commit);
        CommitHistory.Commit offsets = commit && position != null
                ? history(transaction).add(position.offset(), world.nowMs()).inTransaction()
                : null;
        EndTxnRequest request = new EndTxnRequest()
                .setTransactionalId(id)
                .setProducerId(producerId)
                .setProducerEpoch(epoch)
                .setCommitted(commit);
        connection.send(ApiKey.END_TXN, END_VERSION, request, message -> {
            boolean ended =
                    message instanceof EndTxnResponse response && ErrorCode.of(response.errorCode()) == ErrorCode.NONE;
            if (ended) {
                transaction.onAcknowledged();
                world.did(commit ? Work.TRANSACTIONS_COMMITTED : Work.TRANSACTIONS_ABORTED, 1);
                if (offsets != null) {
                    offsets.acknowledge(world.nowMs());
                    world.did(Work.TRANSACTIONS_WITH_OFFSETS, 1);
                }
            }
            world.deliver(() -> {
                if (ended) {
                    world.later(LONGEST_PAUSE_MS, this::begin);
                } else {
                    restart(RETRY_PAUSE_MS);
                }
            });
        });
    }
}
