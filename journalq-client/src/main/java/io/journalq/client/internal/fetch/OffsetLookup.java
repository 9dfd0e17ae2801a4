package io.journalq.client.internal.fetch;

import io.journalq.client.admin.ListedOffset;
import io.journalq.client.admin.OffsetSpec;
import io.journalq.client.error.ConnectionFailedException;
import io.journalq.client.error.JournalQException;
import io.journalq.client.error.UnsupportedByBrokerException;
import io.journalq.client.internal.network.BlockingCalls;
import io.journalq.client.internal.network.Cluster;
import io.journalq.client.internal.network.ClusterView;
import io.journalq.client.internal.network.Errors;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ListOffsetsRequest;
import io.journalq.common.protocol.message.ListOffsetsResponse;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Looks up offsets by time or by special timestamps of the protocol. Retriable errors are retried, at the new leader if
 * the leader has changed. Any thread except the event loop.
 */
public final class OffsetLookup {
    private static final int NEWEST_VERSION = 8;
    private static final long MAX_TIMESTAMP = -3L;
    private static final long EARLIEST_LOCAL = -4L;
    private static final short FIRST_VERSION_WITH_ISOLATION = 2;
    private static final short FIRST_VERSION_WITH_MAX_TIMESTAMP = 7;
    private static final short FIRST_VERSION_WITH_EARLIEST_LOCAL = 8;

    private final Cluster cluster;
    private final BlockingCalls calls;
    private final byte isolationLevel;

    /** Creates a lookup that considers all records, regardless of transactions. */
    public OffsetLookup(Cluster cluster, BlockingCalls calls) {
        this(cluster, calls, (byte) 0);
    }

    /**
     * Creates a lookup.
     *
     * @param isolationLevel the isolation level of the requests; with 1 the latest offset is the last stable offset
     */
    OffsetLookup(Cluster cluster, BlockingCalls calls, byte isolationLevel) {
        this.cluster = cluster;
        this.calls = calls;
        this.isolationLevel = isolationLevel;
    }

    /** Looks up the offset that {@code spec} selects in each partition, or the end if it selects none. */
    Map<TopicPartition, Long> positions(Collection<TopicPartition> partitions, OffsetSpec spec) {
        Map<TopicPartition, ListedOffset> found = offsets(partitions, spec);
        List<TopicPartition> missing = new ArrayList<>(partitions);
        missing.removeIf(partition -> found.get(partition).found());
        found.putAll(offsets(missing, OffsetSpec.latest()));
        // A record that was appended after the first lookup must not be skipped.
        offsets(missing, spec).forEach((partition, offset) -> {
            if (offset.found()) {
                found.put(partition, offset);
            }
        });
        Map<TopicPartition, Long> positions = new LinkedHashMap<>();
        found.forEach((partition, offset) -> positions.put(partition, offset.offset()));
        return positions;
    }

    /** Looks up one offset of each partition, see {@link #offsets(Map)}. */
    public Map<TopicPartition, ListedOffset> offsets(Collection<TopicPartition> partitions, OffsetSpec spec) {
        Map<TopicPartition, Long> timestampsMs = new LinkedHashMap<>();
        partitions.forEach(partition -> timestampsMs.put(partition, spec.timestampMs()));
        return offsets(timestampsMs);
    }

    /**
     * Looks up offsets.
     *
     * @param timestampsMs by partition: milliseconds since 1970 UTC, or a special timestamp
     * @return a result for each partition, in the same order
     */
    public Map<TopicPartition, ListedOffset> offsets(Map<TopicPartition, Long> timestampsMs) {
        Map<TopicPartition, ListedOffset> found = new HashMap<>();
        Map<TopicPartition, Long> missing = new LinkedHashMap<>(timestampsMs);
        BlockingCalls.Deadline deadline = calls.deadline();
        while (true) {
            JournalQException failure = null;
            for (Map.Entry<Integer, Map<TopicPartition, Long>> leader :
                    byLeader(missing).entrySet()) {
                try {
                    ask(leader.getKey(), leader.getValue(), found);
                } catch (JournalQException e) {
                    failure = decisive(failure, e);
                }
            }
            missing.keySet().removeAll(found.keySet());
            if (missing.isEmpty()) {
                Map<TopicPartition, ListedOffset> ordered = new LinkedHashMap<>();
                timestampsMs.keySet().forEach(partition -> ordered.put(partition, found.get(partition)));
                return ordered;
            }
            if (failure == null) {
                failure = new ConnectionFailedException(
                        "there is currently no leader for " + missing.keySet() + "; try again");
            }
            update(missing.keySet());
            deadline.pauseOrThrow(failure);
        }
    }

    /** Names the topics: metadata of those that are not read now are not kept up to date. */
    private void update(Set<TopicPartition> partitions) {
        Set<String> topics = new LinkedHashSet<>();
        partitions.forEach(partition -> topics.add(partition.topic()));
        for (String topic : topics) {
            var unused = cluster.metadata().update(topic);
        }
    }

    private Map<Integer, Map<TopicPartition, Long>> byLeader(Map<TopicPartition, Long> timestampsMs) {
        Map<Integer, Map<TopicPartition, Long>> leaders = new HashMap<>();
        timestampsMs.forEach((partition, timestampMs) -> {
            ClusterView.Topic topic = cluster.metadata()
                    .awaitPartition(partition, cluster.config().callTimeoutMs());
            int leader = topic.leaders()[partition.partition()];
            if (leader >= 0) {
                leaders.computeIfAbsent(leader, id -> new LinkedHashMap<>()).put(partition, timestampMs);
            }
        });
        return leaders;
    }

    private void ask(int leader, Map<TopicPartition, Long> timestampsMs, Map<TopicPartition, ListedOffset> found) {
        ListOffsetsResponse response = calls.call(
                leader,
                ApiKey.LIST_OFFSETS,
                NEWEST_VERSION,
                ListOffsetsResponse.class,
                version -> request(timestampsMs, version));
        JournalQException failure = null;
        for (ListOffsetsResponse.ListOffsetsTopicResponse topic : response.topics()) {
            for (ListOffsetsResponse.ListOffsetsPartitionResponse partition : topic.partitions()) {
                TopicPartition id = new TopicPartition(topic.name(), partition.partitionIndex());
                ErrorCode error = ErrorCode.of(partition.errorCode());
                if (error == ErrorCode.NONE) {
                    found.put(id, new ListedOffset(partition.offset(), partition.timestamp(), partition.leaderEpoch()));
                } else {
                    failure = decisive(failure, Errors.of(error, "lookup of an offset of " + id, null));
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    /** Returns the failure that another attempt does not change, the first one if both are alike. */
    private static JournalQException decisive(JournalQException known, JournalQException next) {
        return known == null || (known.retriable() && !next.retriable()) ? next : known;
    }

    private ListOffsetsRequest request(Map<TopicPartition, Long> timestampsMs, short version) {
        Map<String, ListOffsetsRequest.ListOffsetsTopic> topics = new LinkedHashMap<>();
        timestampsMs.forEach((partition, timestampMs) -> {
            requireServed(timestampMs, version);
            topics.computeIfAbsent(partition.topic(), OffsetLookup::topic)
                    .partitions()
                    .add(new ListOffsetsRequest.ListOffsetsPartition()
                            .setPartitionIndex(partition.partition())
                            .setTimestamp(timestampMs));
        });
        List<ListOffsetsRequest.ListOffsetsTopic> all = new ArrayList<>(topics.values());
        ListOffsetsRequest request = new ListOffsetsRequest().setReplicaId(-1).setTopics(all);
        return version < FIRST_VERSION_WITH_ISOLATION ? request : request.setIsolationLevel(isolationLevel);
    }

    private static ListOffsetsRequest.ListOffsetsTopic topic(String name) {
        return new ListOffsetsRequest.ListOffsetsTopic().setName(name).setPartitions(new ArrayList<>());
    }

    private static void requireServed(long timestampMs, short version) {
        if ((timestampMs == MAX_TIMESTAMP && version < FIRST_VERSION_WITH_MAX_TIMESTAMP)
                || (timestampMs == EARLIEST_LOCAL && version < FIRST_VERSION_WITH_EARLIEST_LOCAL)) {
            throw new UnsupportedByBrokerException(
                    "the broker does not support this kind of lookup; use a newer broker, or look up the earliest or"
                            + " latest offset");
        }
    }
}
