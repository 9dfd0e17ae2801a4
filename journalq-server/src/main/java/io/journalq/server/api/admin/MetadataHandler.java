package io.journalq.server.api.admin;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.MetadataRequest;
import io.journalq.common.protocol.message.MetadataRequest.MetadataRequestTopic;
import io.journalq.common.protocol.message.MetadataResponse;
import io.journalq.common.protocol.message.MetadataResponse.MetadataResponseBroker;
import io.journalq.common.protocol.message.MetadataResponse.MetadataResponsePartition;
import io.journalq.common.protocol.message.MetadataResponse.MetadataResponseTopic;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.control.Controller;
import io.journalq.server.control.MetadataPublisher;
import io.journalq.server.control.Outcome;
import io.journalq.server.metadata.InternalTopics;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.PartitionImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.metadata.TopicNames;
import io.journalq.server.metadata.TopicSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Metadata, versions 0 to 13: the broker, and topics with their partitions and leaders; by name, by id (10+, KIP-516) or
 * all of them. Creates missing topics where client and broker allow it. An empty list of topics means all in version 0 and
 * none later, where null means all.
 */
public final class MetadataHandler implements Handler<MetadataRequest> {
    private final BrokerIdentity identity;
    private final MetadataPublisher metadata;
    private final Controller controller;
    private final OfflineReplicas offline;
    private final boolean autoCreate;
    private final CreationRefusals creationRefusals;

    /**
     * Serves whoever asks.
     *
     * @param autoCreate whether missing topics are created for clients that allow it
     * @param creationRefusals told of those that cannot be
     */
    public MetadataHandler(
            BrokerIdentity identity,
            MetadataPublisher metadata,
            Controller controller,
            OfflineReplicas offline,
            boolean autoCreate,
            CreationRefusals creationRefusals) {
        this.identity = identity;
        this.metadata = metadata;
        this.controller = controller;
        this.offline = offline;
        this.autoCreate = autoCreate;
        this.creationRefusals = creationRefusals;
    }

    @Override
    public void handle(RequestContext context, MetadataRequest request) {
        List<TopicSpec> missing = missingTopics(context, request);
        if (missing.isEmpty()) {
            context.respond(response(context, request, Map.of()));
        } else {
            Answer.when(
                    controller.createTopics(missing, false),
                    context,
                    (outcomes, failure) -> response(context, request, refusals(context, missing, outcomes)));
        }
    }

    private List<TopicSpec> missingTopics(RequestContext context, MetadataRequest request) {
        List<TopicSpec> missing = new ArrayList<>();
        // Before version 4 a client could not say that it does not want topics created.
        boolean allowed = autoCreate && (context.apiVersion() < 4 || request.allowAutoTopicCreation());
        if (allowed && request.topics() != null) {
            for (MetadataRequestTopic topic : request.topics()) {
                boolean named = topic.name() != null && topic.topicId().equals(Uuid.ZERO);
                if (named
                        && metadata.current().topic(topic.name()) == null
                        && TopicNames.problem(topic.name()) == null) {
                    missing.add(new TopicSpec(topic.name(), TopicSpec.DEFAULT, TopicSpec.DEFAULT, List.of(), Map.of()));
                }
            }
        }
        return missing;
    }

    /** Why topics were not created, by name. The controller may be closed: then there are no outcomes, nor topics. */
    private Map<String, ErrorCode> refusals(RequestContext context, List<TopicSpec> missing, List<Outcome> outcomes) {
        Map<String, ErrorCode> refusals = new TreeMap<>();
        for (int i = 0; i < missing.size(); i++) {
            ErrorCode error = outcomes == null
                    ? ErrorCode.LEADER_NOT_AVAILABLE
                    : outcomes.get(i).error();
            if (error != ErrorCode.NONE && error != ErrorCode.TOPIC_ALREADY_EXISTS) {
                refusals.put(missing.get(i).name(), error);
                if (outcomes != null) {
                    creationRefusals.tell(context, missing.get(i).name(), TopicSpec.DEFAULT, outcomes.get(i));
                }
            }
        }
        return refusals;
    }

    private MetadataResponse response(
            RequestContext context, MetadataRequest request, Map<String, ErrorCode> refusals) {
        MetadataImage image = metadata.current();
        ListenerAddress address = identity.addressFor(context);
        List<MetadataResponseTopic> topics = new ArrayList<>();
        if (asksForAll(context, request)) {
            image.topics().forEach(topic -> topics.add(found(topic)));
        } else {
            for (MetadataRequestTopic wanted : request.topics()) {
                topics.add(answer(image, wanted, refusals));
            }
        }
        if (request.includeTopicAuthorizedOperations()) {
            topics.stream()
                    .filter(topic -> topic.errorCode() == ErrorCode.NONE.code())
                    .forEach(topic -> topic.setTopicAuthorizedOperations(BrokerIdentity.ALL_TOPIC_OPERATIONS));
        }
        MetadataResponse response = new MetadataResponse()
                .setClusterId(image.clusterId())
                .setControllerId(identity.nodeId())
                .setBrokers(List.of(new MetadataResponseBroker()
                        .setNodeId(identity.nodeId())
                        .setHost(address.host())
                        .setPort(address.port())))
                .setTopics(topics);
        if (context.apiVersion() >= 8 && context.apiVersion() <= 10 && request.includeClusterAuthorizedOperations()) {
            response.setClusterAuthorizedOperations(BrokerIdentity.ALL_CLUSTER_OPERATIONS);
        }
        return response;
    }

    private static boolean asksForAll(RequestContext context, MetadataRequest request) {
        return request.topics() == null
                || (context.apiVersion() == 0 && request.topics().isEmpty());
    }

    private MetadataResponseTopic answer(
            MetadataImage image, MetadataRequestTopic wanted, Map<String, ErrorCode> refusals) {
        if (!wanted.topicId().equals(Uuid.ZERO)) {
            TopicImage topic = image.topic(wanted.topicId());
            return topic != null
                    ? found(topic)
                    : new MetadataResponseTopic()
                            .setName(null)
                            .setTopicId(wanted.topicId())
                            .setErrorCode(ErrorCode.UNKNOWN_TOPIC_ID.code());
        }
        TopicImage topic = wanted.name() == null ? null : image.topic(wanted.name());
        if (topic != null) {
            return found(topic);
        }
        if (TopicNames.problem(wanted.name()) != null) {
            return new MetadataResponseTopic()
                    .setName(wanted.name() == null ? "" : wanted.name())
                    .setErrorCode(ErrorCode.INVALID_TOPIC_EXCEPTION.code());
        }
        ErrorCode error = refusals.getOrDefault(wanted.name(), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
        return new MetadataResponseTopic().setName(wanted.name()).setErrorCode(error.code());
    }

    private MetadataResponseTopic found(TopicImage topic) {
        List<MetadataResponsePartition> partitions =
                new ArrayList<>(topic.partitions().size());
        for (PartitionImage partition : topic.partitions()) {
            int number = partitions.size();
            partitions.add(new MetadataResponsePartition()
                    .setPartitionIndex(number)
                    .setLeaderId(partition.leader())
                    .setLeaderEpoch(partition.leaderEpoch())
                    .setReplicaNodes(partition.replicas())
                    .setIsrNodes(partition.inSyncReplicas())
                    .setOfflineReplicas(offline.of(topic.id(), number, partition)));
        }
        return new MetadataResponseTopic()
                .setName(topic.name())
                .setTopicId(topic.id())
                .setIsInternal(InternalTopics.contains(topic.name()))
                .setPartitions(partitions);
    }
}
