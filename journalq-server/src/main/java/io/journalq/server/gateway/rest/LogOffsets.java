package io.journalq.server.gateway.rest;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ListOffsetsRequest;
import io.journalq.common.protocol.message.ListOffsetsRequest.ListOffsetsPartition;
import io.journalq.common.protocol.message.ListOffsetsRequest.ListOffsetsTopic;
import io.journalq.common.protocol.message.ListOffsetsResponse;
import io.journalq.server.gateway.problem.ProtocolErrors;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Looks up offsets of several partitions with the ListOffsets handler. Stateless. */
final class LogOffsets {
    /** Instead of a timestamp: the end of the log. */
    static final long END = -1;

    /** Instead of a timestamp: the start of the log. */
    static final long START = -2;

    private static final int VERSION = 8;

    private LogOffsets() {}

    /**
     * Finds the first offset at or after a timestamp.
     *
     * @param timestamp in ms since 1970, or {@link #START} or {@link #END}
     * @param next receives the offsets of the partitions that have one and that this broker leads
     */
    static void find(
            RestRequest request,
            Collection<TopicPartition> partitions,
            long timestamp,
            Consumer<Map<TopicPartition, Long>> next) {
        find(request, partitions, timestamp, false, next);
    }

    /**
     * The same for a change, which is refused if a leader does not respond, so that no partition is left out. A topic
     * that does not exist is left out.
     */
    static void findToChange(
            RestRequest request,
            Collection<TopicPartition> partitions,
            long timestamp,
            Consumer<Map<TopicPartition, Long>> next) {
        find(request, partitions, timestamp, true, next);
    }

    private static void find(
            RestRequest request,
            Collection<TopicPartition> partitions,
            long timestamp,
            boolean changes,
            Consumer<Map<TopicPartition, Long>> next) {
        if (partitions.isEmpty()) {
            next.accept(Map.of());
            return;
        }
        Map<String, List<ListOffsetsPartition>> byTopic = new LinkedHashMap<>();
        for (TopicPartition partition : partitions) {
            byTopic.computeIfAbsent(partition.topic(), topic -> new ArrayList<>())
                    .add(new ListOffsetsPartition()
                            .setPartitionIndex(partition.partition())
                            .setTimestamp(timestamp));
        }
        ListOffsetsRequest message = new ListOffsetsRequest()
                .setTopics(byTopic.entrySet().stream()
                        .map(topic ->
                                new ListOffsetsTopic().setName(topic.getKey()).setPartitions(topic.getValue()))
                        .toList());
        request.call(ApiKey.LIST_OFFSETS, VERSION, message, ListOffsetsResponse.class, response -> {
            Map<TopicPartition, Long> found = new HashMap<>();
            response.topics().forEach(topic -> topic.partitions().forEach(partition -> {
                if (changes && partition.errorCode() != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.code()) {
                    ProtocolErrors.check(
                            partition.errorCode(),
                            null,
                            "partition " + partition.partitionIndex() + " of topic " + topic.name());
                }
                if (partition.errorCode() == 0 && partition.offset() >= 0) {
                    found.put(new TopicPartition(topic.name(), partition.partitionIndex()), partition.offset());
                }
            }));
            next.accept(found);
        });
    }

    /** Finds the start and the end of partitions. */
    static void findBounds(
            RestRequest request, Collection<TopicPartition> partitions, Consumer<Map<TopicPartition, Bounds>> next) {
        findBounds(request, partitions, false, next);
    }

    /** The same for a change: see {@link #findToChange}. */
    static void findBoundsToChange(
            RestRequest request, Collection<TopicPartition> partitions, Consumer<Map<TopicPartition, Bounds>> next) {
        findBounds(request, partitions, true, next);
    }

    private static void findBounds(
            RestRequest request,
            Collection<TopicPartition> partitions,
            boolean changes,
            Consumer<Map<TopicPartition, Bounds>> next) {
        find(
                request,
                partitions,
                START,
                changes,
                starts -> find(request, partitions, END, changes, ends -> {
                    Map<TopicPartition, Bounds> bounds = new HashMap<>();
                    ends.forEach((partition, end) -> {
                        Long start = starts.get(partition);
                        if (start != null) {
                            bounds.put(partition, new Bounds(start, end));
                        }
                    });
                    next.accept(bounds);
                }));
    }

    /**
     * The bounds of a log.
     *
     * @param start its first offset
     * @param end the offset behind its last record
     */
    record Bounds(long start, long end) {}
}
