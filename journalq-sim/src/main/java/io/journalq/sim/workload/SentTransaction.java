package io.journalq.sim.workload;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One transaction of a simulated producer, and what is known of it. */
public final class SentTransaction {
    private final String name;
    private final Map<PartitionHistory, List<SentRecord>> records = new LinkedHashMap<>();
    private Boolean asked;
    private boolean answered;

    SentTransaction(String name) {
        this.name = name;
    }

    public String name() {
        return name;
    }

    /** What it wrote, by partition, whether or not it arrived. */
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

    void onAsked(boolean commit) {
        asked = commit;
    }

    void onAnswered() {
        answered = true;
    }

    /** Whether anybody asked to commit it. */
    public boolean mayBeCommitted() {
        return asked != null && asked;
    }

    /** Whether its producer was told that it is committed. */
    public boolean isCommitted() {
        return answered && asked;
    }

    /** Whether its producer was told that it is aborted. */
    public boolean isAborted() {
        return answered && !asked;
    }

    @Override
    public String toString() {
        String end = asked == null ? "not ended" : asked ? "to commit" : "to abort";
        return "transaction " + name + " (" + end + (answered ? ", answered)" : ")");
    }
}
