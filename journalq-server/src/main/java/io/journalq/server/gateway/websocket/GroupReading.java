package io.journalq.server.gateway.websocket;

import io.journalq.server.gateway.consume.Cursor;
import io.journalq.server.gateway.consume.GroupSeat;
import io.journalq.server.gateway.consume.Start;
import io.journalq.server.gateway.consume.StartLookup;
import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.JsonOut;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemType;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * The topics that a WebSocket reads as a member of a consumer group. Each has a {@link Subscription} while the member has
 * partitions of it, which is replaced when these change. On the connection's loop.
 */
final class GroupReading implements GroupSeat.Reader {
    private static final List<String> SUBSCRIBE_MEMBERS = List.of("topic", "group", "from", "time", "credit");
    private static final int MAX_OPEN_ACKS = 256;

    private final Subscriptions owner;
    private final GroupSeat seat;
    private final Map<String, Topic> topics = new LinkedHashMap<>();

    /** Topics that the client has ended, and that the member has until what was acknowledged is committed. */
    private final Set<String> ending = new HashSet<>();

    /** What the client wants of a topic. */
    private static final class Topic {
        private final Start start;

        /** The id of the message that has subscribed; null when it has its response. */
        private JsonOut.Document id;

        private boolean paused;

        /** How often partitions were given up. What was looked up for one before that does not count any more. */
        private final Map<Integer, Integer> revocations = new TreeMap<>();

        /** @param start where partitions without a committed offset begin */
        Topic(Start start, JsonOut.Document id) {
            this.start = start;
            this.id = id;
        }
    }

    GroupReading(Subscriptions owner, String group) {
        this.owner = owner;
        this.seat = new GroupSeat(owner.exchange(), owner.images(), group, this);
    }

    /** Id of the group. */
    String name() {
        return seat.group();
    }

    /** Whether the connection is a member no longer. */
    boolean isEmpty() {
        return topics.isEmpty();
    }

    Set<String> topics() {
        return topics.keySet();
    }

    void subscribe(Command command) {
        command.checkMembers(SUBSCRIBE_MEMBERS);
        String name = command.needed("topic");
        Start start =
                Start.of(owner.exchange(), name, command::text, owner.images().get(), Start.END);
        topics.put(start.topic(), new Topic(start, command.id()));
        giveUp(start.topic()); // Its partitions are assigned again, with their committed offsets.
        seat.add(start.topic());
    }

    /**
     * Ends a topic, without a message. The member has its partitions until what the client has acknowledged is
     * committed. With the last topic, the connection leaves the group.
     */
    void end(String topic) {
        topics.remove(topic);
        ending.add(topic);
        seat.offsets().whenCommitted(topic, () -> giveUp(topic));
    }

    private void giveUp(String topic) {
        if (ending.remove(topic)) {
            seat.remove(topic);
        }
    }

    void close() {
        seat.close();
    }

    /** @param name null for all topics */
    void setPaused(String name, boolean paused) {
        topics.forEach((each, topic) -> {
            if (name == null || each.equals(name)) {
                topic.paused = paused;
            }
        });
    }

    /** Continues partitions that the member has at other offsets. */
    void seek(Command command) {
        command.checkMembers(List.of("topic", "cursor"));
        String topic = command.text("topic");
        Map<Integer, Long> positions = owner.positions(topic);
        positions.putAll(owned(topic, Cursor.parse(command.needed("cursor"))));
        read(topic, positions, "sought", command.id());
    }

    /** Commits what the client has acknowledged. */
    void ack(Command command) {
        command.checkMembers(List.of("topic", "cursor"));
        String topic = command.text("topic");
        Map<Integer, Long> offsets = owned(topic, Cursor.parse(command.needed("cursor")));
        Map<Integer, Long> positions = owner.positions(topic);
        offsets.forEach((partition, offset) -> {
            if (offset > positions.getOrDefault(partition, -1L)) {
                throw HttpExchange.invalid(
                        "offset " + offset + " of partition " + partition + " is behind the last record sent",
                        "send the offset of the next record, which is that of the last one processed plus 1");
            }
        });
        if (seat.offsets().openCommits() >= MAX_OPEN_ACKS) {
            throw new Problem(
                            ProblemType.UNAVAILABLE,
                            MAX_OPEN_ACKS + " messages \"ack\" have no response yet",
                            "wait for \"acked\"; the next ack covers the records of this one")
                    .exception();
        }
        JsonOut.Document id = command.id();
        seat.offsets().commit(topic, offsets, problem -> {
            if (problem == null) {
                owner.out().send("acked", json -> {
                    id.write(json);
                    json.writeStringField("topic", topic);
                    json.writeStringField("cursor", Cursor.format(offsets));
                });
            } else {
                owner.out().sendError(id, topic, problem);
            }
        });
    }

    private Map<Integer, Long> owned(String topic, Map<Integer, Long> offsets) {
        for (int partition : offsets.keySet()) {
            if (!seat.owns(topic, partition)) {
                throw HttpExchange.invalid(
                        "partition " + partition + " is not assigned to this connection",
                        "send the partitions of the last \"assigned\" only");
            }
        }
        return offsets;
    }

    @Override
    public void onJoined(Collection<String> wanted) {
        for (String name : wanted) {
            Topic topic = topics.get(name);
            if (topic != null && topic.id != null) {
                JsonOut.Document id = topic.id;
                topic.id = null;
                owner.out().send("subscribed", json -> {
                    id.write(json);
                    json.writeStringField("topic", name);
                    json.writeStringField("group", seat.group());
                });
            }
        }
    }

    @Override
    public void onAssigned(String name, Map<Integer, Long> committed) {
        Topic topic = topics.get(name);
        if (topic == null) {
            return; // It leaves soon.
        }
        Map<Integer, Long> unknown = new TreeMap<>(committed);
        unknown.values().removeIf(offset -> offset >= 0);
        if (unknown.isEmpty()) {
            begin(name, committed);
            return;
        }
        Start start = new Start(name, unknown, topic.start.timestamp(), false, false);
        // Meanwhile, a partition can have been given up, and be read again from a newer committed offset or in a topic
        // that was created again. The client can have ended the topic and subscribed to it again.
        Map<Integer, Integer> before = new TreeMap<>(topic.revocations);
        Predicate<Integer> isCurrent = partition -> topics.get(name) == topic
                && seat.owns(name, partition)
                && Objects.equals(before.get(partition), topic.revocations.get(partition));
        StartLookup lookup = new StartLookup(owner.exchange(), name, Subscription.WAIT_MS, problem -> {
            if (committed.keySet().stream().anyMatch(isCurrent)) {
                fail(name, problem);
            }
        });
        lookup.begin(start, found -> {
            Map<Integer, Long> all = new TreeMap<>(committed);
            all.putAll(found.offsets());
            Map<Integer, Long> sought = owner.positions(name);
            all.keySet().removeIf(partition -> !isCurrent.test(partition) || sought.containsKey(partition));
            commitBeginning(name, topic, found.offsets(), all.keySet());
            begin(name, all);
        });
    }

    /**
     * Commits where partitions begin that had no committed offset. Without it, the next member would begin at a later
     * end, and what this one has not acknowledged would be lost. The start of the log is the same for both.
     */
    private void commitBeginning(String name, Topic topic, Map<Integer, Long> found, Set<Integer> begun) {
        Map<Integer, Long> offsets = new TreeMap<>(found);
        offsets.keySet().retainAll(begun);
        if (topic.start.timestamp() != Start.START && !offsets.isEmpty()) {
            seat.offsets().commit(name, offsets, problem -> {}); // An ack that fails, too, says so.
        }
    }

    private void begin(String name, Map<Integer, Long> more) {
        if (!topics.containsKey(name) || more.isEmpty()) {
            return;
        }
        Map<Integer, Long> positions = owner.positions(name);
        positions.putAll(more);
        if (positions.size() > Start.MAX_PARTITIONS) {
            fail(
                    name,
                    new Problem(
                            ProblemType.CONFLICT,
                            "the group assigns more than " + Start.MAX_PARTITIONS + " partitions of the topic",
                            "open more connections of the group before"));
            return;
        }
        read(name, positions, "assigned", json -> {});
    }

    private void read(String name, Map<Integer, Long> positions, String message, JsonOut.Document id) {
        Topic topic = topics.get(name);
        owner.replace(new Start(name, positions, Start.END, false, false), message, id, topic.paused);
    }

    @Override
    public void onRevoked(String name, Set<Integer> partitions) {
        Topic topic = topics.get(name);
        if (topic == null) {
            return;
        }
        partitions.forEach(partition -> topic.revocations.merge(partition, 1, Integer::sum));
        Map<Integer, Long> left = owner.positions(name);
        left.keySet().removeAll(partitions);
        if (left.isEmpty()) {
            owner.drop(name);
        } else {
            read(name, left, null, json -> {});
        }
        owner.out().send("revoked", json -> {
            json.writeStringField("topic", name);
            json.writeArrayFieldStart("partitions");
            for (int partition : partitions) {
                json.writeNumber(partition);
            }
            json.writeEndArray();
        });
    }

    private void fail(String name, Problem problem) {
        Topic topic = topics.get(name);
        if (topic != null) {
            end(name);
            owner.drop(name);
            owner.out().sendError(topic.id == null ? json -> {} : topic.id, name, problem);
        }
    }

    @Override
    public void onEnd(Problem problem) {
        for (String name : List.copyOf(topics.keySet())) {
            fail(name, problem);
        }
    }
}
