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

/** What all clients of one simulation share. */
public final class World {
    private static final long LONGEST_WAY_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

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

    /** What clients get done, by kind: a kind that does nothing finds nothing, and nobody would notice. */
    public enum Work {
        /** Batches that were acknowledged. */
        PLAIN_BATCHES,
        IDEMPOTENT_BATCHES,
        TRANSACTIONS_COMMITTED,
        TRANSACTIONS_ABORTED,
        /** Of positions as well as records. */
        TRANSACTIONS_WITH_OFFSETS,
        /** By consumers of all records. */
        RECORDS_READ,
        /** By consumers of committed records. */
        COMMITTED_RECORDS_READ,
        POSITIONS_COMMITTED,
        CLASSIC_MEMBERS_COMMITS,
        CONSUMER_MEMBERS_COMMITS,
        TOPICS_CREATED,
        TOPICS_DELETED,
        RECORDS_DELETED
    }

    private record Commits(String group, PartitionHistory partition) {}

    /** Hears what clients learn about records, at the moment when they learn it. */
    public interface Listener {
        /** A producer is told that its record is at {@code offset}. */
        void onAcknowledged(PartitionHistory partition, SentRecord record, long offset, long nowMs);

        /** A client reads a record. */
        void onRead(PartitionHistory partition, LogReader.Found found, long nowMs);

        /** A client that reads only committed records reads one; {@link #onRead} has heard of it before. */
        void onCommittedRead(PartitionHistory partition, LogReader.Found found);

        /** Synced data were damaged. */
        void onHarmed();
    }

    public World(Scheduler scheduler, Random random, Violations violations, Listener listener) {
        this.scheduler = scheduler;
        this.random = random;
        this.violations = violations;
        this.listener = listener;
    }

    /** The broker's life of now. */
    public SimBroker broker() {
        return broker;
    }

    /** A new life of the broker. */
    public void setBroker(SimBroker next) {
        broker = next;
    }

    /** Synced data were damaged: things may be missing or refused from now on, but nothing wrong may be served. */
    public void setHarmed() {
        harmed = true;
        listener.onHarmed();
    }

    /** Whether synced data were damaged. */
    public boolean isHarmed() {
        return harmed;
    }

    /** The disk has so little room that it fills up: see {@link #diskFillsUp}. */
    public void setDiskFillsUp() {
        diskFillsUp = true;
    }

    /** Whether records may be deleted without the state of their producers being kept first, as only that makes room. */
    boolean diskFillsUp() {
        return diskFillsUp;
    }

    /** Records that were acknowledged or read so far, each time counted. */
    public long records() {
        return records;
    }

    /** What clients got done so far. */
    public Map<Work, Long> work() {
        return Collections.unmodifiableMap(work);
    }

    /** A client got something done. */
    void did(Work kind, long count) {
        work.merge(kind, count, Long::sum);
    }

    /** What a group committed for a partition. */
    CommitHistory commits(String group, PartitionHistory partition) {
        return commits.computeIfAbsent(new Commits(group, partition), key -> new CommitHistory(group, partition));
    }

    /** What every group committed for every partition that is there. */
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

    /** The time of day that the broker knows. */
    public long clockMs() {
        return SimClock.EPOCH_MS + scheduler.nowMs();
    }

    /** Runs {@code work} after a random time, in this life of the broker only. */
    void later(long longestMs, Runnable work) {
        SimBroker now = broker;
        scheduler.soon(Scheduler.Kind.CLIENT, TimeUnit.MILLISECONDS.toNanos(longestMs), () -> {
            if (broker == now) {
                work.run();
            }
        });
    }

    /** An answer travels to its client. */
    void deliver(Runnable work) {
        SimBroker now = broker;
        scheduler.soon(Scheduler.Kind.CLIENT, LONGEST_WAY_NANOS, () -> {
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

    /** Somebody reads records; some readers want them only when their transactions are committed. */
    void onRead(PartitionHistory partition, List<LogReader.Found> found, boolean readCommitted) {
        records += found.size();
        for (LogReader.Found one : found) {
            scheduler.trace().add(one.record() == null ? 0 : one.id().hashCode(), one.offset());
            listener.onRead(partition, one, nowMs());
            if (readCommitted) {
                listener.onCommittedRead(partition, one);
            }
        }
    }

    /** Everything that a partition holds after a restart. */
    public void onReadBack(PartitionHistory partition, List<LogReader.Found> found) {
        onRead(partition, found, false);
    }

    /** Reports a broken promise. */
    public void report(String invariant, String details) {
        violations.report(invariant, details);
    }

    /** Has time pass until {@code done}, or until nothing more can happen. */
    public void runUntil(BooleanSupplier done) {
        if (!scheduler.runUntil(done)) {
            violations.report("EveryRequestIsAnswered", "nothing more happens");
        }
    }

    void onProducerId(long producerId) {
        // A damaged metadata log may have forgotten which ids are given.
        if (!producerIds.add(producerId) && !harmed) {
            violations.report("IdsAreGivenOnce", "producer id " + producerId + " was given twice");
        }
    }
}
