package io.journalq.server.group;

import io.journalq.server.coordinator.CoordinatorRecord;
import io.journalq.server.coordinator.Outbox;
import io.journalq.server.group.consumer.EmbeddedProtocol;
import io.journalq.server.group.model.Group;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The retention of committed offsets: deletes the offsets that no member needs when their retention time is over, and
 * the empty groups that have no offsets left. On the thread of the machine.
 */
final class OffsetExpiry {
    private final CommittedOffsets offsets;
    private final Map<String, Group> groups;
    private final long retentionMs;
    private final Outbox outbox;

    /**
     * Creates the retention of the offsets of a machine.
     *
     * @param groups the groups of the machine, by id
     * @param retentionMs how long an offset is kept after its commit, and after its group has become empty
     */
    OffsetExpiry(CommittedOffsets offsets, Map<String, Group> groups, long retentionMs, Outbox outbox) {
        this.offsets = offsets;
        this.groups = groups;
        this.retentionMs = retentionMs;
        this.outbox = outbox;
    }

    /** Deletes expired offsets: those of groups that have no members or are not subscribed to the topic. */
    void expire(long nowMs) {
        List<CoordinatorRecord> expired = new ArrayList<>();
        offsets.forEachTopic((groupId, topic, ofTopic) -> {
            // Called once for each topic: the result depends on the subscription of every member of the group.
            Group group = groups.get(groupId);
            if (isKept(group, topic)) {
                return;
            }
            ofTopic.forEach((partition, offset) -> {
                if (isExpired(group, offset, nowMs) && !offsets.isPending(groupId, topic, partition)) {
                    expired.add(CoordinatorRecord.tombstone(CommittedOffsets.key(groupId, topic, partition)));
                }
            });
        });
        OffsetAppends.append(outbox, expired);
        List<CoordinatorRecord> emptied = new ArrayList<>();
        for (Group group : groups.values()) {
            long sinceMs = group.emptySinceMs();
            boolean old = sinceMs >= 0 && nowMs - sinceMs >= retentionMs;
            if (group.isEmpty() && old && !offsets.hasOffsets(group.id())) {
                emptied.addAll(group.tombstones());
            }
        }
        outbox.append(emptied);
    }

    /**
     * Whether a group's members may need its offsets in a topic, because they are subscribed to it or their
     * subscription is unknown.
     */
    private static boolean isKept(Group group, String topic) {
        if (group == null || group.isEmpty()) {
            return false;
        }
        return !group.protocolType().equals(EmbeddedProtocol.TYPE) || group.isSubscribedTo(topic);
    }

    private boolean isExpired(Group group, GroupOffset offset, long nowMs) {
        long sinceMs = group != null && group.isEmpty()
                ? Math.max(offset.commitTimestampMs(), group.emptySinceMs())
                : offset.commitTimestampMs();
        return nowMs - sinceMs >= retentionMs;
    }
}
