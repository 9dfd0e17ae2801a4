package io.journalq.server.api.transaction;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.InitProducerIdRequest;
import io.journalq.common.protocol.message.InitProducerIdResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * InitProducerId, versions 0 to 5: an id for an idempotent producer (KIP-98), always a new one with epoch 0, as a
 * producer without a transactional id has nothing to continue. Transactions are not served yet: a request with a
 * transactional id is refused for good.
 */
public final class InitProducerIdHandler implements Handler<InitProducerIdRequest> {
    private static final Logger log = LoggerFactory.getLogger(InitProducerIdHandler.class);
    private static final long NO_PRODUCER_ID = -1L;
    private static final short NO_EPOCH = -1;

    private final ProducerIds producerIds;

    /** Gives out what {@code producerIds} has. */
    public InitProducerIdHandler(ProducerIds producerIds) {
        this.producerIds = producerIds;
    }

    @Override
    public void handle(RequestContext context, InitProducerIdRequest request) {
        if (request.transactionalId() != null) {
            context.respond(refusal(
                    request.transactionalId().isEmpty() ? ErrorCode.INVALID_REQUEST : ErrorCode.UNSUPPORTED_VERSION));
            return;
        }
        var unused = producerIds.next().whenComplete((id, failure) -> {
            if (failure == null) {
                context.respond(new InitProducerIdResponse().setProducerId(id).setProducerEpoch((short) 0));
            } else {
                log.error("cannot allocate producer ids", failure);
                context.respond(refusal(ErrorCode.COORDINATOR_NOT_AVAILABLE));
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
