package io.journalq.sim.cluster;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.CreateTopicsRequest;
import io.journalq.common.protocol.message.CreateTopicsResponse;
import java.util.List;
import java.util.function.Consumer;

/** Creates topics, one at a time, and repeats a request until it knows its outcome. */
final class ClusterAdministrator {
    private static final int CREATE_VERSION = 7;
    private static final int TIMEOUT_MS = 60_000;
    private static final int LONGEST_PAUSE_MS = 300;
    private static final int RETRY_PAUSE_MS = 80;
    private static final int MOST_PARTITIONS = 4;

    private final ClusterClient client;
    private final ClusterListener listener;
    private final Consumer<ClusterPartition> onPartition;
    private int topicsLeft;
    private int lastNumber;

    /**
     * Prepares an administrator.
     *
     * @param onPartition called for each partition of a topic that exists
     */
    ClusterAdministrator(
            ClusterClient client, ClusterListener listener, int topics, Consumer<ClusterPartition> onPartition) {
        this.client = client;
        this.listener = listener;
        this.topicsLeft = topics;
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
        boolean consistent = client.random().nextBoolean();
        CreateTopicsRequest.CreatableTopicConfig mode = new CreateTopicsRequest.CreatableTopicConfig()
                .setName("delivery.mode")
                .setValue(consistent ? "consistent" : "eventual");
        CreateTopicsRequest request = new CreateTopicsRequest()
                .setTimeoutMs(TIMEOUT_MS)
                .setTopics(List.of(new CreateTopicsRequest.CreatableTopic()
                        .setName(name)
                        .setNumPartitions(partitions)
                        .setReplicationFactor((short) 1)
                        .setConfigs(List.of(mode))));
        attempt(name, partitions, consistent, request);
    }

    private void attempt(String name, int partitions, boolean consistent, CreateTopicsRequest request) {
        int target = client.controller();
        if (target == ClusterClient.UNKNOWN) {
            again(name, partitions, consistent, request);
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
                        listener.onTopic(name, response.topics().get(0).topicId());
                    }
                },
                message -> {
                    ErrorCode error = message instanceof CreateTopicsResponse response
                            ? ErrorCode.of(response.topics().get(0).errorCode())
                            : ErrorCode.NETWORK_EXCEPTION;
                    if (error == ErrorCode.NONE || error == ErrorCode.TOPIC_ALREADY_EXISTS) {
                        for (int i = 0; i < partitions; i++) {
                            onPartition.accept(new ClusterPartition(name, i, consistent));
                        }
                        start();
                    } else {
                        again(name, partitions, consistent, request);
                    }
                });
    }

    private void again(String name, int partitions, boolean consistent, CreateTopicsRequest request) {
        client.refresh(() -> client.later(RETRY_PAUSE_MS, () -> attempt(name, partitions, consistent, request)));
    }
}
