package io.journalq.server.control;

import io.journalq.common.protocol.Message;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.BatchReader;
import io.journalq.common.record.CompressionCodec;
import io.journalq.server.metadata.record.ScramRecord;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The bytes of metadata records: as a record batch in a log, and as the content of a snapshot. Every
 * {@link MetadataLog} uses these formats. Stateless.
 */
public final class MetadataLogCodec {
    private MetadataLogCodec() {}

    /**
     * Encodes records as one record batch. The log sets its base offset and leader epoch.
     *
     * @param level the finalized level, see {@link io.journalq.server.metadata.ClusterVersion}
     * @param timestampMs of every record, in milliseconds since 1970 UTC
     * @return owned by the caller
     */
    public static ByteBuf batch(List<Message> records, int level, long timestampMs, ByteBufAllocator allocator) {
        try (BatchBuilder builder = new BatchBuilder(allocator, CompressionCodec.NONE)) {
            for (Message record : records) {
                ByteBuf value = MetadataRecordCodec.encode(record, level, allocator);
                builder.append(timestampMs, null, value, List.of());
                value.release();
            }
            return builder.build();
        }
    }

    /**
     * Decodes the current batch of {@code reader}.
     *
     * @throws IOException if a record is of a newer release
     * @throws RuntimeException if the batch is damaged
     */
    public static List<Message> readBatch(BatchReader reader) throws IOException {
        List<Message> records = new ArrayList<>();
        while (reader.next()) {
            records.add(MetadataRecordCodec.decode(reader.value()));
        }
        return records;
    }

    /** Whether {@code value} is a record that contains keys, which tools must not show. */
    public static boolean isSecret(ByteBuf value) {
        return value != null && MetadataRecordCodec.isTypeOf(value, ScramRecord.class);
    }

    /** Writes the records of a snapshot, each behind its size. */
    public static void writeRecords(List<Message> records, int level, ByteBuf out) {
        for (Message record : records) {
            ByteBuf encoded = MetadataRecordCodec.encode(record, level, out.alloc());
            out.writeInt(encoded.readableBytes()).writeBytes(encoded);
            encoded.release();
        }
    }

    /**
     * Reads the records of a snapshot, up to the end of {@code in}.
     *
     * @throws IOException if a record is of a newer release
     * @throws RuntimeException if the content is damaged
     */
    public static List<Message> readRecords(ByteBuf in) throws IOException {
        List<Message> records = new ArrayList<>();
        while (in.isReadable()) {
            records.add(MetadataRecordCodec.decode(in.readSlice(in.readInt())));
        }
        return records;
    }
}
