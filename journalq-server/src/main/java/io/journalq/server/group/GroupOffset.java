package io.journalq.server.group;

import io.journalq.common.id.Uuid;
import io.journalq.server.group.record.OffsetCommitValue;

/**
 * The position of a group in a partition.
 *
 * @param leaderEpoch of the last record that was read, according to the client; -1 if unknown
 * @param partitionEpoch leader epoch of the partition at the time of the commit; -1 if unknown
 * @param metadata stored by the client
 * @param commitTimestampMs time of the commit, in milliseconds since 1970 UTC
 * @param topicId zero if unknown
 */
public record GroupOffset(
        long offset, int leaderEpoch, int partitionEpoch, String metadata, long commitTimestampMs, Uuid topicId) {
    static GroupOffset of(OffsetCommitValue value) {
        return new GroupOffset(
                value.offset(),
                value.leaderEpoch(),
                value.partitionEpoch(),
                value.metadata(),
                value.commitTimestamp(),
                value.topicId());
    }

    /** No record before the offset was written in a newer leader epoch; -1 if unknown. */
    int newestEpoch() {
        return leaderEpoch >= 0 ? leaderEpoch : partitionEpoch;
    }

    /** This position with another time of the commit. */
    GroupOffset committedAt(long timestampMs) {
        return new GroupOffset(offset, leaderEpoch, partitionEpoch, metadata, timestampMs, topicId);
    }

    /** This position moved back to {@code end}, where a partition that lost its tail ends. */
    GroupOffset movedBackTo(long end) {
        return new GroupOffset(end, -1, newestEpoch(), metadata, commitTimestampMs, topicId);
    }

    OffsetCommitValue toRecord() {
        return new OffsetCommitValue()
                .setOffset(offset)
                .setLeaderEpoch(leaderEpoch)
                .setPartitionEpoch(partitionEpoch)
                .setMetadata(metadata)
                .setCommitTimestamp(commitTimestampMs)
                .setTopicId(topicId);
    }
}
