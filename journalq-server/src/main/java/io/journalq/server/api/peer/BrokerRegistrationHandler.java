package io.journalq.server.api.peer;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.BrokerRegistrationRequest;
import io.journalq.common.protocol.message.BrokerRegistrationResponse;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.DeferredResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.control.Controller;
import io.journalq.server.control.Outcome;
import io.journalq.server.metadata.BrokerImage;
import io.journalq.server.metadata.BrokerRegistration;
import io.journalq.server.metadata.BrokerRegistration.FeatureLevels;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.security.Right;
import java.util.function.Supplier;

/** Registers another broker of the cluster. Version 4. */
public final class BrokerRegistrationHandler implements Handler<BrokerRegistrationRequest> {
    private static final int VERSION = 4;
    private static final int TIMEOUT_MS = 10_000;

    private final Supplier<MetadataImage> images;
    private final Controller controller;
    private final PeerGate gate;

    public BrokerRegistrationHandler(Supplier<MetadataImage> images, Controller controller, PeerGate gate) {
        this.images = images;
        this.controller = controller;
        this.gate = gate;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.BROKER_REGISTRATION, VERSION, VERSION, AccessRule.asks(Right.CLUSTER_ACTION));
    }

    @Override
    public void handle(RequestContext context, BrokerRegistrationRequest request) {
        ErrorCode refused = !gate.admits(context, ApiKey.BROKER_REGISTRATION, Right.CLUSTER_ACTION)
                ? ErrorCode.CLUSTER_AUTHORIZATION_FAILED
                : !request.clusterId().equals(images.get().clusterId())
                        ? ErrorCode.INCONSISTENT_CLUSTER_ID
                        : request.listeners().isEmpty() ? ErrorCode.INVALID_REQUEST : ErrorCode.NONE;
        if (refused != ErrorCode.NONE) {
            context.respond(new BrokerRegistrationResponse().setErrorCode(refused.code()));
            return;
        }
        DeferredResponse.within(
                TIMEOUT_MS,
                controller.registerBroker(registration(request), request.previousBrokerEpoch()),
                context,
                (outcome, failure) -> {
                    ErrorCode error = failure == null
                            ? outcome.error()
                            : Outcome.of(failure).error();
                    BrokerImage broker = images.get().broker(request.brokerId());
                    return new BrokerRegistrationResponse()
                            .setErrorCode(error.code())
                            .setBrokerEpoch(error == ErrorCode.NONE && broker != null ? broker.epoch() : -1);
                });
    }

    private static BrokerRegistration registration(BrokerRegistrationRequest request) {
        return new BrokerRegistration(
                request.brokerId(),
                request.incarnationId(),
                request.listeners().stream()
                        .map(listener -> new ListenerAddress(listener.name(), listener.host(), listener.port()))
                        .toList(),
                request.rack() == null ? "" : request.rack(),
                request.features().stream()
                        .map(feature -> new FeatureLevels(
                                feature.name(), feature.minSupportedVersion(), feature.maxSupportedVersion()))
                        .toList(),
                request.logDirs());
    }
}
