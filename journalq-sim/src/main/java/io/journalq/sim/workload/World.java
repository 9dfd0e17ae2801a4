package io.journalq.sim.workload;

import io.journalq.sim.world.Scheduler;
import io.journalq.sim.world.SimBroker;
import io.journalq.sim.world.SimClock;
import io.journalq.sim.world.Violations;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** State that all clients of one simulation share. */
public final class World {
    private static final long LONGEST_DELIVERY_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    private final Scheduler scheduler;
    private final Random random;
    private final Violations violations;
    private final Listener listener;
    private final Set<Long> producerIds = new HashSet<>();
    private final Map<Commits, CommitHistory> commits = new LinkedHashMap<>();
    private SimBroker broker;
    private final Map<Work, Long> work = new EnumMap<>(Work.class);
    private long records;
    private boolean harmed;
    private boolean diskFillsUp;

    /** What clients do, by kind. A kind that does nothing tests nothing, which must not go unnoticed. */
    public enum Work {
        /** Acknowledged batches of producers that are not idempotent. */
        PLAIN_BATCHES,
        IDEMPOTENT_BATCHES,
        TRANSACTIONS_COMMITTED,
        TRANSACTIONS_ABORTED,
        /** Transactions that also commit offsets. */
        TRANSACTIONS_WITH_OFFSETS,
        /** Records that consumers of all records have read. */
        RECORDS_READ,
        /** Records that consumers of committed records have read. */
        COMMITTED_RECORDS_READ,
        POSITIONS_COMMITTED,
        CLASSIC_MEMBERS_COMMITS,
        CONSUMER_MEMBERS_COMMITS,
        TOPICS_CREATED,
        TOPICS_DELETED,
        RECORDS_DELETED
    }

    private record Commits(String group, PartitionHistory partition) {}

    /** Hears what clients learn about records, at the moment when the broker responds. */
    public interface Listener {
        /** The broker acknowledges a record at {@code offset}. */
        void onAcknowledged(PartitionHistory partition, SentRecord record, long offset, long nowMs);

        /** A client reads a record. */
        void onRead(PartitionHistory partition, LogReader.Found found, long nowMs);

        /** A client that reads only committed records reads one, after {@link #onRead} was called for it. */
        void onCommittedRead(PartitionHistory partition, LogReader.Found found);

        /** Fsynced data were damaged. */
        void onHarmed();
    }

    public World(Scheduler scheduler, Random random, Violations violations, Listener listener) {
        this.scheduler = scheduler;
        this.random = random;
        this.violations = violations;
        this.listener = listener;
    }

    /** The broker in its current life. */
    public SimBroker broker() {
        return broker;
    }

    /** A life of the broker begins. */
    public void setBroker(SimBroker next) {
        broker = next;
    }

    /** Fsynced data were damaged. From now on, data may be missing or refused, but nothing wrong may be served. */
    public void setHarmed() {
        harmed = true;
        listener.onHarmed();
    }

    /** Whether fsynced data were damaged. */
    public boolean isHarmed() {
        return harmed;
    }

    /** The disk is so small that it becomes full, see {@link #diskFillsUp}. */
    public void setDiskFillsUp() {
        diskFillsUp = true;
    }

    /**
     * Whether records may be deleted before the state of their producers is saved, because only deletion makes space.
     */
    boolean diskFillsUp() {
        return diskFillsUp;
    }

    /** Number of acknowledgements and reads of records so far. */
    public long records() {
        return records;
    }

    /** What the clients have done so far. */
    public Map<Work, Long> work() {
        return Collections.unmodifiableMap(work);
    }

    /** A client has done something. */
    void did(Work kind, long count) {
        work.merge(kind, count, Long::sum);
    }

    /** The commits of a group for a partition. */
    CommitHistory commits(String group, PartitionHistory partition) {
        return commits.computeIfAbsent(new Commits(group, partition), key -> new CommitHistory(group, partition));
    }

    /** The commits of all groups for all partitions that exist. */
    public List<CommitHistory> allCommits() {
        commits.keySet().removeIf(key -> key.partition().isGone());
        return List.copyOf(commits.values());
    }

    Random random() {
        return random;
    }

    Scheduler scheduler() {
        return scheduler;
    }

    Violations violations() {
        return violations;
    }

    long nowMs() {
        return scheduler.nowMs();
    }

    /** The time of day in the simulation. */
    public long clockMs() {
        return SimClock.EPOCH_MS + scheduler.nowMs();
    }

    /** Runs {@code work} after a random time, if the life of the broker has not ended by then. */
    void later(long longestMs, Runnable work) {
        SimBroker now = broker;
        scheduler.later(TimeUnit.MILLISECONDS.toNanos(longestMs), () -> {
            if (broker == now) {
                work.run();
            }
        });
    }

    /** Delivers a response to its client after a random time. */
    void deliver(Runnable work) {
        SimBroker now = broker;
        scheduler.later(LONGEST_DELIVERY_NANOS, () -> {
            if (broker == now) {
                work.run();
            }
        });
    }

    void onAcknowledged(PartitionHistory partition, SentRecord record, long offset) {
        records++;
        scheduler.trace().add(record.id().hashCode(), offset);
        listener.onAcknowledged(partition, record, offset, nowMs());
    }

    /** A client reads records. */
    void onRead(PartitionHistory partition, List<LogReader.Found> found, boolean readCommitted) {
        records += found.size();
        for (LogReader.Found one : found) {
            scheduler.trace().add(one.id() == null ? 0 : one.id().hashCode(), one.offset());
            listener.onRead(partition, one, nowMs());
            if (readCommitted) {
                listener.onCommittedRead(partition, one);
            }
        }
    }

    /** All records of a partition were read after a restart. */
    public void onReadBack(PartitionHistory partition, List<LogReader.Found> found) {
        onRead(partition, found, false);
    }

    /** Reports a violation. */
    public void report(String invariant, String details) {
        violations.report(invariant, details);
    }

    /** Runs the simulation until {@code done}, or until no event is left. */
    public void runUntil(BooleanSupplier done) {
        if (!scheduler.runUntil(done)) {
            violations.report("EveryRequestGetsAResponse", "no event is left");
        }
    }

    void onProducerId(long producerId) {
        // A damaged metadata log may have lost the last assigned id.
        if (!producerIds.add(producerId) && !harmed) {
            violations.report("ProducerIdsAreUnique", "producer id " + producerId + " was assigned twice");
        }
    }
}
