package io.journalq.server.api.admin.config;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.IncrementalAlterConfigsRequest;
import io.journalq.common.protocol.message.IncrementalAlterConfigsRequest.AlterConfigsResource;
import io.journalq.common.protocol.message.IncrementalAlterConfigsRequest.AlterableConfig;
import io.journalq.common.protocol.message.IncrementalAlterConfigsResponse;
import io.journalq.common.protocol.message.IncrementalAlterConfigsResponse.AlterConfigsResourceResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.api.admin.Answer;
import io.journalq.server.api.admin.config.ConfigAlteration.Plan;
import io.journalq.server.config.ConfigKey;
import io.journalq.server.config.ConfigKeys;
import io.journalq.server.config.ConfigType;
import io.journalq.server.control.Outcome;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * IncrementalAlterConfigs, versions 0 and 1 (KIP-339): sets single settings of topics, groups, subscriptions of client
 * metrics and brokers, puts them back to their defaults, and adds to lists or takes from them.
 */
public final class IncrementalAlterConfigsHandler implements Handler<IncrementalAlterConfigsRequest> {
    private static final byte SET = 0;
    private static final byte DELETE = 1;
    private static final byte APPEND = 2;
    private static final byte SUBTRACT = 3;

    private final ConfigAlteration alteration;
    private final ConfigDescriber describer;

    /** @param describer says what a list is that is added to */
    public IncrementalAlterConfigsHandler(ConfigAlteration alteration, ConfigDescriber describer) {
        this.alteration = alteration;
        this.describer = describer;
    }

    @Override
    public void handle(RequestContext context, IncrementalAlterConfigsRequest request) {
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
                    return new IncrementalAlterConfigsResponse().setResponses(responses);
                });
    }

    private Plan plan(AlterConfigsResource resource) {
        byte type = resource.resourceType();
        String name = resource.resourceName();
        return new Plan(type, name, problem(resource), () -> {
            Map<String, String> before = alteration.set(type, name);
            Map<String, String> changes = new TreeMap<>();
            for (AlterableConfig config : resource.configs()) {
                changes.put(config.name(), after(config, before.get(config.name()), type));
            }
            return changes;
        });
    }

    private static Outcome problem(AlterConfigsResource resource) {
        Set<String> names = new TreeSet<>();
        for (AlterableConfig config : resource.configs()) {
            Outcome problem = names.add(config.name())
                    ? problem(resource.resourceType(), config)
                    : ConfigResource.refusal(ErrorCode.INVALID_REQUEST, config.name() + " is named twice");
            if (problem != null) {
                return problem;
            }
        }
        return null;
    }

    private static Outcome problem(byte type, AlterableConfig config) {
        Outcome problem = ConfigAlteration.problem(type, config.name());
        ConfigKeys keys = ConfigResource.changeable(type);
        if (problem != null || keys == null) {
            return problem;
        }
        byte operation = config.configOperation();
        if (operation < SET || operation > SUBTRACT) {
            return ConfigResource.refusal(ErrorCode.INVALID_REQUEST, "there is no operation " + operation);
        }
        if (operation != DELETE && config.value() == null) {
            return ConfigResource.refusal(ErrorCode.INVALID_REQUEST, config.name() + " is to be set but has no value");
        }
        boolean isList = keys.find(config.name()).type() == ConfigType.LIST;
        return isList || operation == SET || operation == DELETE
                ? null
                : ConfigResource.refusal(
                        ErrorCode.INVALID_CONFIG, config.name() + " is not a list: it can be set or deleted only");
    }

    private String after(AlterableConfig config, String before, byte type) {
        if (config.configOperation() == SET) {
            return config.value();
        }
        if (config.configOperation() == DELETE) {
            return null;
        }
        ConfigKey<?> key = ConfigResource.changeable(type).find(config.name());
        List<String> items = new ArrayList<>(itemsOf(before == null ? describer.inheritedBy(type, key) : before));
        List<String> named = itemsOf(config.value());
        if (config.configOperation() == APPEND) {
            named.stream().filter(item -> !items.contains(item)).forEach(items::add);
        } else {
            items.removeAll(named);
        }
        return String.join(",", items);
    }

    private static List<String> itemsOf(String list) {
        return Arrays.stream(list.split(",", -1))
                .map(String::strip)
                .filter(item -> !item.isEmpty())
                .toList();
    }
}
