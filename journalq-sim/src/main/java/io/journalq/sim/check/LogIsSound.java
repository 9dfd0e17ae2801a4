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

/** No idempotent record is there twice, a producer's records are in its order, offsets and epochs rise. */
public final class LogIsSound {
    private final Violations violations;

    public LogIsSound(Violations violations) {
        this.violations = violations;
    }

    /**
     * Looks through everything that a partition holds.
     *
     * @param harmed whether synced data were damaged: leader epochs, which no CRC covers, may then be wrong
     */
    public void check(PartitionHistory partition, ReadBack found, boolean harmed) {
        Set<String> ids = new HashSet<>();
        Map<String, SentRecord> lastOf = new HashMap<>();
        LogReader.Found last = null;
        for (LogReader.Found record : found.records()) {
            if (last != null
                    && (record.offset() <= last.offset() || (record.leaderEpoch() < last.leaderEpoch() && !harmed))) {
                violations.report("OffsetsRise", partition + " has " + record + " behind " + last);
            }
            last = record;
            SentRecord sent = record.record();
            if (sent == null) {
                continue; // reported where it was read
            }
            if (!ids.add(sent.id())) {
                violations.report("NothingIsThereTwice", partition + " holds " + sent.id() + " again: " + record);
            }
            SentRecord before = lastOf.put(sent.producer(), sent);
            if (before != null && before.number() > sent.number()) {
                violations.report(
                        "OrderIsKept", partition + " holds " + sent.id() + " behind " + before.id() + ": " + record);
            }
        }
    }
}
