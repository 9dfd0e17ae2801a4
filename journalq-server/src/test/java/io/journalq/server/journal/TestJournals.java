package io.journalq.server.journal;

import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.read.JournalSearch;
import io.journalq.server.journal.read.JournalSearch.BatchVisitor;
import io.journalq.server.journal.read.JournalSearch.TimestampOffset;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/** Operations on a journal that several tests use. */
final class TestJournals {
    private TestJournals() {}

    static void append(Journal journal, int batches, int recordsEach, int valueBytes) throws IOException {
        for (int i = 0; i < batches; i++) {
            ByteBuf batch = TestBatches.batch(recordsEach, valueBytes, 1_000 + journal.endOffset());
            journal.append(batch, 1);
            batch.release();
        }
        journal.write();
    }

    /** The first record at or after {@code timestampMs}; null if there is none. */
    static TimestampOffset findByTimestamp(Journal journal, long timestampMs) throws IOException {
        try (JournalSearch search = journal.search()) {
            return search.findByTimestamp(timestampMs);
        }
    }

    /** The first record that has the largest timestamp; null if none has one. */
    static TimestampOffset maxTimestamp(Journal journal) throws IOException {
        try (JournalSearch search = journal.search()) {
            return search.maxTimestamp();
        }
    }

    static void forEachBatch(Journal journal, long fromOffset, BatchVisitor visitor) throws IOException {
        try (JournalSearch search = journal.search()) {
            search.forEachBatch(fromOffset, visitor);
        }
    }

    /**
     * Reads from {@code from} to the end as a consumer does. Returns the base offsets of all batches, whose CRCs are
     * checked.
     */
    static List<Long> readAll(Journal journal, long from) throws IOException {
        List<Long> baseOffsets = new ArrayList<>();
        long next = from;
        while (next < journal.writtenOffset()) {
            ByteBuf bytes = journal.read(next, Long.MAX_VALUE, 2_000, true).readFully(UnpooledByteBufAllocator.DEFAULT);
            if (!bytes.isReadable()) {
                throw new AssertionError("nothing to read at offset " + next);
            }
            for (int at = 0; at < bytes.readableBytes(); at += RecordBatch.sizeBytes(bytes, at)) {
                checkCrc(bytes, at);
                baseOffsets.add(RecordBatch.baseOffset(bytes, at));
                next = RecordBatch.nextOffset(bytes, at);
            }
            bytes.release();
        }
        return baseOffsets;
    }

    private static void checkCrc(ByteBuf bytes, int at) {
        CRC32C crc = new CRC32C();
        crc.update(bytes.nioBuffer(
                at + RecordBatch.ATTRIBUTES, RecordBatch.sizeBytes(bytes, at) - RecordBatch.ATTRIBUTES));
        if ((int) crc.getValue() != RecordBatch.crc(bytes, at)) {
            throw new AssertionError("bad bytes were served at offset " + RecordBatch.baseOffset(bytes, at));
        }
    }
}
