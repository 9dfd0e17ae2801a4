package io.journalq.server.api.transaction;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ListTransactionsRequest;
import io.journalq.common.protocol.message.ListTransactionsResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.coordinator.BoundedPattern;
import io.journalq.server.shard.coordinator.Coordinators;
import io.journalq.server.transaction.TransactionMachine;
import java.util.List;

/**
 * ListTransactions, versions 0 to 2: all transactions, or those in given states, of given producers (KIP-664), that run for
 * longer than some time (KIP-994), or whose ids match a pattern as a whole (KIP-1152).
 */
public final class ListTransactionsHandler implements Handler<ListTransactionsRequest> {
    private final Coordinators<TransactionMachine> transactions;

    public ListTransactionsHandler(Coordinators<TransactionMachine> transactions) {
        this.transactions = transactions;
    }

    @Override
    public void handle(RequestContext context, ListTransactionsRequest request) {
        BoundedPattern pattern;
        try {
            pattern = pattern(request);
        } catch (IllegalArgumentException wrong) {
            refuse(context, ErrorCode.INVALID_REGULAR_EXPRESSION);
            return;
        }
        List<String> unknownStates = request.stateFilters().stream()
                .filter(name -> !TransactionMachine.knowsState(name))
                .toList();
        transactions.gather(
                (machine, nowMs) -> machine.list(request, pattern, nowMs),
                all -> context.respond(new ListTransactionsResponse()
                        .setUnknownStateFilters(unknownStates)
                        .setTransactionStates(all.stream().flatMap(List::stream).toList())),
                error -> refuse(context, error));
    }

    private static BoundedPattern pattern(ListTransactionsRequest request) {
        String text = request.transactionalIdPattern();
        return text == null || text.isEmpty() ? null : BoundedPattern.compile(text);
    }

    private static void refuse(RequestContext context, ErrorCode error) {
        context.respond(new ListTransactionsResponse().setErrorCode(error.code()));
    }
}
