package io.journalq.server.api.transaction;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ListTransactionsRequest;
import io.journalq.common.protocol.message.ListTransactionsResponse;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RefusalLog;
import io.journalq.server.api.RequestContext;
import io.journalq.server.coordinator.BoundedPattern;
import io.journalq.server.loop.Limit;
import io.journalq.server.security.Right;
import io.journalq.server.shard.coordinator.Coordinators;
import io.journalq.server.transaction.TransactionMachine;
import java.util.List;

/**
 * ListTransactions, versions 0 to 2: all transactions, or those in given states, of given producers (KIP-664), that
 * have been open for longer than a given duration (KIP-994), or whose ids match a pattern completely (KIP-1152).
 */
public final class ListTransactionsHandler implements Handler<ListTransactionsRequest> {
    private final Coordinators<TransactionMachine> transactions;
    private final RefusalLog refusals;

    /** @param refusals logs patterns that exceed limits */
    public ListTransactionsHandler(Coordinators<TransactionMachine> transactions, RefusalLog refusals) {
        this.transactions = transactions;
        this.refusals = refusals;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.LIST_TRANSACTIONS, 0, 2, AccessRule.asks(Right.DESCRIBE_TRANSACTIONAL_ID));
    }

    @Override
    public void handle(RequestContext context, ListTransactionsRequest request) {
        BoundedPattern pattern;
        try {
            pattern = pattern(request);
        } catch (IllegalArgumentException wrong) {
            refusePattern(context, request.transactionalIdPattern());
            return;
        }
        List<String> unknownStates = request.stateFilters().stream()
                .filter(name -> !TransactionMachine.knowsState(name))
                .toList();
        transactions.gather(
                (machine, nowMs) -> machine.list(request, pattern, nowMs),
                all -> context.respond(new ListTransactionsResponse()
                        .setUnknownStateFilters(unknownStates)
                        .setTransactionStates(all.stream()
                                .flatMap(List::stream)
                                .filter(state -> context.sees(Right.DESCRIBE_TRANSACTIONAL_ID, state.transactionalId()))
                                .toList())),
                error -> refuse(context, error));
    }

    private static BoundedPattern pattern(ListTransactionsRequest request) {
        String text = request.transactionalIdPattern();
        return text == null || text.isEmpty() ? null : BoundedPattern.compile(text);
    }

    private void refusePattern(RequestContext context, String text) {
        ErrorCode error = ErrorCode.INVALID_REGULAR_EXPRESSION;
        if (BoundedPattern.isTooLarge(text)) {
            refusals.limitExceeded(context, Limit.PATTERN, "pattern", text, error);
        }
        refuse(context, error);
    }

    private static void refuse(RequestContext context, ErrorCode error) {
        context.respond(new ListTransactionsResponse().setErrorCode(error.code()));
    }
}
