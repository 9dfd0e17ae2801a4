package io.journalq.server.group;

import io.journalq.server.coordinator.RecordTypes;
import io.journalq.server.group.record.GroupMetadataKey;
import io.journalq.server.group.record.GroupMetadataValue;
import io.journalq.server.group.record.OffsetCommitKey;
import io.journalq.server.group.record.OffsetCommitValue;
import io.journalq.server.group.record.PendingOffsetKey;

/**
 * The records of groups. Numbers and layouts of offsets and of classic groups are those that other tools read from the
 * topic; numbers from 1,000 on are our own.
 */
public final class GroupRecords {
    /** Every type. */
    public static final RecordTypes TYPES = RecordTypes.of(
            new RecordTypes.Type(
                    (short) 1, OffsetCommitKey.class, OffsetCommitKey::read, OffsetCommitValue::read, (short) 4),
            new RecordTypes.Type(
                    (short) 2, GroupMetadataKey.class, GroupMetadataKey::read, GroupMetadataValue::read, (short) 3),
            new RecordTypes.Type(
                    (short) 1_000, PendingOffsetKey.class, PendingOffsetKey::read, OffsetCommitValue::read, (short) 4));

    private GroupRecords() {}
}
