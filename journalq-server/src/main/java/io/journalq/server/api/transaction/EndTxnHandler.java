package io.journalq.server.api.transaction;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.EndTxnRequest;
import io.journalq.common.protocol.message.EndTxnResponse;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.security.Right;
import io.journalq.server.shard.coordinator.CoordinatorKind.Step;
import io.journalq.server.shard.coordinator.Coordinators;
import io.journalq.server.transaction.TransactionMachine;

/**
 * EndTxn, versions 0 to 5: a producer commits or aborts its transaction (KIP-98). The response is sent when the
 * decision is safe, before the partitions have their markers. In version 5, the response has the producer's next epoch,
 * and a new producer id if the epochs are used up (KIP-890).
 */
public final class EndTxnHandler implements Handler<EndTxnRequest> {
    private final Coordinators<TransactionMachine> transactions;

    public EndTxnHandler(Coordinators<TransactionMachine> transactions) {
        this.transactions = transactions;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.END_TXN, 0, 5, AccessRule.asks(Right.WRITE_TRANSACTIONAL_ID));
    }

    @Override
    public void handle(RequestContext context, EndTxnRequest request) {
        if (!context.allows(Right.WRITE_TRANSACTIONAL_ID, request.transactionalId())) {
            refuse(context, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED);
            return;
        }
        Step<TransactionMachine> end = (machine, nowMs, replies) -> machine.onEndTransaction(
                context.apiVersion(), request, nowMs, replies.to(context::respond, error -> refuse(context, error)));
        transactions.submit(
                request.transactionalId(),
                (machine, nowMs, replies) -> {
                    if (machine.decides(context.apiVersion(), request)) {
                        end.run(machine, nowMs, replies);
                    } else {
                        // A coordinator that was replaced would take the next transaction for the one that it has
                        // ended.
                        transactions.submitConfirmed(request.transactionalId(), end, error -> refuse(context, error));
                    }
                },
                error -> refuse(context, error));
    }

    private static void refuse(RequestContext context, ErrorCode error) {
        context.respond(new EndTxnResponse().setErrorCode(error.code()));
    }
}
