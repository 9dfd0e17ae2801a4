package io.journalq.server.group;

import io.journalq.server.coordinator.CoordinatorRecord;
import io.journalq.server.coordinator.Outbox;
import io.journalq.server.group.record.OffsetCommitKey;
import io.journalq.server.group.record.OffsetCommitValue;
import io.journalq.server.group.record.PendingOffsetKey;
import io.journalq.server.group.record.PendingOffsetValue;
import io.netty.buffer.ByteBufUtil;
import java.util.List;

/**
 * Keeps appends of offsets below the size of a batch of the topic. A small request can lead to more: each record contains
 * the id of the group and the name of the topic. Stateless.
 */
final class OffsetAppends {
    /** Maximum size of the records of one append. A batch of the topic can have 64 MiB. */
    private static final int MAX_APPEND_BYTES = 48 << 20;

    /** Maximum size of a record without its texts. */
    private static final int RECORD_BYTES = 100;

    private OffsetAppends() {}

    /** Whether records of offsets can be appended together. */
    static boolean fits(List<CoordinatorRecord> records) {
        long bytes = 0;
        for (CoordinatorRecord record : records) {
            bytes += sizeBytes(record);
        }
        return bytes <= MAX_APPEND_BYTES;
    }

    /** Appends records of offsets, in several appends if they do not fit into one. */
    static void append(Outbox outbox, List<CoordinatorRecord> records) {
        int from = 0;
        long bytes = 0;
        for (int i = 0; i < records.size(); i++) {
            bytes += sizeBytes(records.get(i));
            if (bytes > MAX_APPEND_BYTES && i > from) {
                outbox.append(List.copyOf(records.subList(from, i)));
                from = i;
                bytes = sizeBytes(records.get(i));
            }
        }
        outbox.append(from == 0 ? records : List.copyOf(records.subList(from, records.size())));
    }

    /** Maximum size of a record in the journal. */
    private static long sizeBytes(CoordinatorRecord record) {
        if (record.key() instanceof OffsetCommitKey key) {
            String metadata = record.value() == null ? "" : ((OffsetCommitValue) record.value()).metadata();
            return sizeBytes(key.group(), key.topic(), metadata);
        }
        PendingOffsetKey key = (PendingOffsetKey) record.key();
        String metadata = record.value() == null ? "" : ((PendingOffsetValue) record.value()).metadata();
        return sizeBytes(key.group(), key.topic(), metadata);
    }

    private static long sizeBytes(String groupId, String topic, String metadata) {
        return (long) RECORD_BYTES
                + ByteBufUtil.utf8Bytes(groupId)
                + ByteBufUtil.utf8Bytes(topic)
                + ByteBufUtil.utf8Bytes(metadata);
    }
}
