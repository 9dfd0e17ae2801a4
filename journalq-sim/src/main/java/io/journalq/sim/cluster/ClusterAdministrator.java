package io.journalq.sim.cluster;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.AlterPartitionReassignmentsRequest;
import io.journalq.common.protocol.message.CreateTopicsRequest;
import io.journalq.common.protocol.message.CreateTopicsResponse;
import io.journalq.common.protocol.message.ElectLeadersRequest;
import io.journalq.server.shard.append.DeliveryMode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/**
 * Creates topics, one at a time, and repeats a request until it knows its outcome. Moves replicated partitions to other
 * brokers now and then, changes their number of replicas with that, and cancels some of these moves.
 */
final class ClusterAdministrator {
    private static final int CREATE_VERSION = 7;
    private static final int TIMEOUT_MS = 60_000;
    private static final int LONGEST_PAUSE_MS = 300;
    private static final int RETRY_PAUSE_MS = 80;
    private static final int MOST_PARTITIONS = 4;
    /** See {@code ClusterScenario}. */
    private static final int INTERNAL_PARTITIONS = 2;

    private static final int REPLICAS = 3;
    private static final int MIN_IN_SYNC = 2;
    private static final int REASSIGN_VERSION = 1;
    private static final int MOST_REPLICAS = 4;
    private static final int LONGEST_TIME_BETWEEN_MOVES_MS = 800;
    private static final int CANCEL_ODDS = 4;
    private static final int ELECT_ODDS = 3;
    private static final int ELECT_VERSION = 2;
    private static final List<DeliveryMode> MODES = List.of(DeliveryMode.EVENTUAL, DeliveryMode.CONSISTENT);
    private static final List<DeliveryMode> REPLICATED_MODES = List.of(DeliveryMode.values());

    private final ClusterClient client;
    private final ClusterListener listener;
    private final Consumer<ClusterPartition> onPartition;
    private final boolean replicates;
    private final int leastReplicas;
    private final List<ClusterPartition> movable = new ArrayList<>();
    private int topicsLeft;
    private int lastNumber;
    private boolean moves = true;
    private boolean elects;

    /** A topic that is being created. */
    private record TopicPlan(String name, int partitions, DeliveryMode mode, boolean replicated) {}

    /**
     * Prepares an administrator.
     *
     * @param onPartition called for each partition of a topic that exists
     */
    ClusterAdministrator(
            ClusterClient client,
            ClusterListener listener,
            ClusterClients.Plan plan,
            Consumer<ClusterPartition> onPartition) {
        this.client = client;
        this.listener = listener;
        this.topicsLeft = plan.topics();
        this.replicates = plan.replicates();
        this.leastReplicas = plan.leastReplicas();
        this.onPartition = onPartition;
    }

    /** Moves partitions of internal topics as well, and leadership alone. */
    void moveAlso(String... topics) {
        elects = true;
        for (String topic : topics) {
            for (int i = 0; i < INTERNAL_PARTITIONS; i++) {
                movable.add(new ClusterPartition(topic, i, DeliveryMode.CONSISTENT, true, true));
            }
        }
    }

    /** Creates no more topics, and moves no more partitions. */
    void stop() {
        topicsLeft = 0;
        stopMoving();
    }

    /** Moves no more partitions. */
    void stopMoving() {
        moves = false;
    }

    void start() {
        createNext();
        moveLater();
    }

    private void moveLater() {
        client.later(LONGEST_TIME_BETWEEN_MOVES_MS, () -> {
            if (moves) {
                if (client.controller() != ClusterClient.UNKNOWN && !movable.isEmpty()) {
                    ClusterPartition partition = movable.get(client.random().nextInt(movable.size()));
                    if (elects && client.random().nextInt(ELECT_ODDS) == 0) {
                        elect(partition);
                    } else {
                        move(partition);
                    }
                }
                moveLater();
            }
        });
    }

    /** Lets the preferred leader lead. */
    private void elect(ClusterPartition partition) {
        client.send(
                client.controller(),
                ApiKey.ELECT_LEADERS,
                ELECT_VERSION,
                new ElectLeadersRequest()
                        .setTimeoutMs(TIMEOUT_MS)
                        .setTopicPartitions(List.of(new ElectLeadersRequest.TopicPartitions()
                                .setTopic(partition.topic())
                                .setPartitions(List.of(partition.partition())))),
                message -> {},
                message -> client.refresh(() -> {}));
    }

    private void move(ClusterPartition partition) {
        List<Integer> target = client.random().nextInt(CANCEL_ODDS) == 0 ? null : anyBrokers();
        client.send(
                client.controller(),
                ApiKey.ALTER_PARTITION_REASSIGNMENTS,
                REASSIGN_VERSION,
                new AlterPartitionReassignmentsRequest()
                        .setTimeoutMs(TIMEOUT_MS)
                        .setTopics(List.of(new AlterPartitionReassignmentsRequest.ReassignableTopic()
                                .setName(partition.topic())
                                .setPartitions(List.of(new AlterPartitionReassignmentsRequest.ReassignablePartition()
                                        .setPartitionIndex(partition.partition())
                                        .setReplicas(target))))),
                message -> {},
                message -> client.refresh(() -> {}));
    }

    private List<Integer> anyBrokers() {
        List<Integer> brokers = new ArrayList<>(client.brokers());
        Collections.shuffle(brokers, client.random());
        int most = Math.min(MOST_REPLICAS, brokers.size());
        int least = Math.min(leastReplicas, most);
        return brokers.subList(0, least + client.random().nextInt(most - least + 1));
    }

    private void createNext() {
        client.later(LONGEST_PAUSE_MS, () -> {
            if (topicsLeft-- > 0) {
                create("topic" + ++lastNumber, 1 + client.random().nextInt(MOST_PARTITIONS));
            }
        });
    }

    private void create(String name, int partitions) {
        boolean replicated = replicates && client.random().nextInt(4) > 0;
        DeliveryMode mode =
                (replicated ? REPLICATED_MODES : MODES).get(client.random().nextInt(replicated ? 3 : 2));
        List<CreateTopicsRequest.CreatableTopicConfig> configs = new ArrayList<>();
        configs.add(new CreateTopicsRequest.CreatableTopicConfig()
                .setName("delivery.mode")
                .setValue(mode.name().toLowerCase(Locale.ROOT)));
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
        attempt(new TopicPlan(name, partitions, mode, replicated), request);
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
                            boolean byAll =
                                    !plan.replicated() || client.random().nextBoolean();
                            ClusterPartition partition =
                                    new ClusterPartition(plan.name(), i, plan.mode(), plan.replicated(), byAll);
                            onPartition.accept(partition);
                            if (plan.replicated()) {
                                movable.add(partition);
                            }
                        }
                        createNext();
                    } else {
                        again(plan, request);
                    }
                });
    }

    private void again(TopicPlan plan, CreateTopicsRequest request) {
        client.refresh(() -> client.later(RETRY_PAUSE_MS, () -> attempt(plan, request)));
    }
}
