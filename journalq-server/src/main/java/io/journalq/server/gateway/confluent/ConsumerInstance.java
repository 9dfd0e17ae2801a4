package io.journalq.server.gateway.confluent;

import io.journalq.common.id.TopicPartition;
import io.journalq.server.gateway.confluent.ConsumerPositions.Assigned;
import io.journalq.server.gateway.consume.GroupSeat;
import io.journalq.server.gateway.consume.SeatOffsets;
import io.journalq.server.gateway.consume.Tail;
import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.LastingCaller;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemException;
import io.journalq.server.gateway.problem.ProblemType;
import io.journalq.server.metadata.MetadataImage;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

/**
 * A consumer of a client that sends one request for each of its steps: a member of its group if it subscribes to topics, or
 * a reader of partitions that it has chosen. It keeps positions, and no records but those of the last fetch for a moment. It
 * serves one request after the other. It ends when the client deletes it, or when it is not used for a time. On the loop of
 * the connection that has created it, except where a method says otherwise.
 */
final class ConsumerInstance {
    /** Interval of commits of an instance that commits by itself, as that of Kafka's consumer. */
    private static final int AUTO_COMMIT_MS = 5_000;

    /** Estimated heap of an instance without partitions. */
    private static final int INSTANCE_BYTES = 8_000;

    private final ConsumerInstances.Key key;
    private final ConsumerInstances.Client client;
    private final ConsumerSettings settings;
    private final Supplier<MetadataImage> images;
    private final Consumer<ConsumerInstance> onClosed;
    private final LastingCaller caller;
    private final Tail tail;
    private final ConsumerPositions positions;
    private final ConsumerStarts starts;
    private final ConsumerQueue queue;

    private ConsumerRead read;

    private GroupSeat seat;
    private Set<String> topics = Set.of();
    private String pattern;
    private boolean manual;

    /** Why it cannot read any more; null if it can. */
    private Problem failure;

    private long autoCommittedNanos;
    private boolean closed;

    ConsumerInstance(
            HttpExchange exchange,
            ConsumerInstances.Key key,
            ConsumerSettings settings,
            Supplier<MetadataImage> images,
            int timeoutMs,
            Consumer<ConsumerInstance> onClosed) {
        this.key = key;
        this.client = ConsumerInstances.Client.of(exchange);
        this.settings = settings;
        this.images = images;
        this.onClosed = onClosed;
        this.caller = exchange.lasting(this::expire);
        if (!caller.charge(INSTANCE_BYTES)) {
            caller.close();
            throw noMemory().exception();
        }
        this.positions = new ConsumerPositions(caller);
        this.tail = positions.tail();
        this.starts = new ConsumerStarts(this, settings.reset());
        this.seat = newSeat();
        this.autoCommittedNanos = nanoTime();
        this.queue = new ConsumerQueue(caller, timeoutMs, this::expire);
    }

    static Problem noMemory() {
        return new Problem(
                ProblemType.UNAVAILABLE,
                "the memory for connections is used up (memory.connections.max.bytes)",
                "delete instances that are not used, or read fewer partitions");
    }

    private GroupSeat newSeat() {
        return new Member().seat;
    }

    /** Any thread. */
    ConsumerInstances.Key key() {
        return key;
    }

    /** Who has created it. Any thread. */
    ConsumerInstances.Client client() {
        return client;
    }

    /** Any thread. */
    ConsumerSettings settings() {
        return settings;
    }

    LastingCaller caller() {
        return caller;
    }

    ConsumerPositions positions() {
        return positions;
    }

    /** Runs {@code work} on the loop of the instance. Any thread. */
    void run(Runnable work) {
        caller.run(work);
    }

    long nanoTime() {
        return caller.cycle().loop().nanoTime();
    }

    /** Whether it has ended. */
    boolean isClosed() {
        return closed;
    }

    /**
     * Serves a request when those before it have their responses.
     *
     * @param work ends the call, now or later. A {@link ProblemException} ends it, too
     */
    void submit(ConsumerCall call, Runnable work) {
        queue.submit(call, work);
    }

    /** A request has its response. */
    void finished(ConsumerCall call) {
        if (queue.serves(call)) {
            read = null;
            queue.onFinished();
        }
    }

    /** Ends it, because it was not used or cannot go on. What the client has processed is committed. Any thread. */
    void expire() {
        run(() -> close(each -> each.processed, () -> {}));
    }

    /** Ends it. What the client has received is committed. */
    void delete(Runnable next) {
        close(each -> each.delivered, next);
    }

    private void close(ToLongFunction<Assigned> position, Runnable next) {
        if (closed) {
            next.run();
            return;
        }
        closed = true;
        onClosed.accept(this);
        queue.close();
        if (read != null) {
            read.close();
        }
        tail.close();
        leave(position, () -> {
            caller.close();
            next.run();
        });
    }

    /** Commits if it commits by itself, and leaves its group. */
    private void leave(ToLongFunction<Assigned> position, Runnable next) {
        Map<TopicPartition, SeatOffsets.Committed> last = takeUncommitted(positions.all(), position);
        GroupSeat left = seat;
        if (last.isEmpty()) {
            left.close(next);
        } else {
            left.offsets().commit(last, problem -> left.close(next));
        }
    }

    /** Offsets to commit, if it commits by itself. They count as committed from here. */
    private Map<TopicPartition, SeatOffsets.Committed> takeUncommitted(
            Collection<Assigned> partitions, ToLongFunction<Assigned> position) {
        return settings.autoCommit() ? ConsumerPositions.takeUncommitted(partitions, position) : Map.of();
    }

    /** Wants partitions of topics. */
    void subscribe(ConsumerCall call, Set<String> names, String matching) {
        if (manual || (pattern != null && matching == null) || (!topics.isEmpty() && matching != null)) {
            throw exclusive().exception();
        }
        failure = null;
        topics = Set.copyOf(names);
        pattern = matching;
        seat.subscribe(topics, matching);
        call.done();
    }

    private static Problem exclusive() {
        return new Problem(
                ProblemType.CONFLICT,
                "subscriptions to topics, to a pattern, and assignments exclude each other",
                "DELETE the subscription first");
    }

    /** Wants nothing any more. */
    void unsubscribe(ConsumerCall call) {
        leave(each -> each.delivered, call::done);
        seat = newSeat();
        topics = Set.of();
        pattern = null;
        manual = false;
        failure = null;
        positions.dropAll();
    }

    /** The topics that it wants. Those of a pattern are known when partitions are assigned. */
    void showSubscription(ConsumerCall call) {
        Set<String> shown = new TreeSet<>(topics);
        if (pattern != null) {
            positions.names().forEach(partition -> shown.add(partition.topic()));
        }
        call.respond(json -> {
            json.writeArrayFieldStart("topics");
            for (String topic : shown) {
                json.writeString(topic);
            }
            json.writeEndArray();
        });
    }

    /** Reads these partitions, without being a member of the group. */
    void assign(ConsumerCall call, Set<TopicPartition> partitions) {
        if (pattern != null || !topics.isEmpty()) {
            throw exclusive().exception();
        }
        Map<TopicPartition, SeatOffsets.Committed> last = takeUncommitted(positions.all(), each -> each.delivered);
        if (!last.isEmpty()) {
            seat.offsets().commit(last, problem -> {});
        }
        failure = null;
        manual = !partitions.isEmpty();
        positions.all().stream().filter(each -> !partitions.contains(each.name)).forEach(positions::drop);
        Map<String, Set<Integer>> added = new TreeMap<>();
        for (TopicPartition partition : partitions) {
            if (positions.get(partition) == null) {
                if (!add(partition)) {
                    throw failure.exception();
                }
                added.computeIfAbsent(partition.topic(), topic -> new TreeSet<>())
                        .add(partition.partition());
            }
        }
        seat.offsets().read(added, (committed, problem) -> {
            if (problem != null) {
                positions.dropAll();
                manual = false;
                call.fail(problem);
                return;
            }
            added.forEach((topic, numbers) -> starts.begin(topic, numbers, partition -> {
                SeatOffsets.Committed found = committed.get(new TopicPartition(topic, partition));
                return found == null ? -1 : found.offset();
            }));
            call.done();
        });
    }

    void showAssignments(ConsumerCall call) {
        List<TopicPartition> shown = positions.names().stream()
                .sorted(Comparator.comparing(TopicPartition::topic).thenComparing(TopicPartition::partition))
                .toList();
        call.respond(json -> {
            json.writeArrayFieldStart("partitions");
            for (TopicPartition partition : shown) {
                json.writeStartObject();
                json.writeStringField("topic", partition.topic());
                json.writeNumberField("partition", partition.partition());
                json.writeEndObject();
            }
            json.writeEndArray();
        });
    }

    /** Adds a partition without a position. Returns false, and reads nothing any more, if there is no room. */
    private boolean add(TopicPartition name) {
        Problem problem = positions.add(name);
        if (problem != null) {
            stop(problem);
        }
        return problem == null;
    }

    /** Leaves the group, and reads nothing any more. */
    private void stop(Problem problem) {
        failure = problem;
        seat.close(problem);
        seat = newSeat();
        topics = Set.of();
        pattern = null;
        manual = false;
        positions.dropAll();
        notifyRead();
    }

    /** Continues at this offset. */
    void setPosition(Assigned partition, long offset) {
        positions.set(partition, offset);
        if (read != null) {
            read.onPosition(partition.number, offset);
        }
    }

    /** Nothing can be read any more. */
    void failReads(Problem problem) {
        failure = problem;
        notifyRead();
    }

    /** The position of a partition is not in its log. Begins where the client has chosen. */
    void onOutOfRange(int number) {
        starts.onOutOfRange(number);
    }

    /** Continues at these offsets. */
    void seek(ConsumerCall call, Map<TopicPartition, Long> offsets) {
        List<Assigned> partitions = needed(offsets.keySet());
        tail.drop();
        partitions.forEach(each -> setPosition(each, offsets.get(each.name)));
        call.done();
    }

    /** Continues at the start or the end of partitions. */
    void seek(ConsumerCall call, Set<TopicPartition> names, long timestamp) {
        List<Assigned> partitions = needed(names);
        tail.drop();
        Map<String, List<Assigned>> byTopic = new TreeMap<>();
        partitions.forEach(each -> byTopic.computeIfAbsent(each.name.topic(), topic -> new ArrayList<>())
                .add(each));
        if (byTopic.isEmpty()) {
            call.done();
        }
        int[] open = {byTopic.size()};
        byTopic.forEach((topic, all) -> starts.find(topic, all, timestamp, problem -> {
            open[0]--;
            if (problem != null) {
                call.fail(problem);
            } else if (open[0] == 0) {
                call.done();
            }
        }));
    }

    private List<Assigned> needed(Set<TopicPartition> names) {
        List<Assigned> partitions = new ArrayList<>();
        for (TopicPartition name : names) {
            Assigned found = positions.get(name);
            if (found == null) {
                throw new Problem(
                                ProblemType.CONFLICT,
                                "partition " + name + " is not assigned to the consumer instance",
                                "GET assignments first; a member of a group gets its partitions a moment after it has"
                                        + " subscribed")
                        .exception();
            }
            partitions.add(found);
        }
        return partitions;
    }

    /** Commits these offsets, or all positions if they are null. */
    void commit(ConsumerCall call, Map<TopicPartition, SeatOffsets.Committed> given) {
        Map<TopicPartition, SeatOffsets.Committed> offsets = given == null ? new LinkedHashMap<>() : given;
        if (given == null) {
            positions.all().stream()
                    .filter(each -> each.delivered >= 0)
                    .forEach(each -> offsets.put(each.name, new SeatOffsets.Committed(each.delivered, "")));
        }
        if (offsets.isEmpty()) {
            call.done();
            return;
        }
        seat.offsets().commit(offsets, problem -> {
            if (problem != null) {
                call.fail(problem);
                return;
            }
            offsets.forEach((name, committed) -> {
                Assigned partition = positions.get(name);
                if (partition != null) {
                    partition.committed = committed.offset();
                }
            });
            call.done();
        });
    }

    void showCommitted(ConsumerCall call, Set<TopicPartition> partitions) {
        Map<String, Set<Integer>> byTopic = new TreeMap<>();
        partitions.forEach(each ->
                byTopic.computeIfAbsent(each.topic(), topic -> new TreeSet<>()).add(each.partition()));
        seat.offsets().read(byTopic, (committed, problem) -> {
            if (problem != null) {
                call.fail(problem);
                return;
            }
            call.respond(json -> {
                json.writeArrayFieldStart("offsets");
                for (Map.Entry<TopicPartition, SeatOffsets.Committed> each : committed.entrySet()) {
                    json.writeStartObject();
                    json.writeStringField("topic", each.getKey().topic());
                    json.writeNumberField("partition", each.getKey().partition());
                    json.writeNumberField("offset", each.getValue().offset());
                    json.writeStringField("metadata", each.getValue().metadata());
                    json.writeEndObject();
                }
                json.writeEndArray();
            });
        });
    }

    /** Reads records. The client has processed those that it had received before. */
    void read(ConsumerCall call, long waitMs, long maxBytes) {
        positions.onProcessed();
        if (nanoTime() - autoCommittedNanos >= TimeUnit.MILLISECONDS.toNanos(AUTO_COMMIT_MS)) {
            autoCommittedNanos = nanoTime();
            List<Assigned> all = positions.all();
            Map<TopicPartition, SeatOffsets.Committed> last = takeUncommitted(all, each -> each.processed);
            if (!last.isEmpty()) {
                seat.offsets().commit(last, problem -> {
                    if (problem != null) {
                        all.forEach(each -> each.committed = -1); // which are committed again
                    }
                });
            }
        }
        read = new ConsumerRead(this, call, waitMs, maxBytes);
        read.begin();
    }

    /** Why nothing can be read; null if something can. */
    Problem readProblem() {
        TopicPartition without = failure == null && settings.reset() == ConsumerStarts.Reset.NONE
                ? positions.anyWithoutPosition()
                : null;
        if (without != null) {
            return new Problem(
                    ProblemType.CONFLICT,
                    "partition " + without + " has no committed offset that is in its log",
                    "POST positions; or choose auto.offset.reset=earliest or latest");
        }
        return failure;
    }

    /** Lets a read go on that waits for positions. */
    void notifyRead() {
        if (read != null) {
            read.advance();
        }
    }

    /**
     * The instance as a member of its group. After the client has unsubscribed, this member stays until its last
     * offsets are committed, and has nothing to do with the partitions of the next one.
     */
    private final class Member implements GroupSeat.Reader {
        private final GroupSeat seat = new GroupSeat(caller, images, key.group(), this);

        private boolean isFormer() {
            return seat != ConsumerInstance.this.seat;
        }

        @Override
        public void onJoined(Collection<String> wanted) {
            // The client hears of it by its records.
        }

        @Override
        public void onAssigned(String topic, Map<Integer, Long> committed) {
            if (closed || isFormer()) {
                return;
            }
            for (int partition : committed.keySet()) {
                if (!add(new TopicPartition(topic, partition))) {
                    return;
                }
            }
            starts.begin(topic, committed.keySet(), committed::get);
        }

        @Override
        public Map<Integer, Long> takeUncommitted(String topic, Set<Integer> partitions) {
            if (isFormer()) {
                return Map.of();
            }
            List<Assigned> lost = partitions.stream()
                    .map(partition -> positions.get(new TopicPartition(topic, partition)))
                    .filter(Objects::nonNull)
                    .toList();
            Map<Integer, Long> offsets = new TreeMap<>();
            ConsumerInstance.this
                    .takeUncommitted(lost, each -> each.processed)
                    .forEach((name, committed) -> offsets.put(name.partition(), committed.offset()));
            return offsets;
        }

        @Override
        public void onRevoked(String topic, Set<Integer> partitions) {
            if (isFormer()) {
                return;
            }
            for (int partition : partitions) {
                Assigned lost = positions.get(new TopicPartition(topic, partition));
                if (lost != null) {
                    positions.drop(lost);
                }
            }
        }

        @Override
        public void onEnd(Problem problem) {
            if (!closed && !isFormer()) {
                stop(problem);
            }
        }
    }
}
