package io.journalq.server.api.admin.config;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.DescribeConfigsRequest;
import io.journalq.common.protocol.message.DescribeConfigsRequest.DescribeConfigsResource;
import io.journalq.common.protocol.message.DescribeConfigsResponse;
import io.journalq.common.protocol.message.DescribeConfigsResponse.DescribeConfigsResourceResult;
import io.journalq.common.protocol.message.DescribeConfigsResponse.DescribeConfigsResult;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.ClusterBrokers;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.control.MetadataPublisher;
import io.journalq.server.control.Outcome;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.metadata.TopicNameRules;
import io.journalq.server.security.Right;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * DescribeConfigs, versions 1 to 4: the settings of topics, groups, client metrics subscriptions and this broker, with
 * their origins and documentation.
 */
public final class DescribeConfigsHandler implements Handler<DescribeConfigsRequest> {
    private final ClusterBrokers brokers;
    private final MetadataPublisher metadata;
    private final ConfigDescriber describer;

    public DescribeConfigsHandler(ClusterBrokers brokers, MetadataPublisher metadata, ConfigDescriber describer) {
        this.brokers = brokers;
        this.metadata = metadata;
        this.describer = describer;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(
                ApiKey.DESCRIBE_CONFIGS,
                1,
                4,
                AccessRule.asks(
                        Right.DESCRIBE_TOPIC_CONFIGS, Right.DESCRIBE_GROUP_CONFIGS, Right.DESCRIBE_CLUSTER_CONFIGS));
    }

    @Override
    public void handle(RequestContext context, DescribeConfigsRequest request) {
        List<DescribeConfigsResult> results = new ArrayList<>();
        // A resource is described once. Otherwise, a short request could fill the heap.
        Set<String> described = new HashSet<>();
        for (DescribeConfigsResource resource : request.resources()) {
            if (!described.add(text(resource))) {
                continue;
            }
            DescribeConfigsResult result = describe(context, resource);
            for (DescribeConfigsResourceResult config : result.configs()) {
                if (!request.includeSynonyms()) {
                    config.setSynonyms(List.of());
                }
                if (!request.includeDocumentation()) {
                    config.setDocumentation(null);
                }
            }
            results.add(result);
        }
        context.respond(new DescribeConfigsResponse().setResults(results));
    }

    /** All that is asked of a resource. A set of texts stays fast if a client chooses names with equal hash codes. */
    private static String text(DescribeConfigsResource resource) {
        String name = resource.resourceName();
        return resource.resourceType() + " " + name.length() + " " + name + resource.configurationKeys();
    }

    private DescribeConfigsResult describe(RequestContext context, DescribeConfigsResource resource) {
        DescribeConfigsResult result = new DescribeConfigsResult()
                .setResourceType(resource.resourceType())
                .setResourceName(resource.resourceName());
        Outcome denial =
                ConfigResourceTypes.descriptionDenial(context, resource.resourceType(), resource.resourceName());
        if (denial != null) {
            return result.setErrorCode(denial.error().code()).setErrorMessage(denial.reason());
        }
        if (resource.resourceType() == ConfigResourceTypes.TOPIC) {
            TopicImage topic = metadata.current().topic(resource.resourceName());
            return topic == null
                    ? result.setErrorCode(TopicNameRules.errorOfUnknown(resource.resourceName())
                                    .code())
                            .setErrorMessage("there is no topic '" + resource.resourceName() + "'")
                    : result.setConfigs(only(resource.configurationKeys(), describer.topic(topic)));
        }
        Outcome problem = problem(resource.resourceType(), resource.resourceName());
        if (problem != null) {
            return result.setErrorCode(problem.error().code()).setErrorMessage(problem.reason());
        }
        return result.setConfigs(only(
                resource.configurationKeys(),
                switch (resource.resourceType()) {
                    case ConfigResourceTypes.GROUP -> describer.group(resource.resourceName());
                    case ConfigResourceTypes.CLIENT_METRICS -> describer.clientMetrics(resource.resourceName());
                    default -> resource.resourceName().isEmpty() ? describer.everyBroker() : describer.broker();
                }));
    }

    private Outcome problem(byte type, String name) {
        Outcome problem = ConfigResourceTypes.problem(type, name, metadata.current());
        boolean isOther = type == ConfigResourceTypes.BROKER
                && !name.isEmpty()
                && !name.equals(Integer.toString(brokers.nodeId()));
        return problem == null && isOther
                ? ConfigResourceTypes.refusal(
                        ErrorCode.INVALID_REQUEST,
                        "this is broker " + brokers.nodeId() + ", which does not know the settings of broker " + name)
                : problem;
    }

    private static List<DescribeConfigsResourceResult> only(
            List<String> names, List<DescribeConfigsResourceResult> configs) {
        return names == null || names.isEmpty()
                ? configs
                : configs.stream()
                        .filter(config -> names.contains(config.name()))
                        .toList();
    }
}
