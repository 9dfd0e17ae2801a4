package io.journalq.server.api.transaction;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.InitProducerIdRequest;
import io.journalq.common.protocol.message.InitProducerIdResponse;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RefusalLog;
import io.journalq.server.api.RequestContext;
import io.journalq.server.loop.Limit;
import io.journalq.server.loop.LogThrottle;
import io.journalq.server.metadata.security.AclResourceType;
import io.journalq.server.security.Right;
import io.journalq.server.shard.coordinator.Coordinators;
import io.journalq.server.shard.coordinator.transaction.ProducerIds;
import io.journalq.server.transaction.TransactionLimits;
import io.journalq.server.transaction.TransactionMachine;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * InitProducerId, versions 0 to 5.
 * <ul>
 * <li>Without a transactional id: a new id for an idempotent producer, with epoch 0 (KIP-98). Such a producer has no
 *     state to continue.
 * <li>With a transactional id: the id and the epoch of a transactional producer. A producer with an earlier epoch is
 *     fenced (KIP-98, KIP-360).
 * </ul>
 *
 * <p>Two-phase commit (version 6, KIP-939) is not served.
 */
public final class InitProducerIdHandler implements Handler<InitProducerIdRequest> {
    private static final Logger log = LoggerFactory.getLogger(InitProducerIdHandler.class);
    /** Producers try again at once. */
    private static final LogThrottle FAILURES = new LogThrottle(log);

    private static final long NO_PRODUCER_ID = -1L;
    private static final short NO_EPOCH = -1;

    private final ProducerIds producerIds;
    private final Coordinators<TransactionMachine> transactions;
    private final RefusalLog refusals;

    /** Allocates ids from {@code producerIds}. {@code transactions} store transactional ids. */
    public InitProducerIdHandler(
            ProducerIds producerIds, Coordinators<TransactionMachine> transactions, RefusalLog refusals) {
        this.producerIds = producerIds;
        this.transactions = transactions;
        this.refusals = refusals;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(
                ApiKey.INIT_PRODUCER_ID,
                0,
                5,
                AccessRule.asks(Right.WRITE_TRANSACTIONAL_ID, Right.IDEMPOTENT_WRITE, Right.WRITE_TOPIC));
    }

    @Override
    public void handle(RequestContext context, InitProducerIdRequest request) {
        if (request.transactionalId() == null) {
            if (context.grants(Right.IDEMPOTENT_WRITE, AclResourceType.CLUSTER_NAME)
                    || context.allowsSome(Right.WRITE_TOPIC)) {
                giveId(context);
            } else {
                context.respond(refusal(ErrorCode.CLUSTER_AUTHORIZATION_FAILED));
            }
            return;
        }
        if (!context.allows(Right.WRITE_TRANSACTIONAL_ID, request.transactionalId())) {
            context.respond(refusal(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED));
            return;
        }
        Consumer<ErrorCode> refuse = error -> context.respond(refusal(error));
        ConfirmedErrors.<InitProducerIdResponse>submit(
                transactions,
                request.transactionalId(),
                respond -> (machine, nowMs, replies) ->
                        machine.onInitProducerId(context.apiVersion(), request, nowMs, replies.to(respond, refuse)),
                response -> ErrorCode.of(response.errorCode()),
                response -> respond(context, request.transactionalId(), response),
                refuse);
    }

    private void respond(RequestContext context, String id, InitProducerIdResponse response) {
        ErrorCode error = ErrorCode.of(response.errorCode());
        boolean tooLong =
                error == ErrorCode.INVALID_REQUEST && id.length() > TransactionLimits.MAX_TRANSACTIONAL_ID_LENGTH;
        if (tooLong) {
            refusals.limitExceeded(context, Limit.TRANSACTIONAL_ID, "transactional id", id, error);
        } else if (error == ErrorCode.POLICY_VIOLATION) {
            refusals.limitExceeded(context, Limit.TRANSACTIONAL_IDS, "transactional id", id, error);
        }
        context.respond(response);
    }

    private void giveId(RequestContext context) {
        var unused = producerIds.next().whenComplete((id, failure) -> {
            if (failure == null) {
                context.respond(new InitProducerIdResponse().setProducerId(id).setProducerEpoch((short) 0));
            } else {
                Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
                FAILURES.warn("cannot allocate producer ids", context.remoteAddress(), cause.toString());
                log.debug("cannot allocate producer ids", failure);
                // As in Kafka. After COORDINATOR_NOT_AVAILABLE, kafka-clients look for the coordinator of no id.
                context.respond(refusal(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS));
            }
        });
    }

    private static InitProducerIdResponse refusal(ErrorCode error) {
        return new InitProducerIdResponse()
                .setErrorCode(error.code())
                .setProducerId(NO_PRODUCER_ID)
                .setProducerEpoch(NO_EPOCH);
    }
}
