package io.journalq.server.gateway.rest;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FindCoordinatorRequest;
import io.journalq.common.protocol.message.FindCoordinatorResponse;
import io.journalq.common.protocol.message.OffsetCommitRequest;
import io.journalq.common.protocol.message.OffsetCommitRequest.OffsetCommitRequestPartition;
import io.journalq.common.protocol.message.OffsetCommitRequest.OffsetCommitRequestTopic;
import io.journalq.common.protocol.message.OffsetCommitResponse;
import io.journalq.server.gateway.http.JsonObject;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemType;
import io.journalq.server.gateway.problem.ProtocolErrors;
import io.journalq.server.security.Right;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/**
 * {@code POST /v1/groups/{group}/offsets}: changes the committed offsets of a group without members, or shows what would
 * change. The rules are those of {@code journalq groups reset-offsets}: a new offset outside of a partition is replaced by
 * its start or its end. Immutable.
 */
final class OffsetReset {
    private static final int MAX_PARTITIONS = 10_000;
    private static final byte GROUP_KEY = 0;

    /** How often offsets are committed while the coordinator loads. */
    private static final int COMMIT_ATTEMPTS = 20;

    private static final int COMMIT_PAUSE_MS = 100;
    private static final List<String> MEMBERS =
            RestRequest.orExecute("topic", "partitions", "to", "offset", "timestamp", "shift");

    private final GroupRoutes groups;

    OffsetReset(GroupRoutes groups) {
        this.groups = groups;
    }

    /** Where the offsets go. */
    private enum To {
        START,
        END,
        OFFSET,
        TIMESTAMP,
        SHIFT
    }

    /**
     * A checked request.
     *
     * @param topic null for all partitions with a committed offset
     * @param partitions of the topic; empty for all
     * @param value the offset, the timestamp in ms, or the number of offsets to shift by
     */
    private record Wish(String group, String topic, List<Long> partitions, To to, long value) {}

    /** @param committed {@code -1} if the group has no offset */
    private record Move(TopicPartition partition, long committed, long offset) {}

    void run(RestRequest request) {
        Wish wish = wish(request);
        GroupDescriptions.find(request, List.of(wish.group()), found -> {
            // Without its coordinator, the group seems to have no offsets, which would be left out.
            groups.checkCoordinator(found.errors().get(wish.group()), wish.group());
            GroupDescriptions.Described group = found.groups().get(wish.group());
            if (group != null && !group.members().isEmpty()) {
                throw new Problem(
                                ProblemType.CONFLICT,
                                "group " + wish.group() + " has "
                                        + group.members().size()
                                        + " members, which would continue at their own positions",
                                "stop its consumers, then try again")
                        .exception();
            }
            GroupPositions.find(request, null, List.of(wish.group()), positions -> {
                Map<TopicPartition, Long> committed = new LinkedHashMap<>();
                groups.positions(positions, wish.group())
                        .forEach(row -> committed.put(row.partition(), row.committed()));
                choose(request, wish, committed, chosen -> target(request, wish, committed, chosen));
            });
        });
    }

    private static Wish wish(RestRequest request) {
        JsonObject body = request.body();
        body.checkMembers(MEMBERS);
        To to =
                switch (body.required("to")) {
                    case "start" -> To.START;
                    case "end" -> To.END;
                    case "offset" -> To.OFFSET;
                    case "timestamp" -> To.TIMESTAMP;
                    case "shift" -> To.SHIFT;
                    default ->
                        throw JsonObject.invalid("\"to\" is not known", "use start, end, offset, timestamp or shift");
                };
        String member = to.name().toLowerCase(Locale.ROOT);
        boolean needsValue = to != To.START && to != To.END;
        Long value = needsValue ? body.number(member) : Long.valueOf(0);
        if (value == null || (value < 0 && to != To.SHIFT)) {
            throw JsonObject.invalid("\"" + member + "\" is missing or negative", RestRoute.REMEDY);
        }
        List<Long> partitions = body.list("partitions", Long.class);
        if (!partitions.isEmpty() && body.text("topic") == null) {
            throw JsonObject.invalid("\"partitions\" needs a \"topic\"", RestRoute.REMEDY);
        }
        return new Wish(request.path("group"), body.text("topic"), partitions, to, value);
    }

    private static void choose(
            RestRequest request, Wish wish, Map<TopicPartition, Long> committed, Consumer<List<TopicPartition>> next) {
        if (wish.topic() == null) {
            if (committed.isEmpty()) {
                throw new Problem(
                                ProblemType.CONFLICT,
                                "group " + wish.group() + " has no committed offsets",
                                "name a \"topic\"")
                        .exception();
            }
            next.accept(List.copyOf(committed.keySet()));
            return;
        }
        TopicRoutes.topic(request, wish.topic(), topic -> {
            int count = topic.partitions().size();
            List<TopicPartition> chosen = new ArrayList<>();
            if (wish.partitions().isEmpty()) {
                for (int partition = 0; partition < count; partition++) {
                    chosen.add(new TopicPartition(wish.topic(), partition));
                }
            }
            for (long partition : wish.partitions()) {
                if (partition < 0 || partition >= count) {
                    throw new Problem(
                                    ProblemType.UNKNOWN_PARTITION,
                                    "the topic has no partition " + partition,
                                    "choose from 0 to " + (count - 1))
                            .exception();
                }
                chosen.add(new TopicPartition(wish.topic(), (int) partition));
            }
            next.accept(chosen);
        });
    }

    private static void target(
            RestRequest request, Wish wish, Map<TopicPartition, Long> committed, List<TopicPartition> chosen) {
        if (chosen.size() > MAX_PARTITIONS) {
            throw JsonObject.invalid("it selects more than " + MAX_PARTITIONS + " partitions", RestRoute.REMEDY);
        }
        if (wish.to() == To.SHIFT && chosen.stream().noneMatch(committed::containsKey)) {
            throw new Problem(
                            ProblemType.CONFLICT,
                            "group " + wish.group() + " has no committed offsets in these partitions",
                            "to set its first ones, send \"to\" with start, end or offset")
                    .exception();
        }
        LogOffsets.findBoundsToChange(request, chosen, bounds -> {
            if (wish.to() == To.TIMESTAMP) {
                LogOffsets.findToChange(
                        request,
                        chosen,
                        wish.value(),
                        timed -> finish(request, wish, committed, chosen, bounds, timed));
            } else {
                finish(request, wish, committed, chosen, bounds, Map.of());
            }
        });
    }

    private static void finish(
            RestRequest request,
            Wish wish,
            Map<TopicPartition, Long> committed,
            List<TopicPartition> chosen,
            Map<TopicPartition, LogOffsets.Bounds> bounds,
            Map<TopicPartition, Long> timed) {
        List<Move> moves = new ArrayList<>();
        for (TopicPartition partition : chosen) {
            LogOffsets.Bounds log = bounds.get(partition);
            Long before = committed.get(partition);
            if (log == null || (wish.to() == To.SHIFT && before == null)) {
                continue;
            }
            long wanted =
                    switch (wish.to()) {
                        case START -> log.start();
                        case END -> log.end();
                        case OFFSET -> wish.value();
                        case TIMESTAMP -> timed.getOrDefault(partition, log.end());
                        case SHIFT -> shifted(before, wish.value());
                    };
            moves.add(new Move(
                    partition, before == null ? -1 : before, Math.max(log.start(), Math.min(wanted, log.end()))));
        }
        moves.sort(Comparator.comparing((Move move) -> move.partition().topic())
                .thenComparingInt(move -> move.partition().partition()));
        if (request.executes() && !moves.isEmpty()) {
            commit(request, wish.group(), moves);
        } else {
            respond(request, wish.group(), moves);
        }
    }

    /** @param from not negative, so that only a shift forwards can overflow: it ends behind all records */
    private static long shifted(long from, long shift) {
        long sum = from + shift;
        return shift > 0 && sum < 0 ? Long.MAX_VALUE : sum;
    }

    private static void commit(RestRequest request, String group, List<Move> moves) {
        Map<String, List<OffsetCommitRequestPartition>> byTopic = new HashMap<>();
        for (Move move : moves) {
            byTopic.computeIfAbsent(move.partition().topic(), topic -> new ArrayList<>())
                    .add(new OffsetCommitRequestPartition()
                            .setPartitionIndex(move.partition().partition())
                            .setCommittedOffset(move.offset())
                            .setCommittedMetadata(""));
        }
        // The coordinator would change the offsets of the other topics, under a response that says that it was refused.
        byTopic.keySet().forEach(topic -> request.exchange().checkRight(ApiKey.OFFSET_COMMIT, Right.READ_TOPIC, topic));
        OffsetCommitRequest message = new OffsetCommitRequest()
                .setGroupId(group)
                .setTopics(byTopic.entrySet().stream()
                        .map(topic -> new OffsetCommitRequestTopic()
                                .setName(topic.getKey())
                                .setPartitions(topic.getValue()))
                        .toList());
        // The first request for a coordinator creates the topic of committed offsets.
        FindCoordinatorRequest find =
                new FindCoordinatorRequest().setKeyType(GROUP_KEY).setCoordinatorKeys(List.of(group));
        request.call(
                ApiKey.FIND_COORDINATOR,
                4,
                find,
                FindCoordinatorResponse.class,
                found -> commit(request, message, moves, COMMIT_ATTEMPTS));
    }

    private static void commit(RestRequest request, OffsetCommitRequest message, List<Move> moves, int attempts) {
        request.call(ApiKey.OFFSET_COMMIT, 9, message, OffsetCommitResponse.class, response -> {
            short first = response.topics().get(0).partitions().get(0).errorCode();
            boolean loads = first == ErrorCode.COORDINATOR_NOT_AVAILABLE.code()
                    || first == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS.code();
            if (loads && attempts > 1) {
                request.exchange().schedule(() -> commit(request, message, moves, attempts - 1), COMMIT_PAUSE_MS);
                return;
            }
            response.topics().forEach(topic -> topic.partitions()
                    .forEach(partition -> ProtocolErrors.check(
                            partition.errorCode(),
                            null,
                            "group " + message.groupId() + ", partition " + partition.partitionIndex() + " of topic "
                                    + topic.name())));
            respond(request, message.groupId(), moves);
        });
    }

    private static void respond(RestRequest request, String group, List<Move> moves) {
        request.respond(json -> {
            json.writeStringField("group", group);
            json.writeBooleanField("executed", request.executes());
            json.writeArrayFieldStart("partitions");
            for (Move move : moves) {
                json.writeStartObject();
                json.writeStringField("topic", move.partition().topic());
                json.writeNumberField("partition", move.partition().partition());
                json.writeNumberField("committed", move.committed());
                json.writeNumberField("offset", move.offset());
                json.writeEndObject();
            }
            json.writeEndArray();
        });
    }
}
