package io.journalq.server.control;

import io.journalq.common.protocol.Message;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.BatchReader;
import io.journalq.common.record.CompressionCodec;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.JournalConfig;
import io.journalq.server.journal.JournalSnapshot;
import io.journalq.server.journal.read.JournalSlice;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Clock;
import java.util.List;
import java.util.function.Consumer;

/**
 * The metadata log of a single broker, in a separate journal. All records that are appended between two syncs form one
 * batch, so that a torn write loses all of them or none. Every batch except the last is known to be on the disk, so
 * damage to it is not treated as a torn write ({@link Journal#openWhole}). The first sync writes a checkpoint, and
 * later syncs write one every few KiB.
 *
 * <p>A snapshot is due when the appended bytes exceed the size of the last snapshot and
 * {@link #SNAPSHOT_INTERVAL_BYTES}. Like producer snapshots, it is stored beside the journal, together with the
 * previous one in case it is damaged. Records older than the previous snapshot are deleted. Therefore the log is at
 * most a few times as large as the image.
 */
public final class JournalMetadataLog implements MetadataLog {
    /** Minimum size of the records between two snapshots. */
    public static final int SNAPSHOT_INTERVAL_BYTES = 1 << 20;

    /**
     * Size of the synced records between two checkpoints. Each checkpoint makes a sync take about two thirds longer
     * (ext4).
     */
    private static final int CHECKPOINT_INTERVAL_BYTES = 4 << 10;

    /**
     * The configuration of a metadata log's journal: the segments are small, because deletion removes whole segments.
     */
    public static final JournalConfig JOURNAL_CONFIG = JournalConfig.DEFAULT
            .withSegmentSizeBytes(SNAPSHOT_INTERVAL_BYTES)
            .withCheckpointIntervalBytes(CHECKPOINT_INTERVAL_BYTES)
            .withRetention(JournalConfig.UNLIMITED, JournalConfig.UNLIMITED);

    private static final int READ_SIZE_BYTES = 1 << 20;
    private static final int LEADER_EPOCH = 0;

    private final Journal journal;
    private final Clock clock;
    private final ByteBufAllocator allocator;
    private final int snapshotIntervalBytes;

    /** Offset of the newest snapshot, 0 if there is none. */
    private long snapshotOffset;

    /** Records appended since the last sync; null if there are none. */
    private BatchBuilder unwritten;

    /** Whether a sync since the start has written a checkpoint. */
    private boolean checkpointed;

    private long snapshotSizeBytes;
    private long appendedBytes;

    /** @param journal opened and recovered; closed with this log */
    public JournalMetadataLog(Journal journal, Clock clock, ByteBufAllocator allocator) {
        this(journal, clock, allocator, SNAPSHOT_INTERVAL_BYTES);
    }

    JournalMetadataLog(Journal journal, Clock clock, ByteBufAllocator allocator, int snapshotIntervalBytes) {
        this.journal = journal;
        this.clock = clock;
        this.allocator = allocator;
        this.snapshotIntervalBytes = snapshotIntervalBytes;
    }

    @Override
    public void replay(Consumer<Message> replay) throws IOException {
        snapshotOffset = replaySnapshot(replay);
        if (snapshotOffset < journal.startOffset()) {
            throw new IOException(
                    "the metadata log in " + journal.directory() + " begins at offset " + journal.startOffset()
                            + ", and no snapshot reaches that far; restore the directory from a backup");
        }
        replayFrom(snapshotOffset, replay);
    }

    private long replaySnapshot(Consumer<Message> replay) throws IOException {
        JournalSnapshot snapshot = journal.derivedState().restoreSnapshot();
        if (snapshot == null) {
            return 0;
        }
        snapshotSizeBytes = snapshot.state().remaining();
        ByteBuf state = Unpooled.wrappedBuffer(snapshot.state());
        try {
            while (state.isReadable()) {
                replay.accept(MetadataRecordCodec.decode(state.readSlice(state.readInt())));
            }
        } catch (RuntimeException damaged) {
            throw new IOException("the metadata snapshot in " + journal.directory() + " is damaged", damaged);
        } catch (IOException newer) {
            throw new IOException(journal.directory() + ", snapshot: " + newer.getMessage(), newer);
        }
        return snapshot.offset();
    }

    private void replayFrom(long first, Consumer<Message> replay) throws IOException {
        try (BatchReader reader = new BatchReader(allocator)) {
            long offset = first;
            while (offset < journal.writtenOffset()) {
                ByteBuf batches = read(offset);
                appendedBytes += batches.readableBytes();
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
                } catch (IOException newer) {
                    throw new IOException(
                            journal.directory() + ", offset " + offset + ": " + newer.getMessage(), newer);
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
    public void append(List<Message> records) {
        if (unwritten == null) {
            unwritten = new BatchBuilder(allocator, CompressionCodec.NONE);
        }
        for (Message record : records) {
            ByteBuf value = MetadataRecordCodec.encode(record, allocator);
            unwritten.append(clock.millis(), null, value, List.of());
            value.release();
        }
    }

    @Override
    public void sync() throws IOException {
        if (unwritten != null) {
            try (BatchBuilder builder = unwritten) {
                unwritten = null;
                ByteBuf batch = builder.build();
                appendedBytes += batch.readableBytes();
                journal.append(batch, LEADER_EPOCH);
                batch.release();
            }
            journal.write();
        }
        if (checkpointed) {
            journal.flush();
        } else {
            journal.checkpoint();
            checkpointed = true;
        }
    }

    @Override
    public void fence(IOException reason) {
        journal.fence(reason);
    }

    @Override
    public boolean isSnapshotDue() {
        return appendedBytes >= Math.max(snapshotIntervalBytes, snapshotSizeBytes);
    }

    @Override
    public void keepSnapshot(List<Message> records) throws IOException {
        // After a failure, retry only after the same amount was appended again.
        appendedBytes = 0;
        ByteBuf state = allocator.buffer();
        try {
            for (Message record : records) {
                ByteBuf encoded = MetadataRecordCodec.encode(record, allocator);
                state.writeInt(encoded.readableBytes()).writeBytes(encoded);
                encoded.release();
            }
            long offset = journal.writtenOffset();
            ByteBuffer content = state.nioBuffer();
            snapshotSizeBytes = content.remaining();
            journal.derivedState().writeDurableSnapshot(offset, content);
            journal.deleteRecordsBefore(snapshotOffset);
            snapshotOffset = offset;
        } finally {
            state.release();
        }
    }

    @Override
    public void close() throws IOException {
        if (unwritten != null) {
            unwritten.close(); // No client was informed of these records.
        }
        journal.close();
    }
}
