package io.journalq.server.api.admin;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.MetadataRequest;
import io.journalq.common.protocol.message.MetadataRequest.MetadataRequestTopic;
import io.journalq.common.protocol.message.MetadataResponse;
import io.journalq.common.protocol.message.MetadataResponse.MetadataResponseBroker;
import io.journalq.common.protocol.message.MetadataResponse.MetadataResponsePartition;
import io.journalq.common.protocol.message.MetadataResponse.MetadataResponseTopic;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.ClusterBrokers;
import io.journalq.server.api.DeferredResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.control.Controller;
import io.journalq.server.control.ControllerOperations;
import io.journalq.server.control.MetadataPublisher;
import io.journalq.server.control.Outcome;
import io.journalq.server.metadata.BrokerImage;
import io.journalq.server.metadata.InternalTopics;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.metadata.TopicNameRules;
import io.journalq.server.metadata.TopicSpec;
import io.journalq.server.metadata.partition.PartitionImage;
import io.journalq.server.metadata.security.AclResourceType;
import io.journalq.server.security.Right;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Metadata, versions 0 to 13: the brokers, and topics with their partitions and leaders. Topics are requested by name,
 * by id (from version 10, KIP-516), or all of them. Creates missing topics if the client and the broker allow it. In
 * version 0, an empty list of topics means all. In later versions it means none, and null means all.
 */
public final class MetadataHandler implements Handler<MetadataRequest> {
    private static final int NO_LEADER = -1;
    /** Requests can name topics by id before, but a response must have a name for each. */
    private static final short FIRST_VERSION_WITHOUT_NAMES = 12;

    private final ClusterBrokers brokers;
    private final MetadataPublisher metadata;
    private final Controller controller;
    private final ControllerOperations activeController;
    private final OfflineReplicas offline;
    private final boolean autoCreate;
    private final AutoCreationLimiter autoCreationLimiter;
    private final CreationRefusals creationRefusals;
    private volatile AllTopics allTopics = new AllTopics(MetadataImage.EMPTY, 0, List.of());
    private volatile AllBrokers allBrokers = new AllBrokers(List.of(), "", null, List.of());

    /** All topics at one time. Clients that watch a cluster request them repeatedly. */
    private record AllTopics(MetadataImage image, long offlineChanges, List<MetadataResponseTopic> topics) {}

    /**
     * The brokers as the last client saw them.
     *
     * @param registered all brokers at that time
     * @param listener the client's listener
     * @param here the address of this broker for the client
     */
    private record AllBrokers(
            Collection<BrokerImage> registered,
            String listener,
            ListenerAddress here,
            List<MetadataResponseBroker> brokers) {}

    /**
     * Creates the handler.
     *
     * @param autoCreate whether missing topics are created for clients that allow it
     * @param autoCreationLimiter limits the creation of missing topics
     * @param creationRefusals logs topics that cannot be created
     */
    public MetadataHandler(
            ClusterBrokers brokers,
            MetadataPublisher metadata,
            Controller controller,
            ControllerOperations activeController,
            OfflineReplicas offline,
            boolean autoCreate,
            AutoCreationLimiter autoCreationLimiter,
            CreationRefusals creationRefusals) {
        this.brokers = brokers;
        this.metadata = metadata;
        this.controller = controller;
        this.activeController = activeController;
        this.offline = offline;
        this.autoCreate = autoCreate;
        this.autoCreationLimiter = autoCreationLimiter;
        this.creationRefusals = creationRefusals;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(
                ApiKey.METADATA,
                0,
                13,
                AccessRule.asks(
                        Right.DESCRIBE_TOPIC, Right.CREATE_TOPIC, Right.CREATE_ON_CLUSTER, Right.DESCRIBE_CLUSTER));
    }

    @Override
    public void handle(RequestContext context, MetadataRequest request) {
        Map<String, ErrorCode> refusals = new TreeMap<>();
        Set<String> denied = denied(context, request);
        List<TopicSpec> missing = missingTopics(context, request, denied);
        missing.removeIf(topic -> !mayCreate(context, topic.name(), refusals));
        missing.removeIf(topic -> isTooFast(context, topic.name(), refusals));
        if (missing.isEmpty()) {
            context.respond(response(context, request, denied, refusals));
        } else {
            DeferredResponse.when(activeController.createTopics(missing, false), context, (outcomes, failure) -> {
                addRefusals(context, missing, outcomes, refusals);
                return response(context, request, denied, refusals);
            });
        }
    }

    /** The topics that the client names and may not describe. It does not learn whether they exist. */
    private static Set<String> denied(RequestContext context, MetadataRequest request) {
        Set<String> denied = new TreeSet<>();
        if (context.enforcesRights() && request.topics() != null) {
            for (MetadataRequestTopic topic : request.topics()) {
                if (topic.name() != null
                        && topic.topicId().equals(Uuid.ZERO)
                        && !context.allows(Right.DESCRIBE_TOPIC, topic.name())) {
                    denied.add(topic.name());
                }
            }
        }
        return denied;
    }

    private static boolean mayCreate(RequestContext context, String topic, Map<String, ErrorCode> refusals) {
        boolean allowed = context.grants(Right.CREATE_ON_CLUSTER, AclResourceType.CLUSTER_NAME)
                || context.allows(Right.CREATE_TOPIC, topic);
        if (!allowed) {
            refusals.put(topic, ErrorCode.TOPIC_AUTHORIZATION_FAILED);
        }
        return allowed;
    }

    /** Whether the client requests missing topics faster than they may be created. The error makes it retry. */
    private boolean isTooFast(RequestContext context, String topic, Map<String, ErrorCode> refusals) {
        if (autoCreationLimiter.take(
                context.remoteAddress(), context.cycle().loop().nanoTime())) {
            return false;
        }
        creationRefusals.rateExceeded(context, topic, ErrorCode.LEADER_NOT_AVAILABLE);
        refusals.put(topic, ErrorCode.LEADER_NOT_AVAILABLE);
        return true;
    }

    private List<TopicSpec> missingTopics(RequestContext context, MetadataRequest request, Set<String> denied) {
        // Before version 4, a client could not forbid the creation of topics.
        boolean allowed = autoCreate && (context.apiVersion() < 4 || request.allowAutoTopicCreation());
        List<TopicSpec> missing = new ArrayList<>();
        if (!allowed || request.topics() == null) {
            return missing;
        }
        Set<String> seen = new TreeSet<>();
        for (MetadataRequestTopic topic : request.topics()) {
            boolean named = topic.name() != null && topic.topicId().equals(Uuid.ZERO);
            if (named
                    && !denied.contains(topic.name())
                    && metadata.current().topic(topic.name()) == null
                    && TopicNameRules.problem(topic.name()) == null
                    && seen.add(topic.name())) {
                missing.add(new TopicSpec(topic.name(), TopicSpec.DEFAULT, TopicSpec.DEFAULT, List.of(), Map.of()));
            }
        }
        return missing;
    }

    /**
     * Adds the reasons why topics were not created, by name. If the controller is closed, there are no outcomes and no
     * topics.
     */
    private void addRefusals(
            RequestContext context, List<TopicSpec> missing, List<Outcome> outcomes, Map<String, ErrorCode> refusals) {
        for (int i = 0; i < missing.size(); i++) {
            ErrorCode error = outcomes == null
                    ? ErrorCode.LEADER_NOT_AVAILABLE
                    : outcomes.get(i).error();
            if (error != ErrorCode.NONE && error != ErrorCode.TOPIC_ALREADY_EXISTS) {
                refusals.put(missing.get(i).name(), error);
                if (outcomes != null) {
                    creationRefusals.report(context, missing.get(i).name(), TopicSpec.DEFAULT, outcomes.get(i));
                }
            }
        }
    }

    private MetadataResponse response(
            RequestContext context, MetadataRequest request, Set<String> denied, Map<String, ErrorCode> refusals) {
        MetadataImage image = metadata.current();
        MetadataResponse response = new MetadataResponse()
                .setClusterId(image.clusterId())
                .setControllerId(controller.members().leaderId())
                .setBrokers(allBrokers(image, context))
                .setTopics(topics(context, request, image, denied, refusals));
        if (context.apiVersion() >= 8 && context.apiVersion() <= 10 && request.includeClusterAuthorizedOperations()) {
            response.setClusterAuthorizedOperations(
                    context.sees(Right.DESCRIBE_CLUSTER, AclResourceType.CLUSTER_NAME)
                            ? context.authorizedOperations(AclResourceType.CLUSTER, AclResourceType.CLUSTER_NAME)
                            : 0);
        }
        return response;
    }

    /** All live brokers. Shared by many responses, and must not be modified. */
    private List<MetadataResponseBroker> allBrokers(MetadataImage image, RequestContext context) {
        BrokerImage self = image.liveBroker(brokers.nodeId());
        ListenerAddress here = self == null ? null : brokers.addressOf(self, context);
        AllBrokers known = allBrokers;
        if (known.registered() != image.brokers()
                || !known.listener().equals(context.listenerName())
                || !Objects.equals(known.here(), here)) {
            List<MetadataResponseBroker> live = image.brokers().stream()
                    .filter(BrokerImage::isLive)
                    .map(broker -> describe(broker, context))
                    .filter(Objects::nonNull)
                    .toList();
            known = new AllBrokers(image.brokers(), context.listenerName(), here, live);
            allBrokers = known;
        }
        return known.brokers();
    }

    /** Null if the broker does not have the client's listener. */
    private MetadataResponseBroker describe(BrokerImage broker, RequestContext context) {
        ListenerAddress address = brokers.addressOf(broker, context);
        if (address == null) {
            return null;
        }
        return new MetadataResponseBroker()
                .setNodeId(broker.nodeId())
                .setHost(address.host())
                .setPort(address.port())
                .setRack(broker.rack().isEmpty() ? null : broker.rack());
    }

    private List<MetadataResponseTopic> topics(
            RequestContext context,
            MetadataRequest request,
            MetadataImage image,
            Set<String> denied,
            Map<String, ErrorCode> refusals) {
        boolean all = asksForAll(context, request);
        if (!request.includeTopicAuthorizedOperations()) {
            return all ? visible(context, allTopics(image)) : named(context, request, image, denied, refusals);
        }
        List<MetadataResponseTopic> topics =
                all ? visible(context, describeAll(image)) : named(context, request, image, denied, refusals);
        for (MetadataResponseTopic topic : topics) {
            if (topic.errorCode() == ErrorCode.NONE.code()) {
                topic.setTopicAuthorizedOperations(context.authorizedOperations(AclResourceType.TOPIC, topic.name()));
            }
        }
        return topics;
    }

    /** All topics. Shared by many responses, and must not be modified. */
    private List<MetadataResponseTopic> allTopics(MetadataImage image) {
        AllTopics known = allTopics;
        long offlineChanges = offline.changes();
        if (known.image() != image || known.offlineChanges() != offlineChanges) {
            known = new AllTopics(image, offlineChanges, describeAll(image));
            allTopics = known;
        }
        return known.topics();
    }

    /** The topics that the client may describe. */
    private static List<MetadataResponseTopic> visible(RequestContext context, List<MetadataResponseTopic> topics) {
        return context.enforcesRights()
                ? topics.stream()
                        .filter(topic -> context.sees(Right.DESCRIBE_TOPIC, topic.name()))
                        .toList()
                : topics;
    }

    private List<MetadataResponseTopic> describeAll(MetadataImage image) {
        return image.topics().stream().map(topic -> found(image, topic)).toList();
    }

    private List<MetadataResponseTopic> named(
            RequestContext context,
            MetadataRequest request,
            MetadataImage image,
            Set<String> denied,
            Map<String, ErrorCode> refusals) {
        List<MetadataResponseTopic> topics = new ArrayList<>(request.topics().size());
        // As in Kafka, a topic is described once. Otherwise, a short request could fill the heap.
        Set<Object> described = new HashSet<>();
        for (MetadataRequestTopic wanted : request.topics()) {
            if (!described.add(wanted.topicId().equals(Uuid.ZERO) ? wanted.name() : wanted.topicId())) {
                continue;
            }
            topics.add(
                    wanted.name() != null && denied.contains(wanted.name())
                            ? new MetadataResponseTopic()
                                    .setName(wanted.name())
                                    .setErrorCode(ErrorCode.TOPIC_AUTHORIZATION_FAILED.code())
                            : describe(context, image, wanted, refusals));
        }
        return topics;
    }

    private static boolean asksForAll(RequestContext context, MetadataRequest request) {
        return request.topics() == null
                || (context.apiVersion() == 0 && request.topics().isEmpty());
    }

    private MetadataResponseTopic describe(
            RequestContext context, MetadataImage image, MetadataRequestTopic wanted, Map<String, ErrorCode> refusals) {
        if (!wanted.topicId().equals(Uuid.ZERO)) {
            TopicImage topic = image.topic(wanted.topicId());
            // A topic that the client may not describe is unknown to it.
            return topic != null && context.sees(Right.DESCRIBE_TOPIC, topic.name())
                    ? found(image, topic)
                    : new MetadataResponseTopic()
                            .setName(context.apiVersion() < FIRST_VERSION_WITHOUT_NAMES ? "" : null)
                            .setTopicId(wanted.topicId())
                            .setErrorCode(ErrorCode.UNKNOWN_TOPIC_ID.code());
        }
        TopicImage topic = wanted.name() == null ? null : image.topic(wanted.name());
        if (topic != null) {
            return found(image, topic);
        }
        if (TopicNameRules.problem(wanted.name()) != null) {
            return new MetadataResponseTopic()
                    .setName(wanted.name() == null ? "" : wanted.name())
                    .setErrorCode(ErrorCode.INVALID_TOPIC_EXCEPTION.code());
        }
        ErrorCode error = refusals.getOrDefault(wanted.name(), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
        return new MetadataResponseTopic().setName(wanted.name()).setErrorCode(error.code());
    }

    private MetadataResponseTopic found(MetadataImage image, TopicImage topic) {
        List<MetadataResponsePartition> partitions =
                new ArrayList<>(topic.partitions().size());
        for (PartitionImage partition : topic.partitions()) {
            int number = partitions.size();
            MetadataResponsePartition described = new MetadataResponsePartition()
                    .setPartitionIndex(number)
                    .setLeaderId(partition.leader())
                    .setLeaderEpoch(partition.leaderEpoch())
                    .setReplicaNodes(partition.replicas())
                    .setIsrNodes(partition.inSyncReplicas())
                    .setOfflineReplicas(offline.of(image, topic.id(), number));
            if (image.liveBroker(partition.leader()) == null) {
                described.setErrorCode(ErrorCode.LEADER_NOT_AVAILABLE.code()).setLeaderId(NO_LEADER);
            }
            partitions.add(described);
        }
        return new MetadataResponseTopic()
                .setName(topic.name())
                .setTopicId(topic.id())
                .setIsInternal(InternalTopics.contains(topic.name()))
                .setPartitions(partitions);
    }
}
