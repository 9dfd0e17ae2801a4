package io.journalq.server.api.admin.config;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.message.IncrementalAlterConfigsRequest;
import io.journalq.common.protocol.message.IncrementalAlterConfigsRequest.AlterConfigsResource;
import io.journalq.common.protocol.message.IncrementalAlterConfigsResponse;
import io.journalq.common.protocol.message.IncrementalAlterConfigsResponse.AlterConfigsResourceResponse;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.api.admin.config.ConfigAlteration.Change;
import io.journalq.server.api.admin.config.ConfigAlteration.ResourceAlteration;
import io.journalq.server.api.admin.config.ConfigAlteration.ResourceOutcome;
import io.journalq.server.security.Right;
import java.util.List;

/**
 * IncrementalAlterConfigs, versions 0 and 1 (KIP-339): sets single settings of topics, groups, client metrics
 * subscriptions and brokers, resets them to their defaults, appends to lists and removes from them.
 */
public final class IncrementalAlterConfigsHandler implements Handler<IncrementalAlterConfigsRequest> {
    private final ConfigAlteration alteration;

    public IncrementalAlterConfigsHandler(ConfigAlteration alteration) {
        this.alteration = alteration;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(
                ApiKey.INCREMENTAL_ALTER_CONFIGS,
                0,
                1,
                AccessRule.asks(Right.ALTER_TOPIC_CONFIGS, Right.ALTER_GROUP_CONFIGS, Right.ALTER_CLUSTER_CONFIGS));
    }

    @Override
    public void handle(RequestContext context, IncrementalAlterConfigsRequest request) {
        alteration.alter(
                context,
                request.resources().stream().map(IncrementalAlterConfigsHandler::asked),
                request.validateOnly(),
                altered -> new IncrementalAlterConfigsResponse()
                        .setResponses(altered.map(IncrementalAlterConfigsHandler::response)
                                .toList()));
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
                .map(config -> new Change(config.name(), config.configOperation(), config.value()))
                .toList();
        return new ResourceAlteration(resource.resourceType(), resource.resourceName(), false, changes);
    }
}
