package io.journalq.server.gateway.consume;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FindCoordinatorRequest;
import io.journalq.common.protocol.message.OffsetCommitRequest;
import io.journalq.common.protocol.message.OffsetCommitResponse;
import io.journalq.common.protocol.message.OffsetFetchRequest;
import io.journalq.common.protocol.message.OffsetFetchResponse;
import io.journalq.server.gateway.http.Caller;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemType;
import io.journalq.server.gateway.problem.ProtocolErrors;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * The committed offsets of a consumer group, as a {@link GroupSeat} reads and writes them: as a member, or as a client that
 * never joins, which can read and commit while the group has no members. What cannot be done while the group changes or its
 * coordinator loads is tried again. On the loop of its caller.
 */
public final class SeatOffsets {
    private static final int FIND_VERSION = 4;
    private static final int OFFSET_VERSION = 9;

    /** Identifies topics by id, so that offsets of a deleted topic do not become those of one with its name. */
    private static final int COMMIT_BY_ID_VERSION = 10;

    /** Epoch of a client that is not a member. */
    private static final int NO_MEMBER = -1;

    /** Time until something that cannot be done now is tried again. */
    private static final int RETRY_MS = 200;

    /** How often a commit or a read is tried. */
    private static final int ATTEMPTS = 50;

    private final Caller caller;
    private final GroupSeat seat;

    /** Commits without a result. The first one is tried. */
    private final Queue<Commit> commits = new ArrayDeque<>();

    /** By topic: what waits until its offsets are committed. */
    private final Map<String, Runnable> onCommitted = new HashMap<>();

    private boolean closed;

    /** Offsets to commit. */
    private static final class Commit {
        private final Map<TopicPartition, Committed> offsets;

        /** Whether the client was a member when it committed them. It can become one before they are sent. */
        private final boolean asMember;

        /** Those of the topics of the offsets; null for a topic that does not exist. */
        private final Map<String, Uuid> topicIds;

        private final Consumer<Problem> done;

        /**
         * Whether the member does not have a partition, or did not have it for a while. Another member may then have
         * committed a later offset.
         */
        private boolean revoked;

        Commit(
                Map<TopicPartition, Committed> offsets,
                boolean asMember,
                Map<String, Uuid> topicIds,
                Consumer<Problem> done) {
            this.offsets = offsets;
            this.asMember = asMember;
            this.topicIds = topicIds;
            this.done = done;
        }

        /** An id for each topic, or none: an earlier version of the request has names. */
        boolean isById() {
            return asMember || !topicIds.containsValue(null);
        }
    }

    /**
     * A committed offset.
     *
     * @param offset of the next record
     * @param metadata text that the client has committed with it
     */
    public record Committed(long offset, String metadata) {}

    SeatOffsets(Caller caller, GroupSeat seat) {
        this.caller = caller;
        this.seat = seat;
    }

    /** The first request for a coordinator creates the topic of committed offsets. */
    void findCoordinator(Runnable next) {
        FindCoordinatorRequest find = new FindCoordinatorRequest().setCoordinatorKeys(List.of(seat.group()));
        caller.call(ApiKey.FIND_COORDINATOR, FIND_VERSION, find, 0, found -> next.run());
    }

    /** Asks once for the offsets of partitions that the member takes over. */
    void fetchAsMember(Map<String, Set<Integer>> partitions, Consumer<ApiMessage> onResponse) {
        fetch(partitions, seat.memberId(), seat.epoch(), onResponse);
    }

    private void fetch(
            Map<String, Set<Integer>> partitions, String member, int memberEpoch, Consumer<ApiMessage> onResponse) {
        OffsetFetchRequest request = new OffsetFetchRequest()
                .setRequireStable(true)
                .setGroups(List.of(new OffsetFetchRequest.OffsetFetchRequestGroup()
                        .setGroupId(seat.group())
                        .setMemberId(member)
                        .setMemberEpoch(memberEpoch)
                        .setTopics(partitions.entrySet().stream()
                                .map(topic -> new OffsetFetchRequest.OffsetFetchRequestTopics()
                                        .setName(topic.getKey())
                                        .setPartitionIndexes(List.copyOf(topic.getValue())))
                                .toList())));
        caller.call(ApiKey.OFFSET_FETCH, OFFSET_VERSION, request, 0, onResponse);
    }

    /**
     * Reads committed offsets of any partitions.
     *
     * @param next receives those that exist, or null and the problem
     */
    public void read(Map<String, Set<Integer>> partitions, BiConsumer<Map<TopicPartition, Committed>, Problem> next) {
        if (partitions.isEmpty()) {
            next.accept(Map.of(), null);
            return;
        }
        read(partitions, ATTEMPTS, next);
    }

    private void read(
            Map<String, Set<Integer>> partitions,
            int attempts,
            BiConsumer<Map<TopicPartition, Committed>, Problem> next) {
        findCoordinator(() -> fetch(partitions, null, NO_MEMBER, message -> {
            Map<TopicPartition, Committed> found = new LinkedHashMap<>();
            ErrorCode error = read(message, found);
            if (isTemporary(error) && attempts > 1) {
                caller.schedule(() -> read(partitions, attempts - 1, next), RETRY_MS);
            } else if (error == ErrorCode.NONE) {
                next.accept(found, null);
            } else {
                next.accept(null, problem(error));
            }
        }));
    }

    private static ErrorCode read(ApiMessage message, Map<TopicPartition, Committed> found) {
        if (!(message instanceof OffsetFetchResponse response)) {
            return ErrorCode.UNKNOWN_SERVER_ERROR;
        }
        OffsetFetchResponse.OffsetFetchResponseGroup offsets = response.groups().get(0);
        ErrorCode error = ErrorCode.of(offsets.errorCode());
        for (OffsetFetchResponse.OffsetFetchResponseTopics topic : offsets.topics()) {
            for (OffsetFetchResponse.OffsetFetchResponsePartitions partition : topic.partitions()) {
                if (partition.errorCode() != ErrorCode.NONE.code()) {
                    error = ErrorCode.of(partition.errorCode());
                } else if (partition.committedOffset() >= 0) {
                    found.put(
                            new TopicPartition(topic.name(), partition.partitionIndex()),
                            new Committed(partition.committedOffset(), partition.metadata()));
                }
            }
        }
        return error;
    }

    /** As {@link #commit(Map, Consumer)}, for one topic and without metadata. */
    public void commit(String topic, Map<Integer, Long> offsets, Consumer<Problem> done) {
        Map<TopicPartition, Committed> all = new LinkedHashMap<>();
        offsets.forEach(
                (partition, offset) -> all.put(new TopicPartition(topic, partition), new Committed(offset, "")));
        commit(all, done);
    }

    /**
     * Commits offsets of partitions that the member has, or of any partitions if the client is not a member. Commits follow
     * each other in their order.
     *
     * @param offsets the next offset of each partition; at least one
     * @param done receives null, or why they are not committed. After the seat is closed, it is called only by {@link
     *     GroupSeat#close(Problem)}
     */
    public void commit(Map<TopicPartition, Committed> offsets, Consumer<Problem> done) {
        boolean asMember = seat.isMember();
        boolean ownsAll = true;
        Map<String, Uuid> topicIds = new HashMap<>();
        for (TopicPartition partition : offsets.keySet()) {
            String topic = partition.topic();
            ownsAll &= seat.owns(topic, partition.partition());
            topicIds.put(topic, asMember ? seat.topicId(topic) : seat.currentTopicId(topic));
        }
        Commit commit = new Commit(offsets, asMember, topicIds, done);
        commit.revoked = asMember && !ownsAll;
        commits.add(commit);
        if (commits.size() == 1) {
            commitFirst(ATTEMPTS);
        }
    }

    /**
     * Runs {@code work} when all commits with offsets of a topic have their results: now, or later. Not after
     * {@link GroupSeat#close}.
     */
    public void whenCommitted(String topic, Runnable work) {
        onCommitted.put(topic, work);
        runIfCommitted(topic);
    }

    private void runIfCommitted(String topic) {
        if (commits.stream().noneMatch(commit -> commit.topicIds.containsKey(topic))) {
            Runnable work = onCommitted.remove(topic);
            if (work != null) {
                work.run();
            }
        }
    }

    /** Number of commits without a result. */
    public int openCommits() {
        return commits.size();
    }

    /** Whether a commit without a result was made before the client became a member. */
    boolean commitsAsNoMember() {
        return commits.stream().anyMatch(commit -> !commit.asMember);
    }

    /** The member has these partitions no longer: their offsets are not sent again, even if it gets them back. */
    void revoke(String topic, Set<Integer> partitions) {
        for (Commit commit : commits) {
            commit.revoked |= commit.asMember
                    && partitions.stream()
                            .anyMatch(partition -> commit.offsets.containsKey(new TopicPartition(topic, partition)));
        }
    }

    /** Commits nothing any more, and calls nothing for open commits, except for {@link #failCommits}. */
    void close() {
        closed = true;
    }

    /** Ends open commits, after {@link #close}. */
    void failCommits(Problem problem) {
        while (!commits.isEmpty()) {
            commits.remove().done.accept(problem);
        }
    }

    private void commitFirst(int attempts) {
        if (closed) {
            return;
        }
        if (!commits.element().asMember) {
            findCoordinator(() -> sendFirst(attempts));
        } else if (!commits.element().revoked) {
            sendFirst(attempts);
        } else {
            finishFirst(new Problem(
                    ProblemType.CONFLICT,
                    "a partition was revoked before its offset was committed",
                    "nothing is lost: the member that has it now receives the records again"));
        }
    }

    private void sendFirst(int attempts) {
        if (closed) {
            return;
        }
        Commit first = commits.element();
        Map<String, List<OffsetCommitRequest.OffsetCommitRequestPartition>> byTopic = new LinkedHashMap<>();
        first.offsets.forEach(
                (partition, committed) -> byTopic.computeIfAbsent(partition.topic(), topic -> new ArrayList<>())
                        .add(new OffsetCommitRequest.OffsetCommitRequestPartition()
                                .setPartitionIndex(partition.partition())
                                .setCommittedOffset(committed.offset())
                                .setCommittedMetadata(committed.metadata())));
        OffsetCommitRequest request = new OffsetCommitRequest()
                .setGroupId(seat.group())
                .setMemberId(first.asMember ? seat.memberId() : "")
                .setGenerationIdOrMemberEpoch(first.asMember ? seat.epoch() : NO_MEMBER)
                .setTopics(byTopic.entrySet().stream()
                        .map(topic -> new OffsetCommitRequest.OffsetCommitRequestTopic()
                                .setName(topic.getKey())
                                .setTopicId(first.isById() ? first.topicIds.get(topic.getKey()) : Uuid.ZERO)
                                .setPartitions(topic.getValue()))
                        .toList());
        int version = first.isById() ? COMMIT_BY_ID_VERSION : OFFSET_VERSION;
        caller.call(ApiKey.OFFSET_COMMIT, version, request, 0, response -> {
            if (!closed) {
                onCommit(firstError(response), attempts);
            }
        });
    }

    private static boolean isTemporary(ErrorCode error) {
        return switch (error) {
            case STALE_MEMBER_EPOCH,
                    UNSTABLE_OFFSET_COMMIT,
                    COORDINATOR_LOAD_IN_PROGRESS,
                    COORDINATOR_NOT_AVAILABLE,
                    NOT_COORDINATOR,
                    REQUEST_TIMED_OUT -> true;
            default -> false;
        };
    }

    private void onCommit(ErrorCode error, int attempts) {
        if (isTemporary(error) && attempts > 1) {
            caller.schedule(() -> commitFirst(attempts - 1), RETRY_MS);
        } else {
            finishFirst(error == ErrorCode.NONE ? null : problem(error));
        }
    }

    private void finishFirst(Problem problem) {
        Commit finished = commits.remove();
        boolean more = !commits.isEmpty();
        finished.done.accept(problem); // which can commit again
        if (closed) {
            return;
        }
        if (more) {
            caller.later(() -> commitFirst(ATTEMPTS));
        }
        finished.topicIds.keySet().forEach(this::runIfCommitted);
    }

    private Problem problem(ErrorCode error) {
        return ProtocolErrors.problem(error, null, "group " + seat.group());
    }

    private static ErrorCode firstError(ApiMessage message) {
        if (!(message instanceof OffsetCommitResponse response)) {
            return ErrorCode.UNKNOWN_SERVER_ERROR;
        }
        return response.topics().stream()
                .flatMap(topic -> topic.partitions().stream())
                .map(partition -> ErrorCode.of(partition.errorCode()))
                .filter(error -> error != ErrorCode.NONE)
                .findFirst()
                .orElse(ErrorCode.NONE);
    }
}
