package io.journalq.server.api.admin;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.AlterConfigsRequest;
import io.journalq.common.protocol.message.AlterConfigsRequest.AlterConfigsResource;
import io.journalq.common.protocol.message.AlterConfigsResponse;
import io.journalq.common.protocol.message.AlterConfigsResponse.AlterConfigsResourceResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.api.admin.ConfigAlteration.Plan;
import io.journalq.server.control.Controller;
import io.journalq.server.control.Controller.ConfigChange;
import io.journalq.server.control.MetadataPublisher;
import io.journalq.server.metadata.TopicImage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** AlterConfigs, versions 0 to 2: all of a topic's settings at once; what is not named goes back to its default. */
public final class AlterConfigsHandler implements Handler<AlterConfigsRequest> {
    private final MetadataPublisher metadata;
    private final Controller controller;

    public AlterConfigsHandler(MetadataPublisher metadata, Controller controller) {
        this.metadata = metadata;
        this.controller = controller;
    }

    @Override
    public void handle(RequestContext context, AlterConfigsRequest request) {
        Answer.when(
                ConfigAlteration.alter(controller, request.resources(), request.validateOnly(), this::plan),
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
        if (resource.resourceType() != ConfigResource.TOPIC) {
            return Plan.refuse(resource.resourceType());
        }
        if (resource.configs().stream().anyMatch(config -> config.value() == null)) {
            return Plan.refuse(ErrorCode.INVALID_REQUEST, "every setting that is named needs a value");
        }
        return Plan.change(new ConfigChange(resource.resourceName(), () -> changes(resource)));
    }

    private Map<String, String> changes(AlterConfigsResource resource) {
        Map<String, String> changes = new TreeMap<>();
        TopicImage topic = metadata.current().topic(resource.resourceName());
        if (topic != null) {
            topic.configs().keySet().forEach(name -> changes.put(name, null));
        }
        resource.configs().forEach(config -> changes.put(config.name(), config.value()));
        return changes;
    }
}
