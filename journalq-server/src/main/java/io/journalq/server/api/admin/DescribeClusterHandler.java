package io.journalq.server.api.admin;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.DescribeClusterRequest;
import io.journalq.common.protocol.message.DescribeClusterResponse;
import io.journalq.common.protocol.message.DescribeClusterResponse.DescribeClusterBroker;
import io.journalq.server.api.AuthorizedOperations;
import io.journalq.server.api.BrokerIdentity;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.control.MetadataPublisher;
import java.util.List;

/**
 * DescribeCluster, versions 0 to 2: the cluster id and the broker (KIP-700). Controllers have no separate endpoints.
 */
public final class DescribeClusterHandler implements Handler<DescribeClusterRequest> {
    private static final byte BROKERS = 1;

    private final BrokerIdentity identity;
    private final MetadataPublisher metadata;

    public DescribeClusterHandler(BrokerIdentity identity, MetadataPublisher metadata) {
        this.identity = identity;
        this.metadata = metadata;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.DESCRIBE_CLUSTER, 0, 2);
    }

    @Override
    public void handle(RequestContext context, DescribeClusterRequest request) {
        DescribeClusterResponse response = new DescribeClusterResponse();
        if (request.endpointType() != BROKERS) {
            context.respond(response.setErrorCode(ErrorCode.MISMATCHED_ENDPOINT_TYPE.code())
                    .setErrorMessage("this listener is for brokers; controllers have no separate listeners"));
            return;
        }
        ListenerAddress address = identity.addressFor(context);
        response.setClusterId(metadata.current().clusterId())
                .setControllerId(identity.nodeId())
                .setBrokers(List.of(new DescribeClusterBroker()
                        .setBrokerId(identity.nodeId())
                        .setHost(address.host())
                        .setPort(address.port())));
        if (request.includeClusterAuthorizedOperations()) {
            response.setClusterAuthorizedOperations(AuthorizedOperations.OF_CLUSTER);
        }
        context.respond(response);
    }
}
