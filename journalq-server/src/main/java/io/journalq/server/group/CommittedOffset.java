package io.journalq.server.group;

import io.journalq.common.id.Uuid;
import io.journalq.server.group.record.OffsetCommitValue;

/**
 * Where a group goes on in a partition.
 *
 * @param leaderEpoch of the last record that was read, as the client says; -1 when it does not
 * @param partitionEpoch leader epoch of the partition when it was committed; -1 when not known
 * @param metadata what the client keeps with it
 * @param commitTimestampMs when it was committed, in milliseconds since 1970 UTC
 * @param topicId zero when not known
 */
public record CommittedOffset(
        long offset, int leaderEpoch, int partitionEpoch, String metadata, long commitTimestampMs, Uuid topicId) {
    static CommittedOffset of(OffsetCommitValue value) {
        return new CommittedOffset(
                value.offset(),
                value.leaderEpoch(),
                value.partitionEpoch(),
                value.metadata(),
                value.commitTimestamp(),
                value.topicId());
    }

    /** No record before the offset was written in a newer leader epoch; -1 when not known. */
    int newestEpoch() {
        return leaderEpoch >= 0 ? leaderEpoch : partitionEpoch;
    }

    /** The same at the end of a partition that lost what came later. */
    CommittedOffset movedBackTo(long end) {
        return new CommittedOffset(end, -1, -1, metadata, commitTimestampMs, topicId);
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
