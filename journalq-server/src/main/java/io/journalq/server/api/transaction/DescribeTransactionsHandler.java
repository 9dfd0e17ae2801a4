package io.journalq.server.api.transaction;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.DescribeTransactionsRequest;
import io.journalq.common.protocol.message.DescribeTransactionsResponse;
import io.journalq.common.protocol.message.DescribeTransactionsResponse.TransactionState;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.OrderedResults;
import io.journalq.server.api.RequestContext;
import io.journalq.server.security.Right;
import io.journalq.server.shard.coordinator.Coordinators;
import io.journalq.server.transaction.TransactionMachine;
import java.util.List;

/** DescribeTransactions, version 0: the state of transactional ids (KIP-664). */
public final class DescribeTransactionsHandler implements Handler<DescribeTransactionsRequest> {
    private final Coordinators<TransactionMachine> transactions;

    public DescribeTransactionsHandler(Coordinators<TransactionMachine> transactions) {
        this.transactions = transactions;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(
                ApiKey.DESCRIBE_TRANSACTIONS,
                0,
                0,
                AccessRule.asks(Right.DESCRIBE_TRANSACTIONAL_ID, Right.DESCRIBE_TOPIC));
    }

    @Override
    public void handle(RequestContext context, DescribeTransactionsRequest request) {
        // Once each. Otherwise, a short request could fill the heap.
        List<String> asked = request.transactionalIds().stream().distinct().toList();
        OrderedResults<TransactionState> results = new OrderedResults<>(
                asked.size(), all -> context.respond(new DescribeTransactionsResponse().setTransactionStates(all)));
        for (int i = 0; i < asked.size(); i++) {
            String id = asked.get(i);
            int index = i;
            if (!context.allows(Right.DESCRIBE_TRANSACTIONAL_ID, id)) {
                results.set(index, refusal(id, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED));
                continue;
            }
            if (id.isEmpty()) {
                results.set(index, refusal(id, ErrorCode.INVALID_REQUEST));
                continue;
            }
            transactions.submit(
                    id,
                    (machine, nowMs, replies) -> replies.<TransactionState>to(
                                    result -> results.set(index, result),
                                    error -> results.set(index, refusal(id, error)))
                            .send(onlyVisible(context, machine.describe(id))),
                    error -> results.set(index, refusal(id, error)));
        }
    }

    /** Without the topics that the client may not describe. */
    private static TransactionState onlyVisible(RequestContext context, TransactionState state) {
        return state.setTopics(state.topics().stream()
                .filter(topic -> context.sees(Right.DESCRIBE_TOPIC, topic.topic()))
                .toList());
    }

    private static TransactionState refusal(String id, ErrorCode error) {
        return new TransactionState().setTransactionalId(id).setErrorCode(error.code());
    }
}
