package io.journalq.server.api.peer;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.BrokerHeartbeatRequest;
import io.journalq.common.protocol.message.BrokerHeartbeatResponse;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.DeferredResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.control.BrokerHeartbeat;
import io.journalq.server.control.Controller;
import io.journalq.server.control.Outcome;
import io.journalq.server.security.Right;
import java.util.List;

/**
 * Another broker shows the controller that it is alive. Version 2. If the connection over which it does so ends, its
 * process has usually ended, too.
 */
public final class BrokerHeartbeatHandler implements Handler<BrokerHeartbeatRequest> {
    private static final int VERSION = 2;
    private static final int TIMEOUT_MS = 10_000;
    private static final int NOBODY = -1;

    private final Controller controller;
    private final PeerGate gate;

    public BrokerHeartbeatHandler(Controller controller, PeerGate gate) {
        this.controller = controller;
        this.gate = gate;
    }

    /** The broker that sends heartbeats over a connection. On the connection's loop. */
    private static final class Sender implements AutoCloseable {
        private final Controller controller;
        private int nodeId = NOBODY;

        Sender(Controller controller) {
            this.controller = controller;
        }

        @Override
        public void close() {
            controller.onReset(nodeId);
        }
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.BROKER_HEARTBEAT, VERSION, VERSION, AccessRule.asks(Right.CLUSTER_ACTION));
    }

    @Override
    public void handle(RequestContext context, BrokerHeartbeatRequest request) {
        if (!gate.admits(context, ApiKey.BROKER_HEARTBEAT, Right.CLUSTER_ACTION)) {
            context.respond(new BrokerHeartbeatResponse().setErrorCode(ErrorCode.CLUSTER_AUTHORIZATION_FAILED.code()));
            return;
        }
        context.connectionState(Sender.class, () -> new Sender(controller)).nodeId = request.brokerId();
        BrokerHeartbeat heartbeat = new BrokerHeartbeat(
                request.brokerId(),
                request.brokerEpoch(),
                request.currentMetadataOffset(),
                request.wantFence(),
                request.wantShutDown(),
                request.cordonedLogDirs() == null ? List.of() : request.cordonedLogDirs());
        DeferredResponse.within(
                TIMEOUT_MS,
                controller.heartbeat(heartbeat),
                context,
                (response, failure) -> failure == null
                        ? new BrokerHeartbeatResponse()
                                .setErrorCode(response.error().code())
                                .setIsCaughtUp(response.caughtUp())
                                .setIsFenced(response.fenced())
                                .setShouldShutDown(response.mayShutDown())
                        : new BrokerHeartbeatResponse()
                                .setErrorCode(Outcome.of(failure).error().code()));
    }
}
