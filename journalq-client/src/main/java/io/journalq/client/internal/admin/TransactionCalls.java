package io.journalq.client.internal.admin;

import io.journalq.client.admin.TransactionDescription;
import io.journalq.client.admin.TransactionListing;
import io.journalq.client.error.JournalQException;
import io.journalq.client.error.UnknownTransactionalIdException;
import io.journalq.client.internal.check.Arguments;
import io.journalq.client.internal.coordinator.Coordinator;
import io.journalq.client.internal.coordinator.CoordinatorRequest;
import io.journalq.client.internal.network.BlockingCalls;
import io.journalq.client.internal.network.Cluster;
import io.journalq.client.internal.network.Errors;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.DescribeTransactionsRequest;
import io.journalq.common.protocol.message.DescribeTransactionsResponse;
import io.journalq.common.protocol.message.InitProducerIdRequest;
import io.journalq.common.protocol.message.InitProducerIdResponse;
import io.journalq.common.protocol.message.ListTransactionsRequest;
import io.journalq.common.protocol.message.ListTransactionsResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;

/** Requests about transactions (KIP-664). Thread-safe; any thread except the event loop. */
public final class TransactionCalls {
    private static final int LIST_TRANSACTIONS_NEWEST = 1;
    private static final int DESCRIBE_TRANSACTIONS_NEWEST = 0;

    private static final int INIT_PRODUCER_ID_NEWEST = 2;

    /** States without an open transaction. Coordinators keep the time of the last one while it is complete. */
    private static final Set<String> NOT_OPEN = Set.of("Empty", "CompleteCommit", "CompleteAbort");

    private final Cluster cluster;
    private final BlockingCalls calls;

    public TransactionCalls(Cluster cluster, BlockingCalls calls) {
        this.cluster = cluster;
        this.calls = calls;
    }

    /** Returns the transactional ids that the brokers coordinate, sorted by name. */
    public List<TransactionListing> list(ClusterCalls brokers) {
        List<TransactionListing> transactions = brokers.askAll(this::list);
        transactions.sort(Comparator.comparing(TransactionListing::transactionalId));
        return transactions;
    }

    private List<TransactionListing> list(int brokerId) {
        ListTransactionsResponse response = calls.call(
                brokerId,
                ApiKey.LIST_TRANSACTIONS,
                LIST_TRANSACTIONS_NEWEST,
                ListTransactionsResponse.class,
                version -> new ListTransactionsRequest());
        if (response.errorCode() != ErrorCode.NONE.code()) {
            throw Errors.of(ErrorCode.of(response.errorCode()), "transactions of broker " + brokerId, null);
        }
        return response.transactionStates().stream()
                .map(found ->
                        new TransactionListing(found.transactionalId(), found.producerId(), found.transactionState()))
                .toList();
    }

    /** Returns a transactional id and its open transaction. */
    public TransactionDescription describe(String transactionalId) {
        Coordinator coordinator = new Coordinator(cluster, Coordinator.Kind.TRANSACTION, transactionalId);
        int timeoutMs = cluster.config().callTimeoutMs();
        DescribeTransactionsResponse response = calls.await(
                coordinator.ask(new Description(transactionalId), timeoutMs),
                timeoutMs,
                "description of transactional id " + transactionalId);
        DescribeTransactionsResponse.TransactionState found =
                response.transactionStates().get(0);
        List<TopicPartition> partitions = new ArrayList<>();
        for (DescribeTransactionsResponse.TopicData topic : found.topics()) {
            topic.partitions().forEach(index -> partitions.add(new TopicPartition(topic.topic(), index)));
        }
        partitions.sort(Comparator.comparing(TopicPartition::topic).thenComparingInt(TopicPartition::partition));
        return new TransactionDescription(
                found.transactionalId(),
                found.transactionState(),
                found.producerId(),
                found.producerEpoch(),
                Duration.ofMillis(found.transactionTimeoutMs()),
                NOT_OPEN.contains(found.transactionState()) ? -1 : found.transactionStartTimeMs(),
                List.copyOf(partitions));
    }

    /**
     * Aborts an open transaction by fencing its producer, as a new producer with the same id would (KIP-360, KIP-588).
     */
    public void abort(TransactionDescription open) {
        Coordinator coordinator = new Coordinator(cluster, Coordinator.Kind.TRANSACTION, open.transactionalId());
        int timeoutMs = cluster.config().callTimeoutMs();
        calls.await(
                coordinator.ask(new Fencing(open), timeoutMs),
                timeoutMs,
                "abort of the transaction of " + open.transactionalId());
    }

    private static final class Fencing extends CoordinatorRequest<InitProducerIdResponse> {
        private final TransactionDescription open;

        private Fencing(TransactionDescription open) {
            super(
                    ApiKey.INIT_PRODUCER_ID,
                    InitProducerIdResponse.class,
                    INIT_PRODUCER_ID_NEWEST,
                    "abort of the transaction of " + open.transactionalId());
            this.open = open;
        }

        @Override
        protected ApiMessage request(short version) {
            return new InitProducerIdRequest()
                    .setTransactionalId(open.transactionalId())
                    .setTransactionTimeoutMs(Arguments.millis(open.timeout(), "timeout"));
        }

        @Override
        protected ErrorCode errorOf(InitProducerIdResponse response) {
            return ErrorCode.of(response.errorCode());
        }

        /** The coordinator responds with this error until the markers of the abort are written. */
        @Override
        protected boolean isRetriable(ErrorCode error) {
            return error == ErrorCode.CONCURRENT_TRANSACTIONS || error.retriable();
        }
    }

    private static final class Description extends CoordinatorRequest<DescribeTransactionsResponse> {
        private final String transactionalId;

        private Description(String transactionalId) {
            super(
                    ApiKey.DESCRIBE_TRANSACTIONS,
                    DescribeTransactionsResponse.class,
                    DESCRIBE_TRANSACTIONS_NEWEST,
                    "description of transactional id " + transactionalId);
            this.transactionalId = transactionalId;
        }

        @Override
        protected ApiMessage request(short version) {
            return new DescribeTransactionsRequest().setTransactionalIds(List.of(transactionalId));
        }

        @Override
        protected ErrorCode errorOf(DescribeTransactionsResponse response) {
            return response.transactionStates().isEmpty()
                    ? ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
                    : ErrorCode.of(response.transactionStates().get(0).errorCode());
        }

        @Override
        protected JournalQException failure(ErrorCode error) {
            return error == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
                    ? new UnknownTransactionalIdException("the transactional id does not exist: " + transactionalId
                            + "; check it in the list of transactional ids")
                    : super.failure(error);
        }
    }
}
