package io.journalq.server.group;

import io.journalq.server.coordinator.RecordTypes;
import io.journalq.server.group.consumer.ConsumerGroupRecords;
import io.journalq.server.group.record.GroupMetadataKey;
import io.journalq.server.group.record.GroupMetadataValue;
import io.journalq.server.group.record.OffsetCommitKey;
import io.journalq.server.group.record.OffsetCommitValue;
import io.journalq.server.group.record.PendingOffsetKey;
import io.journalq.server.group.record.PendingOffsetValue;
import java.util.List;
import java.util.stream.Stream;

/**
 * The record types of groups. Type numbers and formats of offsets and groups are the ones that other tools read from
 * the topic. Type numbers from 1,000 on are JournalQ's own.
 */
public final class GroupRecords {
    private static final List<RecordTypes.Type> OFFSETS_AND_CLASSIC = List.of(
            new RecordTypes.Type(
                    (short) 1, OffsetCommitKey.class, OffsetCommitKey::read, OffsetCommitValue::read, (short) 4),
            new RecordTypes.Type(
                    (short) 2, GroupMetadataKey.class, GroupMetadataKey::read, GroupMetadataValue::read, (short) 3),
            new RecordTypes.Type(
                    (short) 1_000, PendingOffsetKey.class, PendingOffsetKey::read, PendingOffsetValue::read, (short)
                            0));

    /** All types. */
    public static final RecordTypes TYPES =
            RecordTypes.of(Stream.concat(OFFSETS_AND_CLASSIC.stream(), ConsumerGroupRecords.types().stream())
                    .toArray(RecordTypes.Type[]::new));

    private GroupRecords() {}
}
