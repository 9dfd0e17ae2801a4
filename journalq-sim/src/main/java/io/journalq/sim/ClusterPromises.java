package io.journalq.sim;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.Message;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.MetadataMachine;
import io.journalq.server.metadata.partition.PartitionImage;
import io.journalq.server.shard.partition.ReplicaStatus;
import io.journalq.sim.check.AcknowledgedByAllIsKept;
import io.journalq.sim.check.AcknowledgedIsKept;
import io.journalq.sim.check.ClusterReplicas;
import io.journalq.sim.check.CommittedStaysCommitted;
import io.journalq.sim.check.CommittedViewIsRight;
import io.journalq.sim.check.ConsistentLosesNothing;
import io.journalq.sim.check.CopiesAreExactlyOnce;
import io.journalq.sim.check.DamageIsHealed;
import io.journalq.sim.check.EpochsHaveOneLeader;
import io.journalq.sim.check.FencedBrokersLeadNothing;
import io.journalq.sim.check.HighWatermarkWaits;
import io.journalq.sim.check.IdsAreGivenOnce;
import io.journalq.sim.check.InSyncReplicasHoldTheCommitted;
import io.journalq.sim.check.LastStableOffsetMovesOn;
import io.journalq.sim.check.LogsHaveNoGaps;
import io.journalq.sim.check.LoneAcknowledgementsAreBounded;
import io.journalq.sim.check.MetadataLogsArePrefixes;
import io.journalq.sim.check.NobodyCutsBelowItsHighWatermark;
import io.journalq.sim.check.OffsetsKeepTheirRecords;
import io.journalq.sim.check.PositionsAreKept;
import io.journalq.sim.check.PowerLosses;
import io.journalq.sim.check.ReplicasHoldTheSame;
import io.journalq.sim.check.TransactionsAreWhole;
import io.journalq.sim.cluster.ClusterClients;
import io.journalq.sim.cluster.ClusterListener;
import io.journalq.sim.cluster.ClusterPartition;
import io.journalq.sim.cluster.CopyJob;
import io.journalq.sim.workload.LogReader;
import io.journalq.sim.workload.World.Work;
import io.journalq.sim.world.Scheduler;
import io.journalq.sim.world.SimBroker;
import io.journalq.sim.world.SimMachine;
import io.journalq.sim.world.SimQuorum;
import io.journalq.sim.world.Violations;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;
import java.util.function.IntFunction;

/**
 * The promises of a simulated cluster: learns what brokers and clients do, and compares it with what is left in the end.
 * One thread.
 */
final class ClusterPromises implements ClusterListener, SimQuorum.Listener {
    private static final int NO_LIMIT = 1_000_000;
    private static final int FLUSHER_TICK_MS = 50;
    private static final int PARTS_PER_MILLION = 1_000_000;
    /** A loop that is busy looks later. */
    private static final int LONE_SLACK_MS = 60;

    private final ClusterScenario scenario;
    private final Scheduler scheduler;
    private final IntFunction<SimMachine> machines;
    private final Function<String, CopyJob> jobs;
    private final MetadataLogsArePrefixes logs;
    private final IdsAreGivenOnce ids;
    private final AcknowledgedIsKept acknowledged;
    private final PowerLosses powerLosses;
    private final AcknowledgedByAllIsKept acknowledgedByAll;
    private final LoneAcknowledgementsAreBounded acknowledgedAlone;
    private final ConsistentLosesNothing consistent;
    private final LogsHaveNoGaps gaps;
    /** The processes whose logs were checked when they had begun to serve. */
    private final Map<Integer, SimBroker> recovered = new HashMap<>();

    private final InSyncReplicasHoldTheCommitted inSync;
    private final EpochsHaveOneLeader epochs;
    private final FencedBrokersLeadNothing fenced;
    private final HighWatermarkWaits highWatermarks;
    private final NobodyCutsBelowItsHighWatermark cuts;
    private final ReplicasHoldTheSame replicas;
    private final DamageIsHealed damage;
    private final OffsetsKeepTheirRecords offsets;
    private final PositionsAreKept positions;
    private final TransactionsAreWhole transactions;
    private final CommittedViewIsRight committedView;
    private final CommittedStaysCommitted committedForGood;
    private final CopiesAreExactlyOnce copies;
    private final LastStableOffsetMovesOn stable;
    private final Map<Work, Long> work = new EnumMap<>(Work.class);

    /**
     * Nothing has happened yet.
     *
     * @param machines the machine of a broker
     * @param jobs the job with a group; null if there is none
     */
    ClusterPromises(
            ClusterScenario scenario,
            Scheduler scheduler,
            Random random,
            Violations violations,
            IntFunction<SimMachine> machines,
            Function<String, CopyJob> jobs) {
        this.scenario = scenario;
        this.scheduler = scheduler;
        this.machines = machines;
        this.jobs = jobs;
        this.logs = new MetadataLogsArePrefixes(
                violations, new MetadataMachine(new MetadataMachine.Limits(0, 1, NO_LIMIT, NO_LIMIT)));
        this.ids = new IdsAreGivenOnce(violations);
        this.offsets = new OffsetsKeepTheirRecords(violations);
        this.acknowledged = new AcknowledgedIsKept(violations, lossBoundMs(scenario));
        this.powerLosses = new PowerLosses(logs::newest, lossBoundMs(scenario));
        this.acknowledgedByAll = new AcknowledgedByAllIsKept(violations, powerLosses);
        this.acknowledgedAlone = new LoneAcknowledgementsAreBounded(violations, powerLosses, loneBoundMs(scenario));
        this.consistent = new ConsistentLosesNothing(violations);
        this.gaps = new LogsHaveNoGaps(violations, ClusterScenario.DATA);
        this.inSync = new InSyncReplicasHoldTheCommitted(violations);
        this.epochs = new EpochsHaveOneLeader(violations);
        this.fenced = new FencedBrokersLeadNothing(violations);
        this.highWatermarks = new HighWatermarkWaits(violations);
        this.cuts = new NobodyCutsBelowItsHighWatermark(violations);
        this.replicas = new ReplicasHoldTheSame(violations, ClusterScenario.DATA);
        this.damage = new DamageIsHealed(violations, ClusterScenario.DATA, random, cuts::onDamage);
        this.positions = new PositionsAreKept(violations);
        this.transactions = new TransactionsAreWhole(violations);
        this.committedView = new CommittedViewIsRight(violations);
        this.committedForGood = new CommittedStaysCommitted(violations);
        this.copies = new CopiesAreExactlyOnce(violations);
        this.stable = new LastStableOffsetMovesOn(violations);
    }

    /** What a power loss can take in mode {@code eventual}, see docs/explanation/durability.md. */
    private static long lossBoundMs(ClusterScenario scenario) {
        long roundMs = FLUSHER_TICK_MS / 2 + 5 * scenario.world().longestPoolDelayMs();
        // Measured by the clock of the machine, which may be slow.
        long intervalMs = scenario.flushIntervalMs() + FLUSHER_TICK_MS;
        return intervalMs + intervalMs * scenario.world().largestDriftPpm() / PARTS_PER_MILLION + 2 * roundMs;
    }

    /** How much a leader can acknowledge that no other in-sync replica has. */
    private static long loneBoundMs(ClusterScenario scenario) {
        long lagMs = ClusterScenario.REPLICATION_LAG_MS;
        return lagMs + lagMs * scenario.world().largestDriftPpm() / PARTS_PER_MILLION + LONE_SLACK_MS;
    }

    /** The newest committed metadata. */
    MetadataImage metadata() {
        return logs.newest();
    }

    /** Number of records that were acknowledged or seen. */
    long records() {
        return acknowledged.records()
                + acknowledgedByAll.records()
                + acknowledgedAlone.records()
                + consistent.records();
    }

    /** What clients have done. */
    Map<Work, Long> work() {
        return work;
    }

    // ---- faults

    /** A machine has lost power. */
    void onPowerLoss(SimMachine machine) {
        int id = machine.node().id();
        acknowledged.onPowerLoss(id, machine.servedUntilMs());
        powerLosses.add(id, machine.servedUntilMs(), scheduler.nowMs());
        cuts.onPowerLoss(logs.newest(), id);
    }

    /** The files of a replica were deleted while its broker was down. */
    void onFilesLost(ClusterReplicas.Id partition, int broker) {
        cuts.onFilesLost(partition, broker);
    }

    /** Changes a bit of a broker's replicas, if another one can heal it. */
    void damage(ClusterReplicas now, SimMachine machine) {
        damage.damage(now, machine.node().id(), machine.node().disk());
    }

    /** Whether all replicas have the right bytes. */
    boolean isHealed() {
        return damage.isHealed();
    }

    /** Reports the replicas that are not healed. */
    void checkHealed(ClusterReplicas now) {
        damage.check(now);
    }

    // ---- the replicas at any time

    /** The replicas of the brokers that run. */
    ClusterReplicas replicas(List<SimMachine> all) {
        ClusterReplicas now = new ClusterReplicas(logs.newest());
        for (SimMachine machine : all) {
            if (machine.broker() != null && machine.broker().isRunning()) {
                now.add(machine.node().id(), machine.broker().replicas());
                // A changed bit of an offset is a gap as well.
                boolean first = recovered.put(machine.node().id(), machine.broker()) != machine.broker();
                if (first && damage.isHealed()) {
                    gaps.onRecovered(
                            logs.newest(), machine.node().id(), machine.node().disk());
                }
            }
        }
        return now;
    }

    /** Checks what holds at any time. */
    void onReplicas(ClusterReplicas now) {
        epochs.onReplicas(now);
        inSync.onReplicas(now);
        highWatermarks.onReplicas(now);
        cuts.onReplicas(now);
    }

    // ---- in the end

    /** Reports transactions that have not ended. */
    void checkEnded(List<LogReader.Reading> committed) {
        stable.check(committed);
    }

    /** All partitions are about to be read from the beginning. */
    void onReadBack() {
        acknowledged.onReadBack();
        acknowledgedByAll.onReadBack();
        acknowledgedAlone.onReadBack();
        consistent.onReadBack();
    }

    /** All partitions have been read from the beginning. */
    void checkRead(ClusterClients clients) {
        acknowledged.check();
        acknowledgedByAll.check();
        acknowledgedAlone.check();
        consistent.check();
        if (keepsPositions()) {
            clients.jobs().forEach(job -> checkCopies(job, clients));
        }
    }

    /** Committed offsets are in mode eventual, so that power losses can take them. */
    boolean keepsPositions() {
        return !scenario.losesPower();
    }

    private void checkCopies(CopyJob job, ClusterClients clients) {
        copies.check(
                job,
                clients.committed(job.input()),
                job.outputs().stream().map(clients::committed).toList());
    }

    /** Compares the files of all replicas. */
    void checkFiles(List<SimMachine> all) {
        replicas.check(
                logs.newest(),
                all.stream().map(machine -> machine.node().id()).toList(),
                id -> machines.apply(id).node().disk());
    }

    /** Compares what consumers of each replica see of transactions. All replicas have been read. */
    void checkReplicas(ClusterClients clients) {
        for (ClusterClients.Replica replica : clients.replicas()) {
            LogReader.Reading committed = replica.committed();
            committedView.check(committed, replica.everything());
            committedForGood.check(replica.partition(), committed);
        }
        transactions.check(
                clients.replicas().stream()
                        .map(ClusterClients.Replica::everything)
                        .toList(),
                clients.transactions());
    }

    // ---- what brokers and clients learn

    @Override
    public void onReplay(int nodeId, long offset, List<Message> records) {
        scheduler.trace().add(nodeId, offset);
        ids.onReplay(offset, records);
        if (logs.onReplay(nodeId, offset, records)) {
            epochs.onMetadata(logs.newest());
            fenced.onMetadata(logs.newest());
            acknowledgedAlone.onMetadata(logs.newest(), scheduler.nowMs());
            cuts.onMetadata(logs.newest());
        }
    }

    @Override
    public void onRestore(int nodeId, long offset, List<Message> snapshot) {
        scheduler.trace().add(nodeId, -offset);
        logs.onRestore(nodeId, offset, snapshot);
    }

    @Override
    public void onAcknowledged(ClusterPartition partition, int leader, long offset, String id) {
        scheduler.trace().add(id.hashCode(), offset);
        if (partition.replicated() && partition.isConsistent()) {
            consistent.onAcknowledged(partition, leader, offset, id);
        } else if (partition.replicated() && partition.isAcknowledgedAlone()) {
            ReplicaStatus replica = replicaOf(partition, leader);
            if (replica != null && hasOthersInSync(partition)) {
                acknowledgedAlone.onAcknowledged(
                        partition,
                        leader,
                        replica,
                        offset,
                        id,
                        scheduler.nowMs(),
                        machines.apply(leader).node().process().runningMs());
            }
        } else if (partition.replicated()) {
            acknowledgedByAll.onAcknowledged(partition, leader, offset, id, scheduler.nowMs());
        } else {
            acknowledged.onAcknowledged(partition, leader, offset, id, scheduler.nowMs());
        }
    }

    private boolean hasOthersInSync(ClusterPartition partition) {
        return stateOf(partition).inSyncReplicas().size() > 1;
    }

    private PartitionImage stateOf(ClusterPartition partition) {
        return logs.newest().topic(partition.topic()).partitions().get(partition.partition());
    }

    /** The replica of a broker; null if it has none any more. */
    private ReplicaStatus replicaOf(ClusterPartition partition, int broker) {
        return machines.apply(broker).broker().replicas().stream()
                .filter(replica -> replica.name().topic().equals(partition.topic())
                        && replica.name().partition() == partition.partition())
                .findFirst()
                .orElse(null);
    }

    @Override
    public void onRead(ClusterPartition partition, LogReader.Found found, boolean committed) {
        long offset = found.offset();
        String id = found.id();
        offsets.onRead(partition, stateOf(partition).recoveryEpoch(), offset, found.leaderEpoch(), id);
        if (committed) {
            committedForGood.onRead(partition, found);
        }
        if (partition.replicated() && partition.isConsistent()) {
            consistent.onRead(partition, offset, id);
        } else if (partition.replicated() && partition.isAcknowledgedAlone()) {
            acknowledgedAlone.onRead(partition, offset, found.leaderEpoch(), id, scheduler.nowMs());
        } else if (partition.replicated()) {
            acknowledgedByAll.onRead(partition, offset, id, scheduler.nowMs());
        } else {
            acknowledged.onRead(partition, offset, id);
        }
    }

    @Override
    public void onTransactionEnded(String transactionalId, boolean commit) {
        scheduler.trace().add(transactionalId.hashCode(), commit ? 1 : 0);
        work.merge(commit ? Work.TRANSACTIONS_COMMITTED : Work.TRANSACTIONS_ABORTED, 1L, Long::sum);
    }

    @Override
    public void onCommitted(String group, long offset) {
        scheduler.trace().add(group.hashCode(), offset);
        positions.onCommitted(group, offset);
    }

    @Override
    public void onCommit(String group, long offset) {
        positions.onCommit(group, offset);
    }

    @Override
    public void onPosition(String group, long offset) {
        CopyJob job = jobs.apply(group);
        if (job != null) {
            copies.onPosition(job, offset);
        } else if (keepsPositions()) {
            positions.onRead(group, offset);
        }
    }

    @Override
    public void onProducerId(long producerId) {
        ids.onProducerId(producerId);
    }

    @Override
    public void onTopic(String name, Uuid id) {
        ids.onTopic(name, id);
    }
}
