package io.journalq.server.api.peer;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.AllocateProducerIdsRequest;
import io.journalq.common.protocol.message.AllocateProducerIdsResponse;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.DeferredResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.control.Controller;
import io.journalq.server.control.Outcome;
import io.journalq.server.security.Right;

/** Allocates a block of producer ids for another broker. Version 0. */
public final class AllocateProducerIdsHandler implements Handler<AllocateProducerIdsRequest> {
    private static final int TIMEOUT_MS = 10_000;

    private final Controller controller;
    private final PeerGate gate;
    private final int blockSize;

    /** @param blockSize number of ids in a block */
    public AllocateProducerIdsHandler(Controller controller, PeerGate gate, int blockSize) {
        this.controller = controller;
        this.gate = gate;
        this.blockSize = blockSize;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.ALLOCATE_PRODUCER_IDS, 0, 0, AccessRule.asks(Right.CLUSTER_ACTION));
    }

    @Override
    public void handle(RequestContext context, AllocateProducerIdsRequest request) {
        if (!gate.admits(context, ApiKey.ALLOCATE_PRODUCER_IDS, Right.CLUSTER_ACTION)) {
            context.respond(
                    new AllocateProducerIdsResponse().setErrorCode(ErrorCode.CLUSTER_AUTHORIZATION_FAILED.code()));
            return;
        }
        DeferredResponse.within(
                TIMEOUT_MS,
                controller.allocateProducerIds(blockSize),
                context,
                (first, failure) -> failure == null
                        ? new AllocateProducerIdsResponse()
                                .setProducerIdStart(first)
                                .setProducerIdLen(blockSize)
                        : new AllocateProducerIdsResponse()
                                .setErrorCode(Outcome.of(failure).error().code()));
    }
}
