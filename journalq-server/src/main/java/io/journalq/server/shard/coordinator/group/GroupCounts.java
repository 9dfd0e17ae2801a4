package io.journalq.server.shard.coordinator.group;

import io.journalq.server.group.GroupLimits.GroupCount;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The total number of groups in all partitions of the group topic, and its limit. Any thread. */
final class GroupCounts {
    private final int limit;
    private final Map<Integer, Integer> countByPartition = new ConcurrentHashMap<>();

    /**
     * @param limit maximum number of groups in all partitions. Groups that are created at the same moment on several
     *     partitions may exceed it
     */
    GroupCounts(int limit) {
        this.limit = limit;
    }

    GroupCount of(int partition) {
        return new GroupCount() {
            @Override
            public void set(int groups) {
                countByPartition.put(partition, groups);
            }

            @Override
            public boolean isFull() {
                return total() >= limit;
            }
        };
    }

    /** In all partitions. */
    long total() {
        return countByPartition.values().stream().mapToLong(Integer::longValue).sum();
    }
}
