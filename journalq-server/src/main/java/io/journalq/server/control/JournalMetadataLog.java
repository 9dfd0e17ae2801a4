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
 * The metadata log of a broker that is alone: a journal of its own. What is appended between two syncs is one batch, so that
 * a torn write loses all of it or nothing, and every batch but the last is known to be on the disk: a damaged one is not
 * taken for torn ({@link Journal#openWhole}). The first sync leaves a checkpoint, and later ones every few KiB.
 *
 * <p>Once as much was appended as a snapshot holds, and at least {@link #SNAPSHOT_INTERVAL_BYTES}, the next snapshot is
 * due; it lies beside the journal, as those of producers do, with the one before it in case it is bad, and what is older
 * than that one is deleted. So the log holds no more than a few times the size of the image.
 */
public final class JournalMetadataLog implements MetadataLog {
    /** Least that is appended between two snapshots. */
    public static final int SNAPSHOT_INTERVAL_BYTES = 1 << 20;

    /** What is synced between two checkpoints. Each costs a sync about two thirds of its time again (ext4). */
    private static final int CHECKPOINT_INTERVAL_BYTES = 4 << 10;

    /** How the journal of a metadata log is kept: deleting goes by segments, so that they must not be large. */
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

    /** Offset of the newest snapshot, 0 when there is none. */
    private long snapshotOffset;

    /** What was appended since the last sync; null for nothing. */
    private BatchBuilder unwritten;

    /** Whether a sync since the start has left a checkpoint. */
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
            throw new IOException("the metadata log in " + journal.directory() + " begins at offset "
                    + journal.startOffset() + ", and no snapshot reaches that far; restore the folder from a backup");
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
        // After a failure, not before as much is appended again.
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
            unwritten.close(); // Nobody was told of it.
        }
        journal.close();
    }
}
