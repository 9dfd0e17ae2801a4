package io.journalq.server.api.admin;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.DescribeClusterRequest;
import io.journalq.common.protocol.message.DescribeClusterResponse;
import io.journalq.common.protocol.message.DescribeClusterResponse.DescribeClusterBroker;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.ClusterBrokers;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.control.Controller;
import io.journalq.server.metadata.BrokerImage;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.security.AclResourceType;
import io.journalq.server.security.Right;
import java.util.Objects;

/**
 * DescribeCluster, versions 0 to 2: the cluster id and the brokers (KIP-700), in version 2 also those that are fenced
 * (KIP-1073). Controllers have no separate endpoints.
 */
public final class DescribeClusterHandler implements Handler<DescribeClusterRequest> {
    private static final byte BROKERS = 1;
    private static final byte CONTROLLERS = 2;

    private final ClusterBrokers brokers;
    private final Controller controller;

    public DescribeClusterHandler(ClusterBrokers brokers, Controller controller) {
        this.brokers = brokers;
        this.controller = controller;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.DESCRIBE_CLUSTER, 0, 2, AccessRule.asks(Right.DESCRIBE_CLUSTER));
    }

    @Override
    public void handle(RequestContext context, DescribeClusterRequest request) {
        DescribeClusterResponse response = new DescribeClusterResponse();
        if (request.endpointType() != BROKERS && request.endpointType() != CONTROLLERS) {
            context.respond(response.setErrorCode(ErrorCode.UNSUPPORTED_ENDPOINT_TYPE.code())
                    .setErrorMessage("there is no endpoint type " + request.endpointType()));
            return;
        }
        if (request.endpointType() == CONTROLLERS) {
            context.respond(response.setErrorCode(ErrorCode.MISMATCHED_ENDPOINT_TYPE.code())
                    .setErrorMessage("this listener is for brokers; controllers have no separate listeners"));
            return;
        }
        MetadataImage image = brokers.images().get();
        response.setClusterId(image.clusterId())
                .setControllerId(controller.members().leaderId())
                .setBrokers(image.brokers().stream()
                        .filter(broker -> broker.isLive() || request.includeFencedBrokers())
                        .map(broker -> describe(broker, context))
                        .filter(Objects::nonNull)
                        .toList());
        if (request.includeClusterAuthorizedOperations()) {
            response.setClusterAuthorizedOperations(
                    context.sees(Right.DESCRIBE_CLUSTER, AclResourceType.CLUSTER_NAME)
                            ? context.authorizedOperations(AclResourceType.CLUSTER, AclResourceType.CLUSTER_NAME)
                            : 0);
        }
        context.respond(response);
    }

    /** Null if the broker does not have the client's listener. */
    private DescribeClusterBroker describe(BrokerImage broker, RequestContext context) {
        ListenerAddress address = brokers.addressOf(broker, context);
        if (address == null) {
            return null;
        }
        DescribeClusterBroker described = new DescribeClusterBroker()
                .setBrokerId(broker.nodeId())
                .setHost(address.host())
                .setPort(address.port())
                .setRack(broker.rack().isEmpty() ? null : broker.rack());
        return broker.fenced() ? described.setIsFenced(true) : described;
    }
}
