package io.journalq.server.transaction;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.DescribeTransactionsResponse;
import io.journalq.common.protocol.message.ListTransactionsRequest;
import io.journalq.common.protocol.message.ListTransactionsResponse;
import io.journalq.server.coordinator.BoundedPattern;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/** Describes and lists transactions, without changing anything. */
final class TransactionQueries {
    private final TransactionalIds transactions;

    TransactionQueries(TransactionalIds transactions) {
        this.transactions = transactions;
    }

    DescribeTransactionsResponse.TransactionState describe(String transactionalId) {
        DescribeTransactionsResponse.TransactionState described =
                new DescribeTransactionsResponse.TransactionState().setTransactionalId(transactionalId);
        TransactionMetadata known = transactions.get(transactionalId);
        if (known == null) {
            return described.setErrorCode(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND.code());
        }
        TreeMap<String, List<Integer>> topics = new TreeMap<>();
        for (TopicPartition partition : known.partitions()) {
            topics.computeIfAbsent(partition.topic(), topic -> new ArrayList<>())
                    .add(partition.partition());
        }
        List<DescribeTransactionsResponse.TopicData> partitions = new ArrayList<>();
        topics.forEach((topic, numbers) -> partitions.add(
                new DescribeTransactionsResponse.TopicData().setTopic(topic).setPartitions(numbers)));
        return described
                .setTransactionState(known.state().stateName())
                .setTransactionTimeoutMs(known.timeoutMs())
                .setTransactionStartTimeMs(known.startMs())
                .setProducerId(known.producerId())
                .setProducerEpoch(known.epoch())
                .setTopics(partitions);
    }

    /**
     * Lists the transactions that match a request's filters.
     *
     * @param idPattern pattern that ids must match; null to match all
     */
    List<ListTransactionsResponse.TransactionState> list(
            ListTransactionsRequest request, BoundedPattern idPattern, long nowMs) {
        List<ListTransactionsResponse.TransactionState> listed = new ArrayList<>();
        for (TransactionMetadata transaction : transactions.all()) {
            if (passes(transaction, request, nowMs) && (idPattern == null || idPattern.matches(transaction.id()))) {
                listed.add(new ListTransactionsResponse.TransactionState()
                        .setTransactionalId(transaction.id())
                        .setProducerId(transaction.producerId())
                        .setTransactionState(transaction.state().stateName()));
            }
        }
        return listed;
    }

    private static boolean passes(TransactionMetadata transaction, ListTransactionsRequest request, long nowMs) {
        if (!request.stateFilters().isEmpty()
                && !request.stateFilters().contains(transaction.state().stateName())) {
            return false;
        }
        if (!request.producerIdFilters().isEmpty()
                && !request.producerIdFilters().contains(transaction.producerId())) {
            return false;
        }
        // A transaction that has not begun has no duration.
        return request.durationFilter() < 0
                || (transaction.startMs() >= 0 && nowMs - transaction.startMs() > request.durationFilter());
    }
}
