package io.journalq.server.api.admin;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.IncrementalAlterConfigsRequest;
import io.journalq.common.protocol.message.IncrementalAlterConfigsRequest.AlterConfigsResource;
import io.journalq.common.protocol.message.IncrementalAlterConfigsRequest.AlterableConfig;
import io.journalq.common.protocol.message.IncrementalAlterConfigsResponse;
import io.journalq.common.protocol.message.IncrementalAlterConfigsResponse.AlterConfigsResourceResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.api.admin.ConfigAlteration.Plan;
import io.journalq.server.config.TopicSettings;
import io.journalq.server.control.Controller;
import io.journalq.server.control.Controller.ConfigChange;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * IncrementalAlterConfigs, versions 0 and 1 (KIP-339): sets single settings of topics or puts them back to their
 * defaults. Appending to a list and subtracting from it is refused: no setting of a topic is a list here.
 */
public final class IncrementalAlterConfigsHandler implements Handler<IncrementalAlterConfigsRequest> {
    private static final byte SET = 0;
    private static final byte DELETE = 1;

    private final Controller controller;

    public IncrementalAlterConfigsHandler(Controller controller) {
        this.controller = controller;
    }

    @Override
    public void handle(RequestContext context, IncrementalAlterConfigsRequest request) {
        Answer.when(
                ConfigAlteration.alter(
                        controller, request.resources(), request.validateOnly(), IncrementalAlterConfigsHandler::plan),
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
                    return new IncrementalAlterConfigsResponse().setResponses(responses);
                });
    }

    private static Plan plan(AlterConfigsResource resource) {
        if (resource.resourceType() != ConfigResource.TOPIC) {
            return Plan.refuse(resource.resourceType());
        }
        Map<String, String> changes = new TreeMap<>();
        for (AlterableConfig config : resource.configs()) {
            if (changes.containsKey(config.name())) {
                return Plan.refuse(ErrorCode.INVALID_REQUEST, config.name() + " is named twice");
            }
            if (TopicSettings.ALL.find(config.name()) == null) {
                return Plan.refuse(
                        ErrorCode.INVALID_CONFIG,
                        "Unknown setting '" + config.name() + "'" + TopicSettings.ALL.suggestion(config.name()));
            }
            if (config.configOperation() == SET && config.value() != null) {
                changes.put(config.name(), config.value());
            } else if (config.configOperation() == DELETE) {
                changes.put(config.name(), null);
            } else if (config.configOperation() == SET) {
                return Plan.refuse(ErrorCode.INVALID_REQUEST, config.name() + " is to be set but has no value");
            } else {
                return Plan.refuse(
                        ErrorCode.INVALID_CONFIG, config.name() + " is not a list: it can be set or deleted only");
            }
        }
        return Plan.change(new ConfigChange(resource.resourceName(), () -> changes));
    }
}
