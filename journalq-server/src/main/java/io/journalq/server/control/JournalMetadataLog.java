package io.journalq.server.control;

import io.journalq.common.protocol.Message;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.BatchReader;
import io.journalq.common.record.CompressionCodec;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.JournalSlice;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.io.IOException;
import java.time.Clock;
import java.util.List;
import java.util.function.Consumer;

/**
 * The metadata log of a broker that is alone: a journal of its own. The records of one append are one batch, so that a
 * torn write loses all of them or none.
 */
public final class JournalMetadataLog implements MetadataLog {
    private static final int READ_SIZE_BYTES = 1 << 20;
    private static final int LEADER_EPOCH = 0;

    private final Journal journal;
    private final Clock clock;
    private final ByteBufAllocator allocator;

    /** @param journal opened and recovered; closed with this log */
    public JournalMetadataLog(Journal journal, Clock clock, ByteBufAllocator allocator) {
        this.journal = journal;
        this.clock = clock;
        this.allocator = allocator;
    }

    @Override
    public void replay(Consumer<Message> replay) throws IOException {
        try (BatchReader reader = new BatchReader(allocator)) {
            long offset = journal.startOffset();
            while (offset < journal.writtenOffset()) {
                ByteBuf batches = read(offset);
                try {
                    reader.reset(batches);
                    while (reader.nextBatch()) {
                        while (reader.next()) {
                            replay.accept(MetadataRecordCodec.decode(reader.value()));
                        }
                        offset = reader.nextOffset();
                    }
                } catch (RuntimeException damaged) {
                    throw new IOException(
                            "the metadata log in " + journal.directory() + " is damaged at offset " + offset, damaged);
                } finally {
                    batches.release();
                }
            }
        }
    }

    private ByteBuf read(long offset) throws IOException {
        JournalSlice slice = journal.read(offset, journal.writtenOffset(), READ_SIZE_BYTES, true);
        if (slice.sizeBytes() == 0) {
            slice.release();
            throw new IOException("the metadata log in " + journal.directory() + " has a gap at offset " + offset);
        }
        return slice.readFully(allocator);
    }

    @Override
    public void append(List<Message> records) throws IOException {
        try (BatchBuilder builder = new BatchBuilder(allocator, CompressionCodec.NONE)) {
            for (Message record : records) {
                ByteBuf value = MetadataRecordCodec.encode(record, allocator);
                builder.append(clock.millis(), null, value, List.of());
                value.release();
            }
            ByteBuf batch = builder.build();
            journal.append(batch, LEADER_EPOCH);
            batch.release();
        }
        journal.write();
    }

    @Override
    public void sync() throws IOException {
        journal.flush();
    }

    @Override
    public void close() throws IOException {
        journal.close();
    }
}
