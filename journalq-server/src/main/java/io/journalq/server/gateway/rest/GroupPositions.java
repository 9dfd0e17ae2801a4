package io.journalq.server.gateway.rest;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.OffsetFetchRequest;
import io.journalq.common.protocol.message.OffsetFetchRequest.OffsetFetchRequestGroup;
import io.journalq.common.protocol.message.OffsetFetchResponse;
import io.journalq.server.gateway.BrokerView;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/** The committed offsets of groups, and how far they are behind. Stateless. */
final class GroupPositions {
    private static final int OFFSET_FETCH_VERSION = 9;
    private static final long UNKNOWN = BrokerView.UNKNOWN;

    /** Maximum number of positions whose age is looked up for a request. Each may wait for the disk. */
    private static final int MAX_AGES = 2_000;

    private GroupPositions() {}

    /**
     * The position of a group in a partition.
     *
     * @param end the end of the partition; {@link BrokerView#UNKNOWN} if its leader does not respond
     * @param lagMs age of the first record that the group has not read, in ms; 0 if it has read all; {@link
     *     BrokerView#UNKNOWN} if it is not known
     */
    record Row(TopicPartition partition, long committed, long end, long lagMs, String metadata) {
        /** Number of offsets that the group has not read; {@link BrokerView#UNKNOWN} if it is not known. */
        long lag() {
            return end < 0 ? UNKNOWN : Math.max(0, end - committed);
        }
    }

    /** The lag of a group in all its partitions; {@link BrokerView#UNKNOWN} where a part is not known. */
    record Lag(int partitions, long records, long maxMs) {
        static Lag of(List<Row> rows) {
            long records = 0;
            long maxMs = 0;
            for (Row row : rows) {
                records = records < 0 || row.lag() < 0 ? UNKNOWN : records + row.lag();
                maxMs = maxMs < 0 || row.lagMs() < 0 ? UNKNOWN : Math.max(maxMs, row.lagMs());
            }
            return new Lag(rows.size(), records, maxMs);
        }
    }

    /**
     * What was found.
     *
     * @param groups the positions of each group whose coordinator responds and that the client may describe, by name
     * @param errors why those of others are not known, by name
     */
    record Found(Map<String, List<Row>> groups, Map<String, ErrorCode> errors) {}

    /**
     * Finds the positions of groups.
     *
     * @param broker knows the ages of records; null if they do not matter
     */
    static void find(RestRequest request, BrokerView broker, List<String> groups, Consumer<Found> next) {
        if (groups.isEmpty()) {
            next.accept(new Found(Map.of(), Map.of()));
            return;
        }
        OffsetFetchRequest message = new OffsetFetchRequest()
                .setGroups(groups.stream()
                        .map(group ->
                                new OffsetFetchRequestGroup().setGroupId(group).setTopics(null))
                        .toList());
        request.call(ApiKey.OFFSET_FETCH, OFFSET_FETCH_VERSION, message, OffsetFetchResponse.class, response -> {
            Map<String, List<Row>> committed = new LinkedHashMap<>();
            Map<String, ErrorCode> errors = new LinkedHashMap<>();
            Set<TopicPartition> partitions = new LinkedHashSet<>();
            for (OffsetFetchResponse.OffsetFetchResponseGroup group : response.groups()) {
                if (group.errorCode() == ErrorCode.NONE.code()) {
                    List<Row> rows = rows(group);
                    rows.forEach(row -> partitions.add(row.partition()));
                    committed.put(group.groupId(), rows);
                } else {
                    errors.put(group.groupId(), ErrorCode.of(group.errorCode()));
                }
            }
            LogOffsets.find(
                    request,
                    partitions,
                    LogOffsets.END,
                    ends -> addAges(
                            request,
                            broker,
                            withEnds(committed, ends),
                            positions -> next.accept(new Found(positions, errors))));
        });
    }

    private static List<Row> rows(OffsetFetchResponse.OffsetFetchResponseGroup group) {
        List<Row> rows = new ArrayList<>();
        group.topics().forEach(topic -> topic.partitions().forEach(partition -> {
            if (partition.errorCode() == ErrorCode.NONE.code() && partition.committedOffset() >= 0) {
                rows.add(new Row(
                        new TopicPartition(topic.name(), partition.partitionIndex()),
                        partition.committedOffset(),
                        UNKNOWN,
                        0,
                        partition.metadata()));
            }
        }));
        return rows;
    }

    private static Map<String, List<Row>> withEnds(Map<String, List<Row>> committed, Map<TopicPartition, Long> ends) {
        Map<String, List<Row>> positions = new LinkedHashMap<>();
        committed.forEach((group, rows) -> positions.put(
                group,
                rows.stream()
                        .map(row -> new Row(
                                row.partition(),
                                row.committed(),
                                ends.getOrDefault(row.partition(), UNKNOWN),
                                row.lagMs(),
                                row.metadata()))
                        .toList()));
        return positions;
    }

    private static void addAges(
            RestRequest request,
            BrokerView broker,
            Map<String, List<Row>> positions,
            Consumer<Map<String, List<Row>>> next) {
        List<BrokerView.Position> behind = new ArrayList<>();
        positions
                .values()
                .forEach(rows -> rows.forEach(row -> {
                    if (row.lag() > 0 && behind.size() < MAX_AGES) {
                        behind.add(new BrokerView.Position(
                                row.partition().topic(), row.partition().partition(), row.committed()));
                    }
                }));
        if (broker == null || behind.isEmpty()) {
            next.accept(positions);
            return;
        }
        request.await(broker.ages(behind), ages -> {
            int used = 0;
            Map<String, List<Row>> aged = new LinkedHashMap<>();
            for (Map.Entry<String, List<Row>> group : positions.entrySet()) {
                List<Row> rows = new ArrayList<>();
                for (Row row : group.getValue()) {
                    long lagMs = row.lag() < 0 ? UNKNOWN : 0;
                    if (row.lag() > 0) {
                        lagMs = used < ages.size() ? ages.get(used) : UNKNOWN;
                        used++;
                    }
                    rows.add(new Row(row.partition(), row.committed(), row.end(), lagMs, row.metadata()));
                }
                aged.put(group.getKey(), rows);
            }
            next.accept(aged);
        });
    }
}
