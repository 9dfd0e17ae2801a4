package io.journalq.server.shard.coordinator;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.coordinator.CoordinatorMachine;
import io.journalq.server.loop.ConcurrencyLimitedExecutor;
import io.journalq.server.metadata.MetadataDelta;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.metadata.partition.PartitionImage;
import io.journalq.server.peer.PeerRequests;
import io.journalq.server.producerstate.VerificationGuards;
import io.journalq.server.shard.Shard;
import io.journalq.server.shard.Shards;
import io.journalq.server.shard.coordinator.CoordinatorKind.CoordinatorCounters;
import io.journalq.server.shard.coordinator.CoordinatorKind.CoordinatorLoading;
import io.journalq.server.shard.coordinator.CoordinatorKind.LoadListener;
import io.journalq.server.shard.coordinator.CoordinatorKind.Step;
import io.journalq.server.store.CoordinatorSlice;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The coordinators of one kind: a machine for each partition of their internal topic that this broker leads. A key,
 * such as a group id, determines the partition. Any thread, except that {@link #follow} and {@link #close} are called
 * by one thread at a time, which must not be a loop.
 */
public final class Coordinators<M extends CoordinatorMachine> {
    private static final Logger log = LoggerFactory.getLogger(Coordinators.class);

    private final CoordinatorKind<M> kind;
    private final Shards shards;
    private final CoordinatorLoading<M> loading;
    /** By partition; null for a partition that another broker leads. */
    private volatile List<CoordinatorHost<M>> hosts = List.of();

    /** Closed hosts by partition: the next host of a partition waits until its predecessor no longer uses its state. */
    private final Map<Integer, CoordinatorHost<M>> left = new HashMap<>();

    private Uuid topicId = Uuid.ZERO;

    /**
     * Creates an instance without coordinators; {@link #follow} creates them once their topic exists.
     *
     * @param listener is informed of every machine that is loaded, before it serves requests
     */
    public Coordinators(CoordinatorKind<M> kind, CoordinatorResources resources, LoadListener<M> listener) {
        this.kind = kind;
        this.shards = resources.shards();
        this.loading = new CoordinatorLoading<>(
                resources.blockingPool(),
                new ConcurrencyLimitedExecutor(
                        resources.blockingPool(), shards.all().size() + 1),
                resources.clock(),
                resources.slices(),
                new CoordinatorCounters(),
                listener,
                resources.peers());
    }

    public CoordinatorCounters counters() {
        return loading.counters();
    }

    /** Name of the internal topic. */
    public String topic() {
        return kind.topic();
    }

    /**
     * Updates the coordinators to a change of the metadata, which the shards already know. A coordinator is loaded when
     * the shards have opened its partition.
     *
     * @return completed when the coordinators of a new topic are loaded, or their load has failed for now. Nothing waits
     *     for coordinators that have moved here: clients need the metadata to find partitions that have moved with them
     */
    public CompletableFuture<Void> follow(MetadataDelta delta) {
        if (!delta.changesTopic(kind.topic())) {
            return CompletableFuture.completedFuture(null);
        }
        TopicImage topic = delta.now().topic(kind.topic());
        Uuid id = topic == null ? Uuid.ZERO : topic.id();
        if (!id.equals(topicId)) {
            // Each one ends on its loop, before all later work of that loop.
            var unused = close();
            left.clear();
            topicId = id;
        }
        if (topic == null) {
            return CompletableFuture.completedFuture(null);
        }
        List<CoordinatorHost<M>> before = hosts;
        List<CoordinatorHost<M>> after = new ArrayList<>();
        List<CoordinatorHost<M>> added = new ArrayList<>();
        List<CoordinatorHost<M>> lost = new ArrayList<>();
        for (int number = 0; number < topic.partitions().size(); number++) {
            CoordinatorHost<M> host = number < before.size() ? before.get(number) : null;
            boolean leads = topic.partitions().get(number).leader() == shards.nodeId();
            if (leads && host == null) {
                host = host(topic, number);
                added.add(host);
            } else if (!leads && host != null) {
                lost.add(host);
                left.put(number, host);
                host = null;
            }
            after.add(host);
        }
        hosts = Collections.unmodifiableList(after);
        var unused = close(lost);
        added.forEach(this::loadWhenOpen);
        return delta.before().topic(topicId) == null ? whenLoaded(added) : CompletableFuture.completedFuture(null);
    }

    private void loadWhenOpen(CoordinatorHost<M> host) {
        var unused = shards.partitions().whenOpen(topicId, host.partition()).thenRun(() -> host.cycle()
                .execute(host::load));
    }

    private CoordinatorHost<M> host(TopicImage topic, int number) {
        Shard shard = shards.shardOf(topic.id(), number);
        return new CoordinatorHost<>(
                kind,
                topic.id(),
                new TopicPartition(topic.name(), number),
                shard.cycle(),
                () -> shard.host(topic.id(), number),
                loading,
                shards.nodeId(),
                left.remove(number));
    }

    /** Whether this broker leads a partition, so that a coordinator here can write to it. */
    public boolean isLedHere(PartitionImage partition) {
        return partition.leader() == shards.nodeId();
    }

    /** Number of partitions of the topic; 0 while there is no topic. Any thread. */
    public int count() {
        return hosts.size();
    }

    /** The partition for a key, in a topic with {@code partitionCount} partitions. */
    public static int partitionOf(String key, int partitionCount) {
        return (key.hashCode() & Integer.MAX_VALUE) % partitionCount;
    }

    /** The partition for a key; -1 while there is no topic. Any thread. */
    public int partitionOf(String key) {
        int count = hosts.size();
        return count == 0 ? -1 : partitionOf(key, count);
    }

    /**
     * Runs a step with the machine for a key.
     *
     * @param unavailable called instead if the machine is loading or not on this broker; on any thread
     */
    public void submit(String key, Step<M> step, Consumer<ErrorCode> unavailable) {
        submit(partitionOf(key), step, unavailable);
    }

    /** Like {@link #submit(String, Step, Consumer)}, with the machine of a partition of the topic. */
    public void submit(int partition, Step<M> step, Consumer<ErrorCode> unavailable) {
        execute(partition, host -> host.run(step, unavailable), unavailable);
    }

    /**
     * Like {@link #submit(String, Step, Consumer)}, for a step that may append nothing, and whose reply must not follow from
     * an older state than another broker has: first, the brokers that could have replaced this one are asked. An append
     * finds that out by itself.
     */
    public void submitConfirmed(String key, Step<M> step, Consumer<ErrorCode> unavailable) {
        submitConfirmed(partitionOf(key), step, unavailable);
    }

    /** Like {@link #submitConfirmed(String, Step, Consumer)}, with the machine of a partition of the topic. */
    public void submitConfirmed(int partition, Step<M> step, Consumer<ErrorCode> unavailable) {
        execute(partition, host -> host.runConfirmed(step, unavailable), unavailable);
    }

    private void execute(int partition, Consumer<CoordinatorHost<M>> action, Consumer<ErrorCode> unavailable) {
        List<CoordinatorHost<M>> current = hosts;
        if (partition < 0 || partition >= current.size()) {
            unavailable.accept(ErrorCode.COORDINATOR_NOT_AVAILABLE);
            return;
        }
        CoordinatorHost<M> host = current.get(partition);
        if (host == null) {
            unavailable.accept(ErrorCode.NOT_COORDINATOR);
        } else if (!host.cycle().execute(() -> action.accept(host))) {
            unavailable.accept(ErrorCode.COORDINATOR_NOT_AVAILABLE);
        }
    }

    /**
     * Like {@link #submit(String, Step, Consumer)}, but the step never runs before this returns. For work that a step
     * itself starts.
     */
    public void submitLater(String key, Step<M> step, Consumer<ErrorCode> unavailable) {
        CoordinatorHost<M> host = hostOf(key);
        if (host == null || !host.cycle().enqueue(() -> host.run(step, unavailable))) {
            unavailable.accept(ErrorCode.COORDINATOR_NOT_AVAILABLE);
        }
    }

    /**
     * Completed when the machines for {@code keys} are loaded, their load has failed for now, or they do not belong on
     * this broker. Any thread.
     */
    public CompletableFuture<Void> whenAllLoaded(Collection<String> keys) {
        return whenLoaded(hostsOf(keys));
    }

    private CompletableFuture<Void> whenLoaded(Collection<CoordinatorHost<M>> wanted) {
        List<CompletableFuture<Void>> loaded = new ArrayList<>();
        for (CoordinatorHost<M> host : wanted) {
            CompletableFuture<Void> one = new CompletableFuture<>();
            if (host.cycle().execute(() -> host.whenLoaded(() -> one.complete(null)))) {
                loaded.add(one);
            }
        }
        return CompletableFuture.allOf(loaded.toArray(new CompletableFuture<?>[0]));
    }

    private Collection<CoordinatorHost<M>> hostsOf(Collection<String> keys) {
        List<CoordinatorHost<M>> current = hosts;
        Map<Integer, CoordinatorHost<M>> found = new TreeMap<>();
        if (!current.isEmpty()) {
            for (String key : keys) {
                int partition = partitionOf(key, current.size());
                if (current.get(partition) != null) {
                    found.put(partition, current.get(partition));
                }
            }
        }
        return found.values();
    }

    /**
     * Guards confirmations of transactions for the machine for a key, see {@link VerificationGuards}; null if it is not
     * on this broker. Any thread.
     */
    public VerificationGuards guards(String key) {
        CoordinatorHost<M> host = hostOf(key);
        return host == null
                ? null
                : shards.shardOf(host.topicId(), host.partition()).guards();
    }

    private CoordinatorHost<M> hostOf(String key) {
        List<CoordinatorHost<M>> current = hosts;
        return current.isEmpty() ? null : current.get(partitionOf(key, current.size()));
    }

    private List<CoordinatorHost<M>> hosted() {
        return hosts.stream().filter(Objects::nonNull).toList();
    }

    /** Runs a step with every machine that is loaded. */
    public void submitToAll(Step<M> step) {
        for (CoordinatorHost<M> host : hosted()) {
            host.cycle().execute(() -> host.run(step, loadingOnes -> {}));
        }
    }

    /**
     * Queries every machine of this broker.
     *
     * @param query called with each machine on its loop
     * @param done receives the results in the order of partitions, on any thread
     * @param unavailable called instead with the reason if a machine is not available; on any thread
     */
    public <T> void gather(BiFunction<M, Long, T> query, Consumer<List<T>> done, Consumer<ErrorCode> unavailable) {
        List<CoordinatorHost<M>> current = hosted();
        if (current.isEmpty()) {
            done.accept(List.of());
            return;
        }
        Gathering<T> gathering = new Gathering<>(current.size(), done, unavailable);
        for (int i = 0; i < current.size(); i++) {
            CoordinatorHost<M> host = current.get(i);
            int index = i;
            Step<M> step = (machine, nowMs, replies) -> gathering.onResponse(index, query.apply(machine, nowMs));
            if (!host.cycle().execute(() -> host.run(step, gathering::onFailure))) {
                gathering.onFailure(ErrorCode.COORDINATOR_NOT_AVAILABLE);
            }
        }
    }

    /**
     * Closes all coordinators.
     *
     * @return completed when all have ended
     */
    public CompletableFuture<Void> close() {
        List<CoordinatorHost<M>> closing = hosted();
        hosts = List.of();
        return close(closing);
    }

    private static <M extends CoordinatorMachine> CompletableFuture<Void> close(List<CoordinatorHost<M>> closing) {
        List<CompletableFuture<Void>> closed = new ArrayList<>();
        for (CoordinatorHost<M> host : closing) {
            closed.add(host.cycle()
                    .<Void>ask(() -> {
                        host.close();
                        return null;
                    })
                    .exceptionally(failure -> {
                        log.error("cannot close a coordinator", failure);
                        return null;
                    }));
        }
        return CompletableFuture.allOf(closed.toArray(new CompletableFuture<?>[0]));
    }

    /** The results of all machines, and the number of missing results. Any thread. */
    private static final class Gathering<T> {
        private final AtomicReferenceArray<T> responses;
        private final AtomicInteger missing;
        private final Consumer<List<T>> done;
        private final Consumer<ErrorCode> unavailable;

        Gathering(int count, Consumer<List<T>> done, Consumer<ErrorCode> unavailable) {
            this.responses = new AtomicReferenceArray<>(count);
            this.missing = new AtomicInteger(count);
            this.done = done;
            this.unavailable = unavailable;
        }

        void onResponse(int index, T response) {
            responses.set(index, response);
            if (missing.decrementAndGet() == 0) {
                List<T> all = new ArrayList<>(responses.length());
                for (int i = 0; i < responses.length(); i++) {
                    all.add(responses.get(i));
                }
                done.accept(all);
            }
        }

        /** Reports the first failure. After that, the number of missing results never reaches zero. */
        void onFailure(ErrorCode error) {
            if (missing.getAndSet(Integer.MAX_VALUE) < Integer.MAX_VALUE / 2) {
                unavailable.accept(error);
            }
        }
    }

    /**
     * Shared by all kinds of coordinators.
     *
     * @param shards host the partitions with the records
     * @param blockingPool runs work that waits for the disk
     * @param clock the time of steps and ticks
     * @param slices the stored state, so that a load need not read whole journals
     * @param peers asks other brokers whether this one still leads; null for a broker that is alone
     */
    public record CoordinatorResources(
            Shards shards, Executor blockingPool, Clock clock, CoordinatorSlice.Provider slices, PeerRequests peers) {}
}
