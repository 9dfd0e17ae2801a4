package io.journalq.bench.driver;

import io.journalq.bench.BenchException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.LogDirDescription;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/**
 * Topics and offsets of a broker that serves the Kafka protocol. Uses the protocol's reference client, so that no broker is
 * checked by a client of its own project. Connects on first use. One thread.
 */
final class TopicAdmin implements AutoCloseable {
    private static final int REQUEST_TIMEOUT_MS = 30_000;
    /** A broker that has just been resumed refuses requests until it considers itself alive. */
    private static final int CREATE_ATTEMPTS = 20;

    private static final long CREATE_RETRY_MS = 500;
    /** A broker needs up to a minute for thousands of partitions. */
    private static final int LEADERS_ATTEMPTS = 240;
    /** Kafka's controller refuses a request that needs more than 10,000 records, at least one per partition. */
    private static final int MAX_PARTITIONS_PER_REQUEST = 5_000;

    private final String bootstrap;
    private final ConnectionSecurity security;
    private Admin admin;

    TopicAdmin(String bootstrap, ConnectionSecurity security) {
        this.bootstrap = bootstrap;
        this.security = security;
    }

    /** Whether the broker responds within {@code timeoutMs}. */
    boolean responds(int timeoutMs) {
        return liveBrokers(timeoutMs) > 0;
    }

    /** The number of brokers that the cluster has; 0 if the broker does not respond within {@code timeoutMs}. */
    int liveBrokers(int timeoutMs) {
        try (Admin probe = open(timeoutMs)) {
            return probe.describeCluster()
                    .nodes()
                    .get(timeoutMs, TimeUnit.MILLISECONDS)
                    .size();
        } catch (ExecutionException | TimeoutException e) {
            return 0;
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    /** Creates a topic unless it exists. Another process may create it at the same time. */
    void create(String topic, int partitions, Map<String, String> settings) {
        int created = Math.min(partitions, MAX_PARTITIONS_PER_REQUEST);
        if (!createAtOnce(topic, created, settings)) {
            awaitReplicas(topic, partitionCount(topic));
            return;
        }
        while (created < partitions) {
            created = Math.min(partitions, created + MAX_PARTITIONS_PER_REQUEST);
            await(
                    "create partitions of " + topic,
                    admin().createPartitions(Map.of(topic, NewPartitions.increaseTo(created)))
                            .all());
            awaitReplicas(topic, created);
        }
    }

    /** Returns false if the topic exists. */
    private boolean createAtOnce(String topic, int partitions, Map<String, String> settings) {
        for (int attempt = 1; ; attempt++) {
            try {
                NewTopic newTopic = new NewTopic(topic, Optional.of(partitions), Optional.empty()).configs(settings);
                admin().createTopics(List.of(newTopic)).all().get();
                awaitReplicas(topic, partitions);
                return true;
            } catch (ExecutionException e) {
                if (e.getCause() instanceof TopicExistsException) {
                    return false;
                }
                if (attempt == CREATE_ATTEMPTS) {
                    throw failed("create topic " + topic, e);
                }
            } catch (InterruptedException e) {
                throw interrupted(e);
            }
            sleep();
        }
    }

    /** Waits until every partition has a leader and all replicas are in sync. */
    private void awaitReplicas(String topic, int partitions) {
        for (int attempt = 0; attempt < LEADERS_ATTEMPTS; attempt++) {
            try {
                var description = admin().describeTopics(List.of(topic))
                        .allTopicNames()
                        .get()
                        .get(topic);
                if (description.partitions().size() == partitions
                        && description.partitions().stream().allMatch(TopicAdmin::isComplete)) {
                    return;
                }
            } catch (ExecutionException e) {
                if (!(e.getCause() instanceof UnknownTopicOrPartitionException)) {
                    throw failed("describe topic " + topic, e);
                }
            } catch (InterruptedException e) {
                throw interrupted(e);
            }
            sleep();
        }
        throw new BenchException(
                "topic " + topic + " has partitions without a leader or without replicas in sync",
                "check the broker's log");
    }

    private static boolean isComplete(TopicPartitionInfo partition) {
        return partition.leader() != null
                && partition.isr().size() == partition.replicas().size();
    }

    /** Whether every partition has a leader, and all its replicas are in sync. */
    boolean isInSync(String topic) {
        return await(
                        "describe topic " + topic,
                        admin().describeTopics(List.of(topic)).allTopicNames())
                .get(topic)
                .partitions()
                .stream()
                .allMatch(TopicAdmin::isComplete);
    }

    int partitionCount(String topic) {
        return await(
                        "describe topic " + topic,
                        admin().describeTopics(List.of(topic)).allTopicNames())
                .get(topic)
                .partitions()
                .size();
    }

    void delete(String topic) {
        await("delete topic " + topic, admin().deleteTopics(List.of(topic)).all());
    }

    Set<String> list() {
        return await("list topics", admin().listTopics().names());
    }

    List<Long> offsets(String topic, int partitions, OffsetSpec spec) {
        Map<TopicPartition, OffsetSpec> request = new HashMap<>();
        for (int partition = 0; partition < partitions; partition++) {
            request.put(new TopicPartition(topic, partition), spec);
        }
        Map<TopicPartition, ListOffsetsResultInfo> response =
                await("list offsets of " + topic, admin().listOffsets(request).all());
        List<Long> offsets = new ArrayList<>(partitions);
        for (int partition = 0; partition < partitions; partition++) {
            offsets.add(response.get(new TopicPartition(topic, partition)).offset());
        }
        return offsets;
    }

    long storedBytes(String topic) {
        Collection<Integer> brokers = await(
                        "list brokers", admin().describeCluster().nodes())
                .stream()
                .map(node -> node.id())
                .toList();
        Map<Integer, Map<String, LogDirDescription>> directories = await(
                "describe log directories", admin().describeLogDirs(brokers).allDescriptions());
        return directories.values().stream()
                .flatMap(byDirectory -> byDirectory.values().stream())
                .flatMap(directory -> directory.replicaInfos().entrySet().stream())
                .filter(replica -> replica.getKey().topic().equals(topic))
                .mapToLong(replica -> replica.getValue().size())
                .sum();
    }

    private Admin admin() {
        if (admin == null) {
            admin = open(REQUEST_TIMEOUT_MS);
        }
        return admin;
    }

    private Admin open(int timeoutMs) {
        try {
            Map<String, Object> settings = new HashMap<>(security.kafkaSettings());
            settings.put(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap);
            settings.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, timeoutMs);
            settings.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, timeoutMs);
            return Admin.create(settings);
        } catch (org.apache.kafka.common.KafkaException e) {
            throw new BenchException("cannot connect to " + bootstrap, "give --bootstrap as host:port", e);
        }
    }

    private <T> T await(String what, KafkaFuture<T> future) {
        try {
            return future.get();
        } catch (ExecutionException e) {
            throw failed(what, e);
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    private BenchException failed(String what, ExecutionException e) {
        return new BenchException("broker " + bootstrap + " did not " + what, "check that it runs, and its log", e);
    }

    private static BenchException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return new BenchException("interrupted", "run the benchmark again", e);
    }

    private static void sleep() {
        try {
            Thread.sleep(CREATE_RETRY_MS);
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    @Override
    public void close() {
        if (admin != null) {
            admin.close();
            admin = null;
        }
    }
}
