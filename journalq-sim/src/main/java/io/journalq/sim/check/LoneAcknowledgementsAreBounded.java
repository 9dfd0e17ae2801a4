package io.journalq.sim.check;

import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.metadata.partition.PartitionImage;
import io.journalq.server.shard.partition.ReplicaStatus;
import io.journalq.sim.cluster.ClusterPartition;
import io.journalq.sim.world.Violations;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * What a replicated partition has acknowledged with acks=1 or in delivery mode {@code performance} can be lost with its
 * leader: at most the records of {@code replication.lag.max.ms} for each leader and epoch, without the time for which the
 * leader was frozen, and never what a consumer has seen. Power losses can take more, see {@link PowerLosses}. So can the
 * loss of a leader while only that is in sync, as far as it knows, which is not checked. The bound counts again when
 * others are in sync after that.
 */
public final class LoneAcknowledgementsAreBounded {
    private static final String INVARIANT = "LoneAcknowledgementsAreBounded";
    private static final int NO_EPOCH = -1;

    /** For how long a leader that was replaced may return records, because it does not know it yet. */
    private static final long LATE_MS = 500;

    private final Violations violations;
    private final PowerLosses losses;
    private final long boundMs;
    private final Map<ClusterPartition, TreeMap<Long, Kept>> kept = new HashMap<>();
    private final Map<ClusterPartition, TreeMap<Long, String>> read = new HashMap<>();
    private final Map<Leader, Lost> lost = new HashMap<>();
    /** How often only one replica was in sync, by the name of the partition. */
    private final Map<String, Integer> timesAlone = new HashMap<>();

    /** The partition epochs in which only one replica was in sync, by the name of the partition. */
    private final Map<String, Set<Integer>> epochsAlone = new HashMap<>();

    /** The newest leader epochs, by the name of the partition. */
    private final Map<String, Epoch> leaderEpochs = new HashMap<>();

    private long records;

    /** A leader in one of its epochs, while others are in sync. */
    private record Leader(ClusterPartition partition, int broker, int epoch, int timesAlone) {}

    /**
     * A record that was acknowledged or seen.
     *
     * @param leader who acknowledged it; null if a consumer has seen it
     * @param epoch the leader epoch of the record
     * @param firstMs when the record was first acknowledged or seen
     * @param runningMs how long the leader had been running then
     */
    private record Kept(String id, Leader leader, int epoch, long firstMs, long runningMs) {
        Kept since(long earlierMs) {
            return new Kept(id, leader, epoch, Math.min(earlierMs, firstMs), runningMs);
        }
    }

    /** A leader epoch, and when the metadata with it were committed. */
    private record Epoch(int number, long sinceMs) {
        Epoch next(int newest, long nowMs) {
            return newest == number ? this : new Epoch(newest, nowMs);
        }
    }

    /** The first and the last lost record of a leader. */
    private record Lost(Kept first, Kept last) {}

    /** @param boundMs time in which records are acknowledged that can be lost together */
    public LoneAcknowledgementsAreBounded(Violations violations, PowerLosses losses, long boundMs) {
        this.violations = violations;
        this.losses = losses;
        this.boundMs = boundMs;
    }

    /** Number of acknowledgements and reads. */
    public long records() {
        return records;
    }

    /**
     * A leader acknowledges a record. A leader that was frozen may know only now that nobody else was in sync, and not yet
     * that another one leads.
     *
     * @param replica the leader's
     * @param runningMs how long it has been running
     */
    public void onAcknowledged(
            ClusterPartition partition,
            int broker,
            ReplicaStatus replica,
            long offset,
            String id,
            long nowMs,
            long runningMs) {
        if (epochsAlone.getOrDefault(partition.name(), Set.of()).contains(replica.partitionEpoch())) {
            return;
        }
        records++;
        int alone = timesAlone.getOrDefault(partition.name(), 0);
        Leader leader = new Leader(partition, broker, replica.leaderEpoch(), alone);
        keep(partition, offset, new Kept(id, leader, replica.leaderEpoch(), nowMs, runningMs));
    }

    /** Metadata are committed. A leader that was frozen may come to know later that only it was in sync. */
    public void onMetadata(MetadataImage metadata, long nowMs) {
        for (TopicImage topic : metadata.topics()) {
            for (int number = 0; number < topic.partitions().size(); number++) {
                PartitionImage partition = topic.partitions().get(number);
                String name = topic.name() + "-" + number;
                leaderEpochs.put(
                        name,
                        leaderEpochs
                                .getOrDefault(name, new Epoch(NO_EPOCH, nowMs))
                                .next(partition.leaderEpoch(), nowMs));
                if (partition.replicas().size() > 1
                        && partition.inSyncReplicas().size() == 1
                        && epochsAlone
                                .computeIfAbsent(name, none -> new HashSet<>())
                                .add(partition.partitionEpoch())) {
                    timesAlone.merge(name, 1, Integer::sum);
                }
            }
        }
    }

    /** A leader returns a record. */
    public void onRead(ClusterPartition partition, long offset, int epoch, String id, long nowMs) {
        records++;
        Epoch newest = leaderEpochs.get(partition.name());
        // If the leader was replaced shortly before, the other replicas had the record then.
        boolean isLate = newest != null && epoch < newest.number() && nowMs - newest.sinceMs() <= LATE_MS;
        keep(partition, offset, new Kept(id, null, epoch, isLate ? newest.sinceMs() : nowMs, 0));
        read.computeIfAbsent(partition, none -> new TreeMap<>()).put(offset, id);
    }

    private void keep(ClusterPartition partition, long offset, Kept now) {
        TreeMap<Long, Kept> ofPartition = kept.computeIfAbsent(partition, none -> new TreeMap<>());
        Kept before = ofPartition.get(offset);
        // A leader that was frozen, and does not lead any more, can acknowledge what newer ones have replaced already.
        // Then its own record is lost. If a consumer gets a record of an older epoch again, that is a violation.
        Epoch newest = leaderEpochs.get(partition.name());
        int newestEpoch = newest == null ? NO_EPOCH : newest.number();
        if (before != null
                && !before.id().equals(now.id())
                && now.leader() != null
                && now.epoch() < Math.max(before.epoch(), newestEpoch)) {
            onLost(partition, offset, now, "holds " + before);
            return;
        }
        if (before != null && !before.id().equals(now.id())) {
            onLost(partition, offset, before, "now holds " + now);
        }
        // Of a record that is both, what matters is that it was seen.
        if (before == null || !before.id().equals(now.id())) {
            ofPartition.put(offset, now);
        } else if (now.leader() == null) {
            ofPartition.put(offset, now.since(before.firstMs()));
        }
    }

    private void onLost(ClusterPartition partition, long offset, Kept record, String instead) {
        if (losses.mayHaveTaken(partition, record.firstMs())) {
            return;
        }
        if (record.leader() == null) {
            violations.report(
                    INVARIANT,
                    partition + " has lost what a consumer has seen at offset " + offset + ": " + record + "; it "
                            + instead);
            return;
        }
        Lost all = lost.merge(
                record.leader(),
                new Lost(record, record),
                (known, one) -> new Lost(
                        one.first().runningMs() < known.first().runningMs() ? one.first() : known.first(),
                        one.last().runningMs() > known.last().runningMs() ? one.last() : known.last()));
        if (all.last().runningMs() - all.first().runningMs() > boundMs) {
            violations.report(
                    INVARIANT,
                    partition + " has lost records that were acknowledged within more than " + boundMs + " ms: " + all
                            + "; offset " + offset + " " + instead);
        }
    }

    /** Everything is about to be read from the beginning. */
    public void onReadBack() {
        read.clear();
    }

    /** Everything has been read from the beginning. */
    public void check() {
        kept.forEach((partition, all) -> {
            TreeMap<Long, String> present = read.getOrDefault(partition, new TreeMap<>());
            all.forEach((offset, record) -> {
                if (!present.containsKey(offset)) {
                    onLost(partition, offset, record, "is not there");
                }
            });
        });
    }
}
