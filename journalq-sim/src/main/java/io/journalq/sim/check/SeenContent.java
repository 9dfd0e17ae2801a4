package io.journalq.sim.check;

import io.journalq.sim.workload.LogReader;
import io.journalq.sim.workload.PartitionHistory;
import io.journalq.sim.workload.PartitionHistory.Seen;
import io.journalq.sim.workload.SentRecord;
import io.journalq.sim.workload.SentTransaction;
import io.journalq.sim.workload.World;
import io.journalq.sim.world.Violations;
import java.util.Map;

/**
 * An offset keeps its content: each client that reads it, or receives its acknowledgement, finds the same record. If a
 * loss was allowed, the offset may get another record, but only in a newer leader epoch. No record is served that no
 * producer sent.
 */
public final class SeenContent implements World.Listener {
    private static final String INVARIANT = "OffsetsKeepTheirContent";

    private final Violations violations;
    private boolean harmed;

    public SeenContent(Violations violations) {
        this.violations = violations;
    }

    /** On a damaged disk, leader epochs prove nothing, because the CRC of a batch does not cover them. */
    @Override
    public void onHarmed() {
        harmed = true;
    }

    @Override
    public void onAcknowledged(PartitionHistory partition, SentRecord record, long offset, long nowMs) {
        Seen before = partition.seen().get(offset);
        Seen known = before == null ? partition.deleted().get(offset) : before;
        if (known != null && !known.id().equals(record.id())) {
            // After damage to the transaction log, an epoch may be assigned twice, and a batch may be taken for a
            // duplicate.
            if (!harmed) {
                violations.report(
                        INVARIANT,
                        partition + " offset " + offset + " held " + known.id() + ", now " + record.id()
                                + " is acknowledged there");
            }
            return;
        }
        if (before == null || !before.acknowledged()) {
            int epoch = before == null ? -1 : before.leaderEpoch();
            partition.seen().put(offset, new Seen(record, epoch, nowMs, true));
        }
    }

    @Override
    public void onRead(PartitionHistory partition, LogReader.Found found, long nowMs) {
        SentRecord record = partition.find(found.id());
        if (record == null) {
            violations.report(
                    "CorruptionIsNeverServed",
                    partition + " offset " + found.offset() + " holds a record that no producer sent");
            return;
        }
        Seen before = partition.seen().get(found.offset());
        if (harmed && before != null && before.leaderEpoch() < 0 && !before.id().equals(found.id())) {
            // Only its producer knew the record, and received the acknowledgement of another one: see onAcknowledged.
            before = null;
        }
        // The CRC does not cover the offset of a batch. A batch that a flipped bit has moved may fit into a gap that
        // compaction left.
        boolean mayBeMoved = harmed && partition.plan().isCompacted();
        Seen deleted = partition.deleted().get(found.offset());
        if (deleted != null && !deleted.id().equals(found.id())) {
            if (!mayBeMoved) {
                violations.report(
                        INVARIANT,
                        partition + " offset " + found.offset() + " held " + deleted.id() + ", which was deleted, now "
                                + found.id());
            }
            return;
        }
        if (before == null) {
            checkNewEpoch(partition, found);
            partition.seen().put(found.offset(), new Seen(record, found.leaderEpoch(), nowMs, false));
        } else if (!before.id().equals(found.id())) {
            if (!mayBeMoved) {
                violations.report(
                        INVARIANT,
                        partition + " offset " + found.offset() + " held " + before.id() + ", now " + found.id());
            }
        } else if (before.leaderEpoch() < 0) {
            partition
                    .seen()
                    .put(found.offset(), new Seen(record, found.leaderEpoch(), before.atMs(), before.acknowledged()));
        } else if (before.leaderEpoch() != found.leaderEpoch() && !harmed) {
            violations.report(
                    INVARIANT,
                    partition + " offset " + found.offset() + " was of epoch " + before.leaderEpoch() + ", now "
                            + found.leaderEpoch());
        }
    }

    @Override
    public void onCommittedRead(PartitionHistory partition, LogReader.Found found) {
        SentRecord record = partition.find(found.id());
        SentTransaction transaction = record == null ? null : record.transaction();
        if (transaction != null && !harmed && (!transaction.mayBeCommitted() || transaction.isAborted())) {
            violations.report(
                    "OnlyCommittedRecordsAreVisible",
                    partition + " shows " + found + " of " + transaction + " to a reader of committed records");
        }
    }

    private void checkNewEpoch(PartitionHistory partition, LogReader.Found found) {
        Map.Entry<Long, Integer> lost = partition.lostEpochs().floorEntry(found.offset());
        if (!harmed && lost != null && lost.getKey() == found.offset() && found.leaderEpoch() <= lost.getValue()) {
            violations.report(
                    INVARIANT,
                    partition + " offset " + found.offset() + " was lost in epoch " + lost.getValue()
                            + " and comes back in epoch " + found.leaderEpoch() + " with " + found.id());
        }
    }
}
