package io.journalq.server.gateway.consume;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatResponse;
import io.journalq.common.protocol.message.OffsetFetchResponse;
import io.journalq.server.gateway.http.Caller;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProtocolErrors;
import io.journalq.server.loop.Loop;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Supplier;

/**
 * A client of HTTP as a member of a consumer group of the consumer protocol: it sends heartbeats, gives partitions up and
 * takes them over. The group's coordinator can be on any broker. The member leaves when it is closed. A client that never
 * joins can use the {@link #offsets} of the group. On the loop of its caller.
 *
 * <p>Source: KIP-848.
 */
public final class GroupSeat {
    private static final int HEARTBEAT_VERSION = 1;
    private static final int JOIN = 0;
    private static final int LEAVE = -1;

    /** A member gives partitions up as soon as it is told to. */
    private static final int REBALANCE_TIMEOUT_MS = 30_000;

    /** Time until something that cannot be done now is tried again. */
    private static final int RETRY_MS = 200;

    private final Caller caller;
    private final Supplier<MetadataImage> images;
    private final String group;
    private final Reader reader;
    private final SeatOffsets offsets;
    private final String memberId = UUID.randomUUID().toString();
    private final Set<String> topics = new TreeSet<>();

    /** Partitions that the member has, and those that it should have. */
    private final Map<String, Set<Integer>> owned = new TreeMap<>();

    private final Map<String, Set<Integer>> target = new TreeMap<>();

    /** The ids of topics that the member has or should have. One that is created again has another id. */
    private final Map<String, Uuid> topicIds = new TreeMap<>();

    /**
     * Partitions whose committed offsets are being fetched, and which the member should have had all the time since. If
     * another member had one in between, it may have committed a later offset.
     */
    private final Map<String, Set<Integer>> fetched = new TreeMap<>();

    /** Topics whose offsets are being committed, before their partitions are given up. */
    private final Set<String> givingUp = new TreeSet<>();

    /** The pattern of topics; null if there never was one. */
    private String pattern;

    private int epoch = JOIN;
    private int intervalMs = RETRY_MS;
    private boolean heartbeats;
    private boolean fetchesOffsets;
    private boolean topicsChanged;
    private boolean ownedChanged;

    /** Whether partitions of topics are assigned that this broker has not heard of yet. */
    private boolean awaitsTopics;

    private boolean ended;
    private Runnable onLeft = () -> {};

    /** For the next heartbeat; null if none is planned. */
    private Loop.Timer timer;

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

        /**
         * The member has to give partitions up. Returns the offsets to commit before it does. Each is returned once.
         */
        default Map<Integer, Long> takeUncommitted(String topic, Set<Integer> partitions) {
            return Map.of();
        }

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
    public GroupSeat(Caller caller, Supplier<MetadataImage> images, String group, Reader reader) {
        this.caller = caller;
        this.images = images;
        this.group = group;
        this.reader = reader;
        this.offsets = new SeatOffsets(caller, this);
    }

    /** Id of the group. */
    public String group() {
        return group;
    }

    /** The committed offsets of the group. */
    public SeatOffsets offsets() {
        return offsets;
    }

    /** Whether the client is a member, or becomes one. */
    boolean isMember() {
        return hasPattern() || !topics.isEmpty();
    }

    String memberId() {
        return memberId;
    }

    int epoch() {
        return epoch;
    }

    /** Whether the member has a partition. */
    public boolean owns(String topic, int partition) {
        return owned.getOrDefault(topic, Set.of()).contains(partition);
    }

    /** Id of the topic of partitions that the member has. */
    Uuid topicId(String topic) {
        return topicIds.get(topic);
    }

    /** Id of the topic that has a name now; null if there is none. */
    Uuid currentTopicId(String topic) {
        TopicImage image = images.get().topic(topic);
        return image == null ? null : image.id();
    }

    /** Wants partitions of one more topic. Takes the seat if it is the first. */
    public void add(String topic) {
        topics.add(topic);
        topicsChanged = true;
        beatIn(0);
    }

    /**
     * Wants partitions of these topics, instead of those before. Takes the seat if it is the first call.
     *
     * @param matching a regular expression of RE2; the member wants the topics whose whole names match, too. Null for none
     */
    public void subscribe(Collection<String> names, String matching) {
        topics.clear();
        topics.addAll(names);
        pattern = matching == null && pattern != null ? "" : matching;
        topicsChanged = true;
        beatIn(0);
    }

    /** Wants no partitions of a topic any more. Leaves if it was the last. Nothing is called for it. */
    public void remove(String topic) {
        topics.remove(topic);
        offsets.revoke(topic, owned.getOrDefault(topic, Set.of()));
        owned.remove(topic);
        target.remove(topic);
        fetched.remove(topic);
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
        close(() -> {});
    }

    /** Leaves the group. Commits without a result end with {@code problem}. Nothing else is called any more. */
    public void close(Problem problem) {
        close();
        offsets.failCommits(problem);
    }

    /**
     * Leaves the group. Nothing but {@code left} is called any more.
     *
     * @param left is called when the member has left, as far as its coordinator can be asked
     */
    public void close(Runnable left) {
        if (ended) {
            left.run();
            return;
        }
        ended = true;
        offsets.close();
        onLeft = left;
        if (timer != null) {
            timer.cancel();
        }
        if (!heartbeats) {
            leave();
        }
    }

    private void leave() {
        if (epoch == JOIN) {
            onLeft.run();
            return;
        }
        caller.call(ApiKey.CONSUMER_GROUP_HEARTBEAT, HEARTBEAT_VERSION, request(LEAVE), 0, response -> onLeft.run());
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
        timer = caller.schedule(this::beat, delayMs);
    }

    private void beat() {
        timer = null;
        if (ended || heartbeats) {
            return; // the response plans the next one
        }
        boolean joins = epoch == JOIN;
        if (joins && offsets.commitsAsNoMember()) {
            beatIn(RETRY_MS); // The coordinator refuses these commits once the group has a member.
        } else if (joins) {
            heartbeats = true;
            offsets.findCoordinator(() -> {
                heartbeats = false;
                if (ended) {
                    leave();
                } else {
                    send(true);
                }
            });
        } else {
            send(false);
        }
    }

    private void send(boolean joins) {
        ConsumerGroupHeartbeatRequest request = request(epoch);
        if (joins || topicsChanged) {
            request.setSubscribedTopicNames(List.copyOf(topics))
                    .setSubscribedTopicRegex(pattern)
                    .setRebalanceTimeoutMs(REBALANCE_TIMEOUT_MS);
        }
        if (joins || ownedChanged) {
            request.setTopicPartitions(ownedById());
        }
        topicsChanged = false;
        ownedChanged = false;
        heartbeats = true;
        List<String> wanted = List.copyOf(topics);
        caller.call(ApiKey.CONSUMER_GROUP_HEARTBEAT, HEARTBEAT_VERSION, request, 0, response -> {
            heartbeats = false;
            onResponse(response, wanted);
        });
    }

    private List<ConsumerGroupHeartbeatRequest.TopicPartitions> ownedById() {
        List<ConsumerGroupHeartbeatRequest.TopicPartitions> all = new ArrayList<>();
        owned.forEach((name, partitions) -> {
            if (!partitions.isEmpty()) {
                all.add(new ConsumerGroupHeartbeatRequest.TopicPartitions()
                        .setTopicId(topicIds.get(name))
                        .setPartitions(List.copyOf(partitions)));
            }
        });
        return all;
    }

    private void onResponse(ApiMessage message, List<String> wanted) {
        if (!(message instanceof ConsumerGroupHeartbeatResponse response)) {
            if (ended) {
                onLeft.run();
            }
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
            if (awaitsTopics) {
                ownedChanged = true; // the coordinator then sends the assignment again
            }
            if (timer == null) {
                beatIn(awaitsTopics ? RETRY_MS : topicsChanged || ownedChanged ? 0 : intervalMs);
            }
        } else if (ended) {
            leave();
        } else {
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
                fetched.clear();
                giveUp(false);
                beatIn(RETRY_MS);
            }
            case COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR, REQUEST_TIMED_OUT ->
                beatIn(RETRY_MS);
            default -> end(ProtocolErrors.problem(error, message, "group " + group));
        }
    }

    private void end(Problem problem) {
        if (!ended) {
            owned.clear();
            close(problem);
            reader.onEnd(problem);
        }
    }

    private void setTarget(ConsumerGroupHeartbeatResponse.Assignment assignment) {
        Map<String, Set<Integer>> before = new TreeMap<>(target);
        target.clear();
        awaitsTopics = false;
        for (ConsumerGroupHeartbeatResponse.TopicPartitions partitions : assignment.topicPartitions()) {
            TopicImage topic = images.get().topic(partitions.topicId());
            awaitsTopics |= topic == null;
            if (topic != null && (hasPattern() || topics.contains(topic.name()))) {
                if (!topic.id().equals(topicIds.put(topic.name(), topic.id()))) {
                    giveUpDeleted(topic.name());
                }
                target.put(topic.name(), new TreeSet<>(partitions.partitions()));
            }
        }
        fetched.forEach((topic, partitions) -> partitions.retainAll(target.getOrDefault(topic, Set.of())));
        before.forEach((topic, partitions) -> {
            if (!target.getOrDefault(topic, Set.of()).containsAll(partitions)) {
                // Also if the member has not taken them yet: the group waits until it knows that they are not in use.
                ownedChanged = true;
            }
        });
    }

    /** The positions in a deleted topic are none in the topic that has its name now. */
    private void giveUpDeleted(String topic) {
        fetched.remove(topic);
        Set<Integer> lost = owned.remove(topic);
        if (lost != null && !lost.isEmpty()) {
            ownedChanged = true;
            offsets.revoke(topic, lost);
            reader.onRevoked(topic, lost);
        }
    }

    /** Gives partitions up, and asks for the offsets of those that it does not have yet. */
    private void reconcile() {
        giveUp(true);
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

    /** @param commits whether offsets can be committed before */
    private void giveUp(boolean commits) {
        for (String topic : List.copyOf(owned.keySet())) {
            Set<Integer> lost = lost(topic);
            if (lost.isEmpty() || (commits && givingUp.contains(topic))) {
                continue;
            }
            Map<Integer, Long> uncommitted = commits ? reader.takeUncommitted(topic, lost) : Map.of();
            if (uncommitted.isEmpty()) {
                giveUp(topic, lost);
                continue;
            }
            givingUp.add(topic);
            offsets.commit(topic, uncommitted, problem -> {
                givingUp.remove(topic);
                if (ended) {
                    return;
                }
                // Not what was read meanwhile: a client that reads on would have these partitions for ever.
                lost.retainAll(lost(topic));
                if (!lost.isEmpty()) {
                    giveUp(topic, lost);
                }
                reconcile();
                beatIn(0);
            });
        }
    }

    private void giveUp(String topic, Set<Integer> lost) {
        owned.get(topic).removeAll(lost);
        ownedChanged = true;
        offsets.revoke(topic, lost);
        reader.onRevoked(topic, lost);
    }

    /** The partitions of a topic that the member has, and should not have. */
    private Set<Integer> lost(String topic) {
        Set<Integer> lost = new TreeSet<>(owned.getOrDefault(topic, Set.of()));
        lost.removeAll(target.getOrDefault(topic, Set.of()));
        return lost;
    }

    private void fetchOffsets(Map<String, Set<Integer>> missing) {
        fetchesOffsets = true;
        fetched.clear();
        missing.forEach((topic, partitions) -> fetched.put(topic, new TreeSet<>(partitions)));
        offsets.fetchAsMember(missing, response -> {
            fetchesOffsets = false;
            if (!ended) {
                onOffsets(response);
            }
        });
    }

    private boolean hasPattern() {
        return pattern != null && !pattern.isEmpty();
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
                boolean wanted = fetched.getOrDefault(topic.name(), Set.of()).contains(partition.partitionIndex());
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
}
