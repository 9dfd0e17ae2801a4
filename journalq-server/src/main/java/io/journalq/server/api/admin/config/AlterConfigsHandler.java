package io.journalq.server.api.admin.config;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.message.AlterConfigsRequest;
import io.journalq.common.protocol.message.AlterConfigsRequest.AlterConfigsResource;
import io.journalq.common.protocol.message.AlterConfigsResponse;
import io.journalq.common.protocol.message.AlterConfigsResponse.AlterConfigsResourceResponse;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.api.admin.config.ConfigAlteration.Change;
import io.journalq.server.api.admin.config.ConfigAlteration.ResourceAlteration;
import io.journalq.server.api.admin.config.ConfigAlteration.ResourceOutcome;
import io.journalq.server.security.Right;
import java.util.List;

/**
 * AlterConfigs, versions 0 to 2: replaces all settings of a topic, a group, a client metrics subscription or a broker.
 * Settings that the request does not name are reset to their defaults, except the delivery mode of a topic with several
 * replicas.
 */
public final class AlterConfigsHandler implements Handler<AlterConfigsRequest> {
    private final ConfigAlteration alteration;

    public AlterConfigsHandler(ConfigAlteration alteration) {
        this.alteration = alteration;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(
                ApiKey.ALTER_CONFIGS,
                0,
                2,
                AccessRule.asks(Right.ALTER_TOPIC_CONFIGS, Right.ALTER_GROUP_CONFIGS, Right.ALTER_CLUSTER_CONFIGS));
    }

    @Override
    public void handle(RequestContext context, AlterConfigsRequest request) {
        alteration.alter(
                context,
                request.resources().stream().map(AlterConfigsHandler::asked),
                request.validateOnly(),
                altered -> new AlterConfigsResponse()
                        .setResponses(altered.map(AlterConfigsHandler::response).toList()));
    }

    private static AlterConfigsResourceResponse response(ResourceOutcome altered) {
        return new AlterConfigsResourceResponse()
                .setResourceType(altered.type())
                .setResourceName(altered.name())
                .setErrorCode(altered.errorCode())
                .setErrorMessage(altered.errorMessage());
    }

    private static ResourceAlteration asked(AlterConfigsResource resource) {
        List<Change> changes = resource.configs().stream()
                .map(config -> new Change(config.name(), ConfigAlteration.SET, config.value()))
                .toList();
        return new ResourceAlteration(resource.resourceType(), resource.resourceName(), true, changes);
    }
}
