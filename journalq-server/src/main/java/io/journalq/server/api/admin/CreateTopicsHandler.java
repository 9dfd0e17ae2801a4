package io.journalq.server.api.admin;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.CreateTopicsRequest;
import io.journalq.common.protocol.message.CreateTopicsRequest.CreatableReplicaAssignment;
import io.journalq.common.protocol.message.CreateTopicsRequest.CreatableTopic;
import io.journalq.common.protocol.message.CreateTopicsRequest.CreatableTopicConfig;
import io.journalq.common.protocol.message.CreateTopicsResponse;
import io.journalq.common.protocol.message.CreateTopicsResponse.CreatableTopicConfigs;
import io.journalq.common.protocol.message.CreateTopicsResponse.CreatableTopicResult;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.DeferredResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.api.admin.config.ConfigDescriber;
import io.journalq.server.api.admin.config.IneffectiveSettings;
import io.journalq.server.config.ConfigException;
import io.journalq.server.config.KafkaNames;
import io.journalq.server.control.Controller;
import io.journalq.server.control.MetadataPublisher;
import io.journalq.server.control.Outcome;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.metadata.TopicSpec;
import io.journalq.server.metadata.security.AclResourceType;
import io.journalq.server.security.Right;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

/**
 * CreateTopics, versions 2 to 7: creates topics with a number of partitions or with assignments, and with settings, or
 * only validates the request. The response contains the topic id (version 7) and, from version 5, the number of
 * partitions, the replication factor and the settings (KIP-525), also if the request is only validated. It is sent when
 * the partitions are served, or with REQUEST_TIMED_OUT after the timeout of the request, while the creation continues.
 */
public final class CreateTopicsHandler implements Handler<CreateTopicsRequest> {
    private final MetadataPublisher metadata;
    private final Controller controller;
    private final ConfigDescriber describer;
    private final CreationRefusals refusals;
    private final IneffectiveSettings ineffective;

    public CreateTopicsHandler(
            MetadataPublisher metadata,
            Controller controller,
            ConfigDescriber describer,
            CreationRefusals refusals,
            IneffectiveSettings ineffective) {
        this.metadata = metadata;
        this.controller = controller;
        this.describer = describer;
        this.refusals = refusals;
        this.ineffective = ineffective;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(
                ApiKey.CREATE_TOPICS,
                2,
                7,
                AccessRule.asks(Right.CREATE_ON_CLUSTER, Right.CREATE_TOPIC, Right.DESCRIBE_TOPIC_CONFIGS));
    }

    @Override
    public void handle(RequestContext context, CreateTopicsRequest request) {
        Map<String, CreatableTopicResult> resultByName = new TreeMap<>();
        List<TopicSpec> specs = new ArrayList<>();
        Map<String, Integer> occurrences = new TreeMap<>();
        request.topics().forEach(topic -> occurrences.merge(topic.name(), 1, Integer::sum));
        boolean mayCreateAll = context.grants(Right.CREATE_ON_CLUSTER, AclResourceType.CLUSTER_NAME);
        for (CreatableTopic topic : request.topics()) {
            if (occurrences.get(topic.name()) > 1) {
                resultByName.put(
                        topic.name(), refused(topic.name(), ErrorCode.INVALID_REQUEST, "the topic is named twice"));
            } else if (!mayCreateAll && !context.allows(Right.CREATE_TOPIC, topic.name())) {
                resultByName.put(
                        topic.name(), refused(topic.name(), ErrorCode.TOPIC_AUTHORIZATION_FAILED, context.denial()));
            } else if (!numbersPartitions(topic.assignments())) {
                resultByName.put(
                        topic.name(),
                        refused(
                                topic.name(),
                                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                                "assigned partitions must be numbered from 0 on, without a gap"));
            } else {
                try {
                    specs.add(spec(topic));
                } catch (ConfigException wrong) {
                    resultByName.put(topic.name(), refused(topic.name(), ErrorCode.INVALID_CONFIG, wrong.getMessage()));
                }
            }
        }
        CompletableFuture<List<Outcome>> creation = controller.createTopics(specs, request.validateOnly());
        DeferredResponse.within(request.timeoutMs(), creation, context, (outcomes, failure) -> {
            for (int i = 0; i < specs.size(); i++) {
                TopicSpec spec = specs.get(i);
                Outcome outcome = failure != null ? Outcome.of(failure) : outcomes.get(i);
                resultByName.put(spec.name(), result(context, spec, outcome));
                if (outcome.error() == ErrorCode.NONE && !request.validateOnly()) {
                    spec.configs().forEach(ineffective::onSet);
                }
            }
            return new CreateTopicsResponse().setTopics(new ArrayList<>(resultByName.values()));
        });
    }

    private static boolean numbersPartitions(List<CreatableReplicaAssignment> assignments) {
        List<Integer> numbers = assignments.stream()
                .map(CreatableReplicaAssignment::partitionIndex)
                .sorted()
                .toList();
        for (int i = 0; i < numbers.size(); i++) {
            if (numbers.get(i) != i) {
                return false;
            }
        }
        return true;
    }

    private static TopicSpec spec(CreatableTopic topic) throws ConfigException {
        Map<String, String> configs = new TreeMap<>();
        for (CreatableTopicConfig config : topic.configs()) {
            String name = KafkaNames.OF_TOPICS.ourName(config.name());
            String text = KafkaNames.OF_TOPICS.ourText(config.name(), config.value());
            if (configs.containsKey(name)) {
                throw new ConfigException(name + " is named twice");
            }
            configs.put(name, text);
        }
        List<List<Integer>> assignments = topic.assignments().stream()
                .sorted(Comparator.comparingInt(CreatableReplicaAssignment::partitionIndex))
                .map(CreatableReplicaAssignment::brokerIds)
                .toList();
        return new TopicSpec(topic.name(), topic.numPartitions(), topic.replicationFactor(), assignments, configs);
    }

    private CreatableTopicResult result(RequestContext context, TopicSpec spec, Outcome outcome) {
        String name = spec.name();
        if (outcome.error() != ErrorCode.NONE) {
            int partitions = spec.assignments().isEmpty()
                    ? spec.partitions()
                    : spec.assignments().size();
            refusals.report(context, name, partitions, outcome);
            return refused(name, outcome.error(), outcome.reason());
        }
        CreatableTopicResult result = new CreatableTopicResult().setName(name);
        boolean validated = outcome.validated() != null;
        TopicImage topic = validated ? outcome.validated() : metadata.current().topic(name);
        if (topic == null) {
            // Deleted in the meantime.
            return result.setTopicId(Uuid.ZERO);
        }
        result.setTopicId(validated ? Uuid.ZERO : topic.id());
        if (!context.sees(Right.DESCRIBE_TOPIC_CONFIGS, name)) {
            return result.setTopicConfigErrorCode(ErrorCode.TOPIC_AUTHORIZATION_FAILED.code())
                    .setConfigs(List.of());
        }
        List<CreatableTopicConfigs> configs = describer.topic(topic).stream()
                .map(config -> new CreatableTopicConfigs()
                        .setName(config.name())
                        .setValue(config.value())
                        .setConfigSource(config.configSource()))
                .toList();
        return result.setNumPartitions(topic.partitions().size())
                .setReplicationFactor(
                        (short) topic.partitions().get(0).replicas().size())
                .setConfigs(configs);
    }

    private static CreatableTopicResult refused(String name, ErrorCode error, String reason) {
        return new CreatableTopicResult()
                .setName(name)
                .setErrorCode(error.code())
                .setErrorMessage(reason);
    }
}
