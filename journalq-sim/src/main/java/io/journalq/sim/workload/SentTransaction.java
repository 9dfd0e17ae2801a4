package io.journalq.sim.workload;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A transaction of a simulated producer. */
public final class SentTransaction {
    private final String name;
    private final Map<PartitionHistory, List<SentRecord>> records = new LinkedHashMap<>();
    private Boolean commitRequested;
    private boolean acknowledged;

    SentTransaction(String name) {
        this.name = name;
    }

    public String name() {
        return name;
    }

    /** Its records by partition, whether or not they arrived. */
    public Map<PartitionHistory, List<SentRecord>> records() {
        return records;
    }

    PartitionHistory firstPartition() {
        return records.keySet().iterator().next();
    }

    void add(PartitionHistory partition, SentRecord record) {
        records.computeIfAbsent(partition, none -> new ArrayList<>()).add(record);
        record.setTransaction(this);
    }

    void onEnding(boolean commit) {
        commitRequested = commit;
    }

    void onAcknowledged() {
        acknowledged = true;
    }

    /** Whether its producer asked to commit it. */
    public boolean mayBeCommitted() {
        return commitRequested != null && commitRequested;
    }

    /** Whether its commit was acknowledged. */
    public boolean isCommitted() {
        return acknowledged && commitRequested;
    }

    /** Whether its abort was acknowledged. */
    public boolean isAborted() {
        return acknowledged && !commitRequested;
    }

    @Override
    public String toString() {
        String end = commitRequested == null ? "not ended" : commitRequested ? "to commit" : "to abort";
        return "transaction " + name + " (" + end + (acknowledged ? ", acknowledged)" : ")");
    }
}
