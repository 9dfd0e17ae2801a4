package io.journalq.sim.workload;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What every group committed for every partition that is there. */
public final class CommitHistories {
    private final Map<Key, CommitHistory> histories = new LinkedHashMap<>();

    private record Key(String group, PartitionHistory partition) {}

    CommitHistory of(String group, PartitionHistory partition) {
        return histories.computeIfAbsent(new Key(group, partition), key -> new CommitHistory(group, partition));
    }

    /** Those of partitions that are there. */
    public List<CommitHistory> all() {
        histories.keySet().removeIf(key -> key.partition().isGone());
        return List.copyOf(histories.values());
    }
}
