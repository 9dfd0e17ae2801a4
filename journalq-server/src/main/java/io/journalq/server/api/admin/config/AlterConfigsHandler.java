package io.journalq.server.api.admin.config;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.AlterConfigsRequest;
import io.journalq.common.protocol.message.AlterConfigsRequest.AlterConfigsResource;
import io.journalq.common.protocol.message.AlterConfigsRequest.AlterableConfig;
import io.journalq.common.protocol.message.AlterConfigsResponse;
import io.journalq.common.protocol.message.AlterConfigsResponse.AlterConfigsResourceResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.api.admin.Answer;
import io.journalq.server.api.admin.config.ConfigAlteration.Plan;
import io.journalq.server.control.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * AlterConfigs, versions 0 to 2: all settings of a topic, a group, a subscription of client metrics or a broker at once;
 * what is not named goes back to its default.
 */
public final class AlterConfigsHandler implements Handler<AlterConfigsRequest> {
    private final ConfigAlteration alteration;

    public AlterConfigsHandler(ConfigAlteration alteration) {
        this.alteration = alteration;
    }

    @Override
    public void handle(RequestContext context, AlterConfigsRequest request) {
        Answer.when(
                alteration.alter(request.resources(), request.validateOnly(), this::plan),
                context,
                (outcomes, never) -> {
                    List<AlterConfigsResourceResponse> responses = new ArrayList<>();
                    for (AlterConfigsResource resource : request.resources()) {
                        responses.add(new AlterConfigsResourceResponse()
                                .setResourceType(resource.resourceType())
                                .setResourceName(resource.resourceName())
                                .setErrorCode(
                                        outcomes.get(responses.size()).error().code())
                                .setErrorMessage(outcomes.get(responses.size()).reason()));
                    }
                    return new AlterConfigsResponse().setResponses(responses);
                });
    }

    private Plan plan(AlterConfigsResource resource) {
        byte type = resource.resourceType();
        String name = resource.resourceName();
        Outcome refusal = null;
        for (AlterableConfig config : resource.configs()) {
            if (refusal == null) {
                refusal = config.value() == null
                        ? ConfigResource.refusal(ErrorCode.INVALID_REQUEST, "every setting that is named needs a value")
                        : ConfigAlteration.problem(type, config.name());
            }
        }
        return new Plan(type, name, refusal, () -> {
            Map<String, String> changes = new TreeMap<>();
            alteration.set(type, name).keySet().forEach(before -> changes.put(before, null));
            resource.configs().forEach(config -> changes.put(config.name(), config.value()));
            return changes;
        });
    }
}
