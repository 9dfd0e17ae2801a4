package io.journalq.server.gateway.consume;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatResponse;
import io.journalq.common.protocol.message.OffsetCommitRequest;
import io.journalq.common.protocol.message.OffsetCommitResponse;
import io.journalq.common.protocol.message.OffsetFetchRequest;
import io.journalq.common.protocol.message.OffsetFetchResponse;
import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemType;
import io.journalq.server.gateway.problem.ProtocolErrors;
import io.journalq.server.loop.Loop;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A connection as a member of a consumer group of the consumer protocol: it sends heartbeats, gives partitions up and
 * takes them over, and commits what the client has acknowledged. The group's coordinator must be on this broker. The
 * member leaves when its connection ends. On the connection's loop.
 *
 * <p>Source: KIP-848.
 */
public final class GroupSeat {
    private static final int HEARTBEAT_VERSION = 1;
    private static final int OFFSET_VERSION = 9;
    private static final int JOIN = 0;
    private static final int LEAVE = -1;

    /** A member gives partitions up as soon as it is told to. */
    private static final int REBALANCE_TIMEOUT_MS = 30_000;

    /** Time until something that cannot be done now is tried again. */
    private static final int RETRY_MS = 200;

    /** How often a commit is tried while the group changes or its coordinator loads. */
    private static final int COMMIT_ATTEMPTS = 50;

    private final HttpExchange exchange;
    private final Supplier<MetadataImage> images;
    private final String group;
    private final Reader reader;
    private final String memberId = UUID.randomUUID().toString();
    private final Set<String> topics = new TreeSet<>();

    /** Partitions that the member has, and those that it should have. */
    private final Map<String, Set<Integer>> owned = new TreeMap<>();

    private final Map<String, Set<Integer>> target = new TreeMap<>();

    /** Commits without a result. The first one is tried. */
    private final Queue<Commit> commits = new ArrayDeque<>();

    private int epoch = JOIN;
    private int intervalMs = RETRY_MS;
    private boolean heartbeats;
    private boolean fetchesOffsets;
    private boolean topicsChanged;
    private boolean ownedChanged;
    private boolean ended;

    /** For the next heartbeat; null if none is planned. */
    private Loop.Timer timer;

    private record Commit(String topic, Map<Integer, Long> offsets, Consumer<Problem> done) {}

    /** What reads for the member. */
    public interface Reader {
        /** The group has accepted the member, which wants these topics. */
        void onJoined(Collection<String> wanted);

        /**
         * The member has more partitions of a topic.
         *
         * @param committed the committed offset of each; -1 if there is none
         */
        void onAssigned(String topic, Map<Integer, Long> committed);

        /** The member has these partitions no longer. */
        void onRevoked(String topic, Set<Integer> partitions);

        /** The member is in the group no longer, and has no partitions. */
        void onEnd(Problem problem);
    }

    /**
     * A seat that nobody has taken yet.
     *
     * @param images supplies the newest image
     */
    public GroupSeat(HttpExchange exchange, Supplier<MetadataImage> images, String group, Reader reader) {
        this.exchange = exchange;
        this.images = images;
        this.group = group;
        this.reader = reader;
    }

    /** Id of the group. */
    public String group() {
        return group;
    }

    /** Whether the member has a partition. */
    public boolean owns(String topic, int partition) {
        return owned.getOrDefault(topic, Set.of()).contains(partition);
    }

    /** Wants partitions of one more topic. Takes the seat if it is the first. */
    public void add(String topic) {
        topics.add(topic);
        topicsChanged = true;
        beatIn(0);
    }

    /** Wants no partitions of a topic any more. Leaves if it was the last. Nothing is called for it. */
    public void remove(String topic) {
        topics.remove(topic);
        owned.remove(topic);
        target.remove(topic);
        topicsChanged = true;
        ownedChanged = true;
        if (topics.isEmpty()) {
            close();
        } else {
            beatIn(0);
        }
    }

    /** Leaves the group. Nothing is called any more. */
    public void close() {
        if (ended) {
            return;
        }
        ended = true;
        if (timer != null) {
            timer.cancel();
        }
        if (epoch != JOIN && !heartbeats) {
            leave();
        }
    }

    private void leave() {
        exchange.call(ApiKey.CONSUMER_GROUP_HEARTBEAT, HEARTBEAT_VERSION, request(LEAVE), 0, left -> {});
    }

    private ConsumerGroupHeartbeatRequest request(int memberEpoch) {
        return new ConsumerGroupHeartbeatRequest()
                .setGroupId(group)
                .setMemberId(memberId)
                .setMemberEpoch(memberEpoch);
    }

    private void beatIn(long delayMs) {
        if (ended) {
            return;
        }
        if (timer != null) {
            timer.cancel();
        }
        timer = exchange.schedule(this::beat, delayMs);
    }

    private void beat() {
        timer = null;
        if (ended || heartbeats) {
            return; // the response plans the next one
        }
        ConsumerGroupHeartbeatRequest request = request(epoch);
        boolean joins = epoch == JOIN;
        if (joins || topicsChanged) {
            request.setSubscribedTopicNames(List.copyOf(topics)).setRebalanceTimeoutMs(REBALANCE_TIMEOUT_MS);
        }
        if (joins || ownedChanged) {
            request.setTopicPartitions(ownedById());
        }
        topicsChanged = false;
        ownedChanged = false;
        heartbeats = true;
        List<String> wanted = List.copyOf(topics);
        exchange.call(ApiKey.CONSUMER_GROUP_HEARTBEAT, HEARTBEAT_VERSION, request, 0, response -> {
            heartbeats = false;
            onResponse(response, wanted);
        });
    }

    private List<ConsumerGroupHeartbeatRequest.TopicPartitions> ownedById() {
        List<ConsumerGroupHeartbeatRequest.TopicPartitions> all = new ArrayList<>();
        owned.forEach((name, partitions) -> {
            TopicImage topic = images.get().topic(name);
            if (topic != null && !partitions.isEmpty()) {
                all.add(new ConsumerGroupHeartbeatRequest.TopicPartitions()
                        .setTopicId(topic.id())
                        .setPartitions(List.copyOf(partitions)));
            }
        });
        return all;
    }

    private void onResponse(ApiMessage message, List<String> wanted) {
        if (!(message instanceof ConsumerGroupHeartbeatResponse response)) {
            end(ProtocolErrors.problem(ErrorCode.UNKNOWN_SERVER_ERROR, null, "group " + group));
            return;
        }
        ErrorCode error = ErrorCode.of(response.errorCode());
        if (error == ErrorCode.NONE) {
            epoch = response.memberEpoch();
            intervalMs = response.heartbeatIntervalMs();
            if (ended) {
                leave();
                return;
            }
            reader.onJoined(wanted);
            if (response.assignment() != null) {
                setTarget(response.assignment());
            }
            reconcile();
            if (timer == null) {
                beatIn(topicsChanged || ownedChanged ? 0 : intervalMs);
            }
        } else if (!ended) {
            onError(error, response.errorMessage());
        }
    }

    private void onError(ErrorCode error, String message) {
        // The request has not arrived: the next one says everything again.
        topicsChanged = true;
        ownedChanged = true;
        switch (error) {
            case UNKNOWN_MEMBER_ID, FENCED_MEMBER_EPOCH -> {
                epoch = JOIN;
                target.clear();
                giveUp();
                beatIn(RETRY_MS);
            }
            case COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, REQUEST_TIMED_OUT -> beatIn(RETRY_MS);
            default -> end(ProtocolErrors.problem(error, message, "group " + group));
        }
    }

    private void end(Problem problem) {
        if (!ended) {
            close();
            owned.clear();
            reader.onEnd(problem);
        }
    }

    private void setTarget(ConsumerGroupHeartbeatResponse.Assignment assignment) {
        target.clear();
        for (ConsumerGroupHeartbeatResponse.TopicPartitions partitions : assignment.topicPartitions()) {
            TopicImage topic = images.get().topic(partitions.topicId());
            if (topic != null && topics.contains(topic.name())) {
                target.put(topic.name(), new TreeSet<>(partitions.partitions()));
            }
        }
    }

    /** Gives partitions up, and asks for the offsets of those that it does not have yet. */
    private void reconcile() {
        giveUp();
        Map<String, Set<Integer>> missing = new TreeMap<>();
        target.forEach((topic, partitions) -> {
            Set<Integer> more = new TreeSet<>(partitions);
            more.removeAll(owned.getOrDefault(topic, Set.of()));
            if (!more.isEmpty()) {
                missing.put(topic, more);
            }
        });
        if (!missing.isEmpty() && !fetchesOffsets) {
            fetchOffsets(missing);
        }
    }

    private void giveUp() {
        for (String topic : List.copyOf(owned.keySet())) {
            Set<Integer> lost = new TreeSet<>(owned.getOrDefault(topic, Set.of()));
            lost.removeAll(target.getOrDefault(topic, Set.of()));
            if (!lost.isEmpty()) {
                owned.get(topic).removeAll(lost);
                ownedChanged = true;
                reader.onRevoked(topic, lost);
            }
        }
    }

    private void fetchOffsets(Map<String, Set<Integer>> missing) {
        fetchesOffsets = true;
        OffsetFetchRequest request = new OffsetFetchRequest()
                .setRequireStable(true)
                .setGroups(List.of(new OffsetFetchRequest.OffsetFetchRequestGroup()
                        .setGroupId(group)
                        .setMemberId(memberId)
                        .setMemberEpoch(epoch)
                        .setTopics(missing.entrySet().stream()
                                .map(topic -> new OffsetFetchRequest.OffsetFetchRequestTopics()
                                        .setName(topic.getKey())
                                        .setPartitionIndexes(List.copyOf(topic.getValue())))
                                .toList())));
        exchange.call(ApiKey.OFFSET_FETCH, OFFSET_VERSION, request, 0, response -> {
            fetchesOffsets = false;
            if (!ended) {
                onOffsets(response);
            }
        });
    }

    private void onOffsets(ApiMessage message) {
        OffsetFetchResponse.OffsetFetchResponseGroup found = message instanceof OffsetFetchResponse response
                ? response.groups().get(0)
                : null;
        if (found == null || found.errorCode() != ErrorCode.NONE.code()) {
            beatIn(RETRY_MS); // which asks again
            return;
        }
        boolean unstable = false;
        for (OffsetFetchResponse.OffsetFetchResponseTopics topic : found.topics()) {
            Map<Integer, Long> committed = new TreeMap<>();
            for (OffsetFetchResponse.OffsetFetchResponsePartitions partition : topic.partitions()) {
                boolean known = partition.errorCode() == ErrorCode.NONE.code();
                boolean wanted = target.getOrDefault(topic.name(), Set.of()).contains(partition.partitionIndex());
                unstable |= !known;
                if (known && wanted) {
                    committed.put(partition.partitionIndex(), partition.committedOffset());
                }
            }
            if (!committed.isEmpty() && !ended) {
                owned.computeIfAbsent(topic.name(), name -> new TreeSet<>()).addAll(committed.keySet());
                ownedChanged = true;
                reader.onAssigned(topic.name(), committed);
            }
        }
        beatIn(unstable ? RETRY_MS : 0);
    }

    /**
     * Commits offsets of partitions that the member has. Commits follow each other in their order.
     *
     * @param offsets the next offset of each partition
     * @param done receives null, or why they are not committed. Not called after the end
     */
    public void commit(String topic, Map<Integer, Long> offsets, Consumer<Problem> done) {
        commits.add(new Commit(topic, offsets, done));
        if (commits.size() == 1) {
            commitFirst(COMMIT_ATTEMPTS);
        }
    }

    /** Number of commits without a result. */
    public int openCommits() {
        return commits.size();
    }

    private void commitFirst(int attempts) {
        if (ended) {
            return;
        }
        Commit commit = commits.element();
        if (!commit.offsets.keySet().stream().allMatch(partition -> owns(commit.topic, partition))) {
            finishFirst(new Problem(
                    ProblemType.CONFLICT,
                    "a partition was revoked before its offset was committed",
                    "nothing is lost: the member that has it now receives the records again"));
            return;
        }
        OffsetCommitRequest request = new OffsetCommitRequest()
                .setGroupId(group)
                .setMemberId(memberId)
                .setGenerationIdOrMemberEpoch(epoch)
                .setTopics(List.of(new OffsetCommitRequest.OffsetCommitRequestTopic()
                        .setName(commit.topic)
                        .setPartitions(commit.offsets.entrySet().stream()
                                .map(offset -> new OffsetCommitRequest.OffsetCommitRequestPartition()
                                        .setPartitionIndex(offset.getKey())
                                        .setCommittedOffset(offset.getValue())
                                        .setCommittedMetadata(""))
                                .toList())));
        exchange.call(ApiKey.OFFSET_COMMIT, OFFSET_VERSION, request, 0, response -> {
            if (!ended) {
                onCommit(firstError(response), attempts);
            }
        });
    }

    private void onCommit(ErrorCode error, int attempts) {
        boolean temporary =
                switch (error) {
                    case STALE_MEMBER_EPOCH,
                            COORDINATOR_LOAD_IN_PROGRESS,
                            COORDINATOR_NOT_AVAILABLE,
                            REQUEST_TIMED_OUT -> true;
                    default -> false;
                };
        if (temporary && attempts > 1) {
            exchange.schedule(() -> commitFirst(attempts - 1), RETRY_MS);
        } else {
            finishFirst(error == ErrorCode.NONE ? null : ProtocolErrors.problem(error, null, "group " + group));
        }
    }

    private void finishFirst(Problem problem) {
        commits.remove().done.accept(problem);
        if (!commits.isEmpty() && !ended) {
            exchange.later(() -> commitFirst(COMMIT_ATTEMPTS));
        }
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
