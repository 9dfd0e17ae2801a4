package io.journalq.server.shard.coordinator.group;

import io.journalq.server.group.GroupCount;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The groups of every partition of the groups' topic, held against one limit. Any thread. */
final class GroupCounts {
    private final int limit;
    private final Map<Integer, Integer> countByPartition = new ConcurrentHashMap<>();

    /** @param limit most groups of all partitions together, but for those that begin in the same moment on several */
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

    /** Of all partitions. */
    long total() {
        return countByPartition.values().stream().mapToLong(Integer::longValue).sum();
    }
}
