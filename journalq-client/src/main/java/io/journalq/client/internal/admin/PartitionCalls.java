package io.journalq.client.internal.admin;

import io.journalq.client.admin.ElectionType;
import io.journalq.client.admin.PartitionReassignment;
import io.journalq.client.error.JournalQException;
import io.journalq.client.internal.network.BlockingCalls;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.AlterPartitionReassignmentsRequest;
import io.journalq.common.protocol.message.AlterPartitionReassignmentsRequest.ReassignablePartition;
import io.journalq.common.protocol.message.AlterPartitionReassignmentsRequest.ReassignableTopic;
import io.journalq.common.protocol.message.AlterPartitionReassignmentsResponse;
import io.journalq.common.protocol.message.ElectLeadersRequest;
import io.journalq.common.protocol.message.ElectLeadersResponse;
import io.journalq.common.protocol.message.ListPartitionReassignmentsRequest;
import io.journalq.common.protocol.message.ListPartitionReassignmentsResponse;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Requests about the replicas and leaders of partitions. Thread-safe. */
public final class PartitionCalls {
    private static final int ALTER_NEWEST = 1;
    private static final int LIST_NEWEST = 0;
    private static final int ELECT_NEWEST = 2;
    private static final byte PREFERRED = 0;
    private static final byte UNCLEAN = 1;

    private final BlockingCalls calls;
    private final int timeoutMs;

    public PartitionCalls(BlockingCalls calls, int timeoutMs) {
        this.calls = calls;
        this.timeoutMs = timeoutMs;
    }

    public Map<TopicPartition, PartitionReassignment> listReassignments() {
        ListPartitionReassignmentsResponse response = calls.retrying(() -> {
            ListPartitionReassignmentsResponse tried = calls.call(
                    BlockingCalls.ANY_BROKER,
                    ApiKey.LIST_PARTITION_REASSIGNMENTS,
                    LIST_NEWEST,
                    ListPartitionReassignmentsResponse.class,
                    version -> new ListPartitionReassignmentsRequest()
                            .setTimeoutMs(timeoutMs)
                            .setTopics(null));
            checkWhole(tried.errorCode(), tried.errorMessage(), "the reassignments");
            return tried;
        });
        Map<TopicPartition, PartitionReassignment> moving = new LinkedHashMap<>();
        for (ListPartitionReassignmentsResponse.OngoingTopicReassignment topic : response.topics()) {
            for (ListPartitionReassignmentsResponse.OngoingPartitionReassignment partition : topic.partitions()) {
                moving.put(
                        new TopicPartition(topic.name(), partition.partitionIndex()),
                        new PartitionReassignment(
                                partition.replicas(), partition.addingReplicas(), partition.removingReplicas()));
            }
        }
        return moving;
    }

    private static void checkWhole(short code, String message, String subject) {
        Failures.throwIfNotController(code);
        Failures failures = new Failures();
        failures.add(code, subject, message);
        failures.throwFirst();
    }

    /**
     * Begins reassignments.
     *
     * @param targets an empty list cancels a reassignment
     */
    public void reassign(Map<TopicPartition, List<Integer>> targets) {
        Map<String, List<ReassignablePartition>> byTopic = new LinkedHashMap<>();
        targets.forEach((partition, target) -> byTopic.computeIfAbsent(partition.topic(), none -> new ArrayList<>())
                .add(new ReassignablePartition()
                        .setPartitionIndex(partition.partition())
                        .setReplicas(target.isEmpty() ? null : target)));
        List<ReassignableTopic> topics = new ArrayList<>();
        byTopic.forEach((topic, partitions) ->
                topics.add(new ReassignableTopic().setName(topic).setPartitions(partitions)));
        AlterPartitionReassignmentsResponse response = calls.retrying(() -> {
            AlterPartitionReassignmentsResponse tried = calls.call(
                    BlockingCalls.ANY_BROKER,
                    ApiKey.ALTER_PARTITION_REASSIGNMENTS,
                    ALTER_NEWEST,
                    AlterPartitionReassignmentsResponse.class,
                    version -> new AlterPartitionReassignmentsRequest()
                            .setTimeoutMs(timeoutMs)
                            .setTopics(topics));
            checkWhole(tried.errorCode(), tried.errorMessage(), "the reassignment");
            return tried;
        });
        Failures failures = new Failures();
        response.responses().forEach(topic -> topic.partitions()
                .forEach(partition -> failures.add(
                        partition.errorCode(),
                        "partition " + topic.name() + "-" + partition.partitionIndex(),
                        partition.errorMessage())));
        report(failures);
    }

    private void report(Failures failures) {
        JournalQException first = failures.first();
        if (first != null) {
            calls.reportIfRefused(first);
            throw first;
        }
    }

    public Set<TopicPartition> elect(ElectionType type, Collection<TopicPartition> partitions) {
        Map<String, List<Integer>> byTopic = new LinkedHashMap<>();
        partitions.forEach(partition -> byTopic.computeIfAbsent(partition.topic(), none -> new ArrayList<>())
                .add(partition.partition()));
        List<ElectLeadersRequest.TopicPartitions> topics = new ArrayList<>();
        byTopic.forEach((topic, numbers) -> topics.add(
                new ElectLeadersRequest.TopicPartitions().setTopic(topic).setPartitions(numbers)));
        ElectLeadersResponse response = calls.retrying(() -> {
            ElectLeadersResponse tried = calls.call(
                    BlockingCalls.ANY_BROKER,
                    ApiKey.ELECT_LEADERS,
                    ELECT_NEWEST,
                    ElectLeadersResponse.class,
                    version -> new ElectLeadersRequest()
                            .setTimeoutMs(timeoutMs)
                            .setElectionType(type == ElectionType.UNCLEAN ? UNCLEAN : PREFERRED)
                            .setTopicPartitions(topics));
            checkWhole(tried.errorCode(), null, "the election");
            return tried;
        });
        Set<TopicPartition> elected = new LinkedHashSet<>();
        Failures failures = new Failures();
        for (ElectLeadersResponse.ReplicaElectionResult topic : response.replicaElectionResults()) {
            for (ElectLeadersResponse.PartitionResult result : topic.partitionResult()) {
                TopicPartition partition = new TopicPartition(topic.topic(), result.partitionId());
                if (result.errorCode() == ErrorCode.NONE.code()) {
                    elected.add(partition);
                } else if (result.errorCode() != ErrorCode.ELECTION_NOT_NEEDED.code()) {
                    failures.add(result.errorCode(), "partition " + partition, result.errorMessage());
                }
            }
        }
        report(failures);
        return elected;
    }
}
