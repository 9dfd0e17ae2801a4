package io.journalq.sim.cluster;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.RecordsData;
import io.journalq.common.protocol.message.AddOffsetsToTxnRequest;
import io.journalq.common.protocol.message.AddOffsetsToTxnResponse;
import io.journalq.common.protocol.message.AddPartitionsToTxnRequest;
import io.journalq.common.protocol.message.AddPartitionsToTxnResponse;
import io.journalq.common.protocol.message.EndTxnRequest;
import io.journalq.common.protocol.message.EndTxnResponse;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.common.protocol.message.InitProducerIdRequest;
import io.journalq.common.protocol.message.InitProducerIdResponse;
import io.journalq.common.protocol.message.OffsetFetchRequest;
import io.journalq.common.protocol.message.OffsetFetchResponse;
import io.journalq.common.protocol.message.ProduceRequest;
import io.journalq.common.protocol.message.ProduceResponse;
import io.journalq.common.protocol.message.TxnOffsetCommitRequest;
import io.journalq.common.protocol.message.TxnOffsetCommitResponse;
import io.journalq.sim.workload.LogReader;
import io.journalq.sim.workload.SentTransaction;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * One instance of a {@link CopyJob}: reads committed records, writes their copies in a transaction, adds its position to
 * that, and commits most transactions. It repeats a request after an error that says so, or without a response. After
 * other errors it starts again, which aborts its open transaction. The other instance of the job has the same
 * transactional id: each one that starts fences the other, also in the middle of a transaction.
 */
final class ClusterCopier {
    private static final int INIT_VERSION = 4;
    private static final int OFFSET_FETCH_VERSION = 7;
    private static final int ADD_VERSION = 3;
    private static final int ADD_OFFSETS_VERSION = 3;
    private static final int PRODUCE_VERSION = 11;
    private static final int COMMIT_VERSION = 3;
    private static final int END_VERSION = 3;
    private static final int PRODUCE_VERSION_THAT_ADDS = 12;
    private static final int COMMIT_VERSION_THAT_ADDS = 5;
    private static final int END_VERSION_WITH_EPOCHS = 5;

    private static final short ALL = -1;
    private static final int TRANSACTION_TIMEOUT_MS = 1_500;
    private static final int PRODUCE_TIMEOUT_MS = 30_000;
    private static final int MAX_WAIT_MS = 20;
    private static final int MAX_BYTES = 1 << 20;
    private static final int LONGEST_PAUSE_MS = 5;
    private static final int RETRY_PAUSE_MS = 60;
    /** The other instance works in the meantime. */
    private static final int LONGEST_FENCED_MS = 1_000;
    /** Some of these pauses last longer than the transaction may. */
    private static final int LONGEST_STALL_MS = 2_000;

    private static final int STALL_ODDS = 12;
    private static final int ABORT_ODDS = 4;
    private static final int MOST_RECORDS = 4;
    private static final int MOST_TRIES = 12;

    private final ClusterClient client;
    private final ClusterListener listener;
    private final CopyJob job;
    private final String name;
    private final Target transactions;
    private final Target group;
    private final List<SentTransaction> sent = new ArrayList<>();
    private final Map<ClusterPartition, Integer> sequences = new LinkedHashMap<>();
    private long producerId;
    private short epoch;
    private long position;
    private boolean stopped;

    /** The broker to which requests go. */
    private interface Target {
        /** Calls {@code then} with the broker, or {@link ClusterClient#UNKNOWN}. */
        void find(Consumer<Integer> then);

        /** The broker was the wrong one, or did not respond. {@code then} runs in any case. */
        void forget(Runnable then);
    }

    /** The records of a transaction for one partition. */
    private record Part(ClusterPartition partition, List<String> ids, int sequence) {}

    /** The copies in one transaction, and the position after them. */
    private record Batch(SentTransaction transaction, List<Part> parts, long next) {}

    ClusterCopier(ClusterClient client, ClusterListener listener, CopyJob job, String name) {
        this.client = client;
        this.listener = listener;
        this.job = job;
        this.name = name;
        this.transactions = new Coordinator(client.coordinator(ClusterClient.Coordinators.TRANSACTIONS, job.id()));
        this.group = new Coordinator(client.coordinator(ClusterClient.Coordinators.GROUPS, job.id()));
    }

    /** All transactions that were begun. */
    List<SentTransaction> transactions() {
        return sent;
    }

    void start() {
        startAgain(LONGEST_PAUSE_MS);
    }

    /** Sends nothing more. An open transaction stays open. */
    void stop() {
        stopped = true;
    }

    private void startAgain(int longestMs) {
        later(longestMs, this::init);
    }

    private void later(int longestMs, Runnable work) {
        client.later(longestMs, () -> {
            if (!stopped) {
                work.run();
            }
        });
    }

    // ---- one transaction after the other

    private void init() {
        ask(
                transactions,
                ApiKey.INIT_PRODUCER_ID,
                INIT_VERSION,
                () -> new InitProducerIdRequest()
                        .setTransactionalId(job.id())
                        .setTransactionTimeoutMs(TRANSACTION_TIMEOUT_MS),
                message -> ErrorCode.of(((InitProducerIdResponse) message).errorCode()),
                message -> {
                    InitProducerIdResponse response = (InitProducerIdResponse) message;
                    producerId = response.producerId();
                    epoch = response.producerEpoch();
                    sequences.clear();
                    findPosition();
                });
    }

    /** Asks for a position that no transaction is about to change: the one of this producer id was ended by its start. */
    private void findPosition() {
        ask(
                group,
                ApiKey.OFFSET_FETCH,
                OFFSET_FETCH_VERSION,
                () -> new OffsetFetchRequest()
                        .setGroupId(job.id())
                        .setRequireStable(true)
                        .setTopics(List.of(new OffsetFetchRequest.OffsetFetchRequestTopic()
                                .setName(job.input().topic())
                                .setPartitionIndexes(List.of(job.input().partition())))),
                message -> errorOf((OffsetFetchResponse) message),
                message -> {
                    position = Math.max(
                            0,
                            ((OffsetFetchResponse) message)
                                    .topics()
                                    .get(0)
                                    .partitions()
                                    .get(0)
                                    .committedOffset());
                    read();
                });
    }

    private static ErrorCode errorOf(OffsetFetchResponse response) {
        return response.errorCode() != 0
                ? ErrorCode.of(response.errorCode())
                : ErrorCode.of(response.topics().get(0).partitions().get(0).errorCode());
    }

    private void read() {
        LogReader.Ask ask = new LogReader.Ask(job.input(), position, -1, MAX_WAIT_MS, MAX_BYTES, true);
        LogReader.Page[] page = new LogReader.Page[1];
        ask(
                new Leader(job.input()),
                ApiKey.FETCH,
                LogReader.FETCH_VERSION,
                ask::request,
                message -> {
                    page[0] = LogReader.read(ask, (FetchResponse) message);
                    return page[0].error();
                },
                message -> onRead(page[0]));
    }

    private void onRead(LogReader.Page page) {
        List<LogReader.Found> found = page.records();
        if (found.isEmpty()) {
            position = page.nextOffset();
            later(LONGEST_PAUSE_MS, this::read);
            return;
        }
        found.forEach(record -> listener.onRead(job.input(), record, true));
        int count = Math.min(found.size(), 1 + client.random().nextInt(MOST_RECORDS));
        long next = count == found.size() ? page.nextOffset() : found.get(count).offset();
        begin(found.subList(0, count), next);
    }

    private void begin(List<LogReader.Found> records, long next) {
        SentTransaction transaction = new SentTransaction(name + "." + sent.size());
        sent.add(transaction);
        Map<ClusterPartition, List<String>> ids = new LinkedHashMap<>();
        for (LogReader.Found record : records) {
            ClusterPartition output = job.outputOf(record.offset());
            String copy = job.copy(transaction.name(), record.offset());
            transaction.add(copy, output.name());
            ids.computeIfAbsent(output, none -> new ArrayList<>()).add(copy);
        }
        List<Part> parts = new ArrayList<>();
        ids.forEach((output, copies) -> parts.add(
                new Part(output, copies, sequences.merge(output, copies.size(), Integer::sum) - copies.size())));
        Batch batch = new Batch(transaction, parts, next);
        if (job.growsEpochs()) {
            write(batch);
        } else {
            addPartitions(batch);
        }
    }

    private void addPartitions(Batch batch) {
        List<AddPartitionsToTxnRequest.AddPartitionsToTxnTopic> added = batch.parts().stream()
                .map(part -> new AddPartitionsToTxnRequest.AddPartitionsToTxnTopic()
                        .setName(part.partition().topic())
                        .setPartitions(List.of(part.partition().partition())))
                .toList();
        ask(
                transactions,
                ApiKey.ADD_PARTITIONS_TO_TXN,
                ADD_VERSION,
                () -> new AddPartitionsToTxnRequest()
                        .setV3AndBelowTransactionalId(job.id())
                        .setV3AndBelowProducerId(producerId)
                        .setV3AndBelowProducerEpoch(epoch)
                        .setV3AndBelowTopics(added),
                message -> ErrorCode.of(((AddPartitionsToTxnResponse) message)
                        .resultsByTopicV3AndBelow()
                        .get(0)
                        .resultsByPartition()
                        .get(0)
                        .partitionErrorCode()),
                message -> write(batch));
    }

    /** Writes the parts at the same time. If one fails, the instance starts again as soon as all have an outcome. */
    private void write(Batch batch) {
        int[] missing = {batch.parts().size()};
        ErrorCode[] worst = {ErrorCode.NONE};
        for (Part part : batch.parts()) {
            Consumer<ErrorCode> done = error -> {
                worst[0] = error == ErrorCode.NONE ? worst[0] : error;
                missing[0]--;
                if (missing[0] == 0 && worst[0] != ErrorCode.NONE) {
                    onFailure(worst[0]);
                } else if (missing[0] == 0) {
                    later(LONGEST_PAUSE_MS, () -> addPosition(batch));
                }
            };
            new Request(
                            new Leader(part.partition()),
                            ApiKey.PRODUCE,
                            job.growsEpochs() ? PRODUCE_VERSION_THAT_ADDS : PRODUCE_VERSION,
                            () -> produce(part),
                            message -> ErrorCode.of(result(message).errorCode()),
                            message -> done.accept(ErrorCode.NONE),
                            done)
                    .onServed((broker, message) -> onWritten(part, broker, message))
                    .send();
        }
    }

    private ProduceRequest produce(Part part) {
        return new ProduceRequest()
                .setTransactionalId(job.id())
                .setAcks(ALL)
                .setTimeoutMs(PRODUCE_TIMEOUT_MS)
                .setTopicData(List.of(new ProduceRequest.TopicProduceData()
                        .setName(part.partition().topic())
                        .setPartitionData(List.of(new ProduceRequest.PartitionProduceData()
                                .setIndex(part.partition().partition())
                                .setRecords(RecordsData.of(ClusterProducer.encode(
                                        builder -> builder.setProducerState(producerId, epoch, part.sequence(), true),
                                        part.ids())))))));
    }

    private static ProduceResponse.PartitionProduceResponse result(ApiMessage message) {
        return ((ProduceResponse) message)
                .responses()
                .get(0)
                .partitionResponses()
                .get(0);
    }

    private void onWritten(Part part, int broker, ApiMessage message) {
        if (message != null && result(message).errorCode() == 0) {
            for (int i = 0; i < part.ids().size(); i++) {
                listener.onAcknowledged(
                        part.partition(),
                        broker,
                        result(message).baseOffset() + i,
                        part.ids().get(i));
            }
        }
    }

    private void addPosition(Batch batch) {
        if (job.growsEpochs()) {
            commitPosition(batch);
            return;
        }
        ask(
                transactions,
                ApiKey.ADD_OFFSETS_TO_TXN,
                ADD_OFFSETS_VERSION,
                () -> new AddOffsetsToTxnRequest()
                        .setTransactionalId(job.id())
                        .setProducerId(producerId)
                        .setProducerEpoch(epoch)
                        .setGroupId(job.id()),
                message -> ErrorCode.of(((AddOffsetsToTxnResponse) message).errorCode()),
                message -> commitPosition(batch));
    }

    private void commitPosition(Batch batch) {
        ask(
                group,
                ApiKey.TXN_OFFSET_COMMIT,
                job.growsEpochs() ? COMMIT_VERSION_THAT_ADDS : COMMIT_VERSION,
                () -> new TxnOffsetCommitRequest()
                        .setTransactionalId(job.id())
                        .setProducerId(producerId)
                        .setProducerEpoch(epoch)
                        .setGroupId(job.id())
                        .setTopics(List.of(new TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic()
                                .setName(job.input().topic())
                                .setPartitions(List.of(new TxnOffsetCommitRequest.TxnOffsetCommitRequestPartition()
                                        .setPartitionIndex(job.input().partition())
                                        .setCommittedOffset(batch.next())
                                        .setCommittedMetadata(""))))),
                message -> ErrorCode.of(((TxnOffsetCommitResponse) message)
                        .topics()
                        .get(0)
                        .partitions()
                        .get(0)
                        .errorCode()),
                message -> later(
                        client.random().nextInt(STALL_ODDS) == 0 ? LONGEST_STALL_MS : LONGEST_PAUSE_MS,
                        () -> end(batch)));
    }

    private void end(Batch batch) {
        boolean commit = client.random().nextInt(ABORT_ODDS) > 0;
        SentTransaction transaction = batch.transaction();
        transaction.onEnding(commit);
        int[] attempts = new int[1];
        new Request(
                        transactions,
                        ApiKey.END_TXN,
                        job.growsEpochs() ? END_VERSION_WITH_EPOCHS : END_VERSION,
                        () -> {
                            attempts[0]++;
                            return new EndTxnRequest()
                                    .setTransactionalId(job.id())
                                    .setProducerId(producerId)
                                    .setProducerEpoch(epoch)
                                    .setCommitted(commit);
                        },
                        message -> ErrorCode.of(((EndTxnResponse) message).errorCode()),
                        message -> onEnded(batch, commit, (EndTxnResponse) message),
                        error -> {
                            if (attempts[0] == 1 && error != ErrorCode.NETWORK_EXCEPTION) {
                                transaction.onRefused();
                            }
                            onFailure(error);
                        })
                .onServed((broker, message) -> {
                    if (message instanceof EndTxnResponse response && response.errorCode() == 0) {
                        transaction.onAcknowledged();
                        listener.onTransactionEnded(job.id(), commit);
                    }
                })
                .send();
    }

    private void onEnded(Batch batch, boolean commit, EndTxnResponse response) {
        position = commit ? batch.next() : position;
        if (job.growsEpochs()) {
            producerId = response.producerId();
            epoch = response.producerEpoch();
            sequences.clear();
        }
        later(LONGEST_PAUSE_MS, this::read);
    }

    // ---- requests

    private void ask(
            Target target,
            ApiKey key,
            int version,
            Supplier<ApiMessage> request,
            Function<ApiMessage, ErrorCode> errorOf,
            Consumer<ApiMessage> onSuccess) {
        new Request(target, key, version, request, errorOf, onSuccess, this::onFailure).send();
    }

    private void onFailure(ErrorCode error) {
        boolean fenced = error == ErrorCode.PRODUCER_FENCED
                || error == ErrorCode.INVALID_PRODUCER_EPOCH
                || error == ErrorCode.INVALID_PRODUCER_ID_MAPPING;
        startAgain(fenced ? LONGEST_FENCED_MS : RETRY_PAUSE_MS);
    }

    /** A request and its repetitions. */
    private final class Request {
        private final Target target;
        private final ApiKey key;
        private final int version;
        private final Supplier<ApiMessage> content;
        private final Function<ApiMessage, ErrorCode> errorOf;
        private final Consumer<ApiMessage> onSuccess;
        private final Consumer<ErrorCode> onFailure;
        private Served onServed = (broker, message) -> {};
        private int triesLeft = MOST_TRIES;

        Request(
                Target target,
                ApiKey key,
                int version,
                Supplier<ApiMessage> content,
                Function<ApiMessage, ErrorCode> errorOf,
                Consumer<ApiMessage> onSuccess,
                Consumer<ErrorCode> onFailure) {
            this.target = target;
            this.key = key;
            this.version = version;
            this.content = content;
            this.errorOf = errorOf;
            this.onSuccess = onSuccess;
            this.onFailure = onFailure;
        }

        /** Calls {@code listener} at the moment when the broker responds. */
        Request onServed(Served listener) {
            onServed = listener;
            return this;
        }

        void send() {
            target.find(broker -> {
                if (stopped) {
                    return;
                }
                if (broker == ClusterClient.UNKNOWN) {
                    onError(ErrorCode.NETWORK_EXCEPTION);
                    return;
                }
                client.send(broker, key, version, content.get(), message -> onServed.on(broker, message), message -> {
                    ErrorCode error = message == null ? ErrorCode.NETWORK_EXCEPTION : errorOf.apply(message);
                    if (stopped) {
                        return;
                    }
                    if (error == ErrorCode.NONE) {
                        onSuccess.accept(message);
                    } else {
                        onError(error);
                    }
                });
            });
        }

        private void onError(ErrorCode error) {
            triesLeft--;
            if (error.retriable() && triesLeft > 0) {
                target.forget(() -> later(RETRY_PAUSE_MS, this::send));
            } else {
                onFailure.accept(error);
            }
        }
    }

    private interface Served {
        void on(int broker, ApiMessage message);
    }

    /** The broker that leads a partition. */
    private final class Leader implements Target {
        private final ClusterPartition partition;

        Leader(ClusterPartition partition) {
            this.partition = partition;
        }

        @Override
        public void find(Consumer<Integer> then) {
            then.accept(client.leaderOf(partition));
        }

        @Override
        public void forget(Runnable then) {
            client.refresh(then);
        }
    }

    /** The broker that coordinates the transactional id or the group. */
    private record Coordinator(ClusterClient.Coordinator known) implements Target {
        @Override
        public void find(Consumer<Integer> then) {
            known.find(then);
        }

        @Override
        public void forget(Runnable then) {
            known.forget();
            then.run();
        }
    }
}
