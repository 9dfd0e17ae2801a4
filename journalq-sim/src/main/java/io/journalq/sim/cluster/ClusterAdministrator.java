package io.journalq.sim.cluster;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.CreateTopicsRequest;
import io.journalq.common.protocol.message.CreateTopicsResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Creates topics, one at a time, and repeats a request until it knows its outcome. */
final class ClusterAdministrator {
    private static final int CREATE_VERSION = 7;
    private static final int TIMEOUT_MS = 60_000;
    private static final int LONGEST_PAUSE_MS = 300;
    private static final int RETRY_PAUSE_MS = 80;
    private static final int MOST_PARTITIONS = 4;
    private static final int REPLICAS = 3;
    private static final int MIN_IN_SYNC = 2;

    private final ClusterClient client;
    private final ClusterListener listener;
    private final Consumer<ClusterPartition> onPartition;
    private final boolean replicates;
    private int topicsLeft;
    private int lastNumber;

    /** A topic that is being created. */
    private record TopicPlan(String name, int partitions, boolean consistent, boolean replicated) {}

    /**
     * Prepares an administrator.
     *
     * @param replicates whether most topics have several replicas
     * @param onPartition called for each partition of a topic that exists
     */
    ClusterAdministrator(
            ClusterClient client,
            ClusterListener listener,
            int topics,
            boolean replicates,
            Consumer<ClusterPartition> onPartition) {
        this.client = client;
        this.listener = listener;
        this.topicsLeft = topics;
        this.replicates = replicates;
        this.onPartition = onPartition;
    }

    /** Creates no more topics. */
    void stop() {
        topicsLeft = 0;
    }

    void start() {
        client.later(LONGEST_PAUSE_MS, () -> {
            if (topicsLeft-- > 0) {
                create("topic" + ++lastNumber, 1 + client.random().nextInt(MOST_PARTITIONS));
            }
        });
    }

    private void create(String name, int partitions) {
        boolean replicated = replicates && client.random().nextInt(4) > 0;
        boolean consistent = !replicated && client.random().nextBoolean();
        List<CreateTopicsRequest.CreatableTopicConfig> configs = new ArrayList<>();
        configs.add(new CreateTopicsRequest.CreatableTopicConfig()
                .setName("delivery.mode")
                .setValue(consistent ? "consistent" : "eventual"));
        if (replicated) {
            configs.add(new CreateTopicsRequest.CreatableTopicConfig()
                    .setName("min.insync.replicas")
                    .setValue(Integer.toString(MIN_IN_SYNC)));
        }
        CreateTopicsRequest request = new CreateTopicsRequest()
                .setTimeoutMs(TIMEOUT_MS)
                .setTopics(List.of(new CreateTopicsRequest.CreatableTopic()
                        .setName(name)
                        .setNumPartitions(partitions)
                        .setReplicationFactor((short) (replicated ? REPLICAS : 1))
                        .setConfigs(configs)));
        attempt(new TopicPlan(name, partitions, consistent, replicated), request);
    }

    private void attempt(TopicPlan plan, CreateTopicsRequest request) {
        int target = client.controller();
        if (target == ClusterClient.UNKNOWN) {
            again(plan, request);
            return;
        }
        client.send(
                target,
                ApiKey.CREATE_TOPICS,
                CREATE_VERSION,
                request,
                message -> {
                    if (message instanceof CreateTopicsResponse response
                            && response.topics().get(0).errorCode() == 0) {
                        listener.onTopic(plan.name(), response.topics().get(0).topicId());
                    }
                },
                message -> {
                    ErrorCode error = message instanceof CreateTopicsResponse response
                            ? ErrorCode.of(response.topics().get(0).errorCode())
                            : ErrorCode.NETWORK_EXCEPTION;
                    if (error == ErrorCode.NONE || error == ErrorCode.TOPIC_ALREADY_EXISTS) {
                        for (int i = 0; i < plan.partitions(); i++) {
                            onPartition.accept(
                                    new ClusterPartition(plan.name(), i, plan.consistent(), plan.replicated()));
                        }
                        start();
                    } else {
                        again(plan, request);
                    }
                });
    }

    private void again(TopicPlan plan, CreateTopicsRequest request) {
        client.refresh(() -> client.later(RETRY_PAUSE_MS, () -> attempt(plan, request)));
    }
}
