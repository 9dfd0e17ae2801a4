package io.journalq.server.api.transaction;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.shard.coordinator.CoordinatorKind.Step;
import io.journalq.server.shard.coordinator.Coordinators;
import io.journalq.server.transaction.TransactionMachine;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Requests whose errors can be fatal for a producer. A coordinator that was replaced, and does not know it, does not
 * know the newest epoch of a producer either. Such an error is therefore sent only if no other broker has the
 * coordinator.
 */
final class ConfirmedErrors {
    private ConfirmedErrors() {}

    /**
     * Runs the step of a request. If it fails with a fatal error, which appends nothing, it runs again when the
     * coordinator is confirmed.
     *
     * @param step creates the step from the receiver of its response
     * @param errorOf returns the error of a response
     * @param unavailable receives the error if the coordinator is not here, or is not confirmed
     */
    static <T> void submit(
            Coordinators<TransactionMachine> transactions,
            String transactionalId,
            Function<Consumer<T>, Step<TransactionMachine>> step,
            Function<T, ErrorCode> errorOf,
            Consumer<T> respond,
            Consumer<ErrorCode> unavailable) {
        Consumer<T> respondIfSure = response -> {
            if (isFatal(errorOf.apply(response))) {
                transactions.submitConfirmed(transactionalId, step.apply(respond), unavailable);
            } else {
                respond.accept(response);
            }
        };
        transactions.submit(transactionalId, step.apply(respondIfSure), unavailable);
    }

    private static boolean isFatal(ErrorCode error) {
        return switch (error) {
            case PRODUCER_FENCED, INVALID_PRODUCER_EPOCH, INVALID_PRODUCER_ID_MAPPING -> true;
            default -> false;
        };
    }
}
