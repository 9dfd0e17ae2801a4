package io.journalq.server.api.admin.cluster;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.UnregisterBrokerRequest;
import io.journalq.common.protocol.message.UnregisterBrokerResponse;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.DeferredResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.control.Controller;
import io.journalq.server.control.Outcome;
import io.journalq.server.security.Right;

/**
 * UnregisterBroker, version 0: removes a broker that does not run and has no replicas, from the metadata and from the
 * voters of the quorum. Other brokers are refused with INVALID_REQUEST.
 */
public final class UnregisterBrokerHandler implements Handler<UnregisterBrokerRequest> {
    /** The request has no time-out. The quorum needs some time if a voter is removed. */
    private static final int TIMEOUT_MS = 30_000;

    private final Controller controller;

    public UnregisterBrokerHandler(Controller controller) {
        this.controller = controller;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.UNREGISTER_BROKER, 0, 0, AccessRule.asks(Right.ALTER_CLUSTER));
    }

    @Override
    public void handle(RequestContext context, UnregisterBrokerRequest request) {
        if (!context.allows(Right.ALTER_CLUSTER)) {
            context.respond(new UnregisterBrokerResponse()
                    .setErrorCode(ErrorCode.CLUSTER_AUTHORIZATION_FAILED.code())
                    .setErrorMessage(context.denial()));
            return;
        }
        DeferredResponse.within(TIMEOUT_MS, controller.unregister(request.brokerId()), context, (outcome, failure) -> {
            Outcome result = failure == null ? outcome : Outcome.of(failure);
            return new UnregisterBrokerResponse()
                    .setErrorCode(result.error().code())
                    .setErrorMessage(result.reason());
        });
    }
}
