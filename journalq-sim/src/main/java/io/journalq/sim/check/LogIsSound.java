package io.journalq.sim.check;

import io.journalq.sim.workload.LogReader;
import io.journalq.sim.workload.PartitionHistory;
import io.journalq.sim.workload.ReadBack;
import io.journalq.sim.workload.SentRecord;
import io.journalq.sim.world.Violations;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** No record is duplicated, the records of each producer are in order, and offsets and leader epochs increase. */
public final class LogIsSound {
    private final Violations violations;

    public LogIsSound(Violations violations) {
        this.violations = violations;
    }

    /**
     * Checks all records of a partition.
     *
     * @param harmed whether fsynced data were damaged. Leader epochs may then be wrong, because the CRC does not cover
     *     them
     */
    public void check(PartitionHistory partition, ReadBack found, boolean harmed) {
        Set<String> ids = new HashSet<>();
        Map<String, SentRecord> lastOf = new HashMap<>();
        LogReader.Found last = null;
        for (LogReader.Found record : found.records()) {
            if (last != null
                    && (record.offset() <= last.offset() || (record.leaderEpoch() < last.leaderEpoch() && !harmed))) {
                violations.report("OffsetsIncrease", partition + " has " + record + " after " + last);
            }
            last = record;
            SentRecord sent = partition.find(record.id());
            if (sent == null) {
                continue; // reported when it was read
            }
            if (!ids.add(sent.id())) {
                violations.report(
                        "RecordsAreNotDuplicated", partition + " holds a duplicate of " + sent.id() + ": " + record);
            }
            SentRecord before = lastOf.put(sent.producer(), sent);
            if (before != null && before.number() > sent.number()) {
                violations.report(
                        "OrderIsKept", partition + " holds " + sent.id() + " after " + before.id() + ": " + record);
            }
        }
    }
}
