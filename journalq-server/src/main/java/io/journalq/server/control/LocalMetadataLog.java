package io.journalq.server.control;

import io.journalq.common.protocol.Message;
import io.journalq.common.record.BatchReader;
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
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The metadata log of a single broker, in a separate journal. A batch is committed when it is synced, which is before
 * {@link #propose} returns. A torn write loses a whole batch. Every batch except the last is known to be on the disk,
 * so damage to it is not treated as a torn write ({@link Journal#openWhole}). The first sync writes a checkpoint, and
 * later syncs write one every few KiB.
 *
 * <p>A snapshot is due when the appended bytes exceed the size of the last snapshot and
 * {@link #SNAPSHOT_INTERVAL_BYTES}. Like producer snapshots, it is stored beside the journal, together with the
 * previous one in case it is damaged. Records older than the previous snapshot are deleted. Therefore the log is at
 * most a few times as large as the image.
 */
public final class LocalMetadataLog implements MetadataLog {
    private static final Logger log = LoggerFactory.getLogger(LocalMetadataLog.class);

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
    /** A log with a single writer has no elections. */
    private static final int ONLY_TERM = 1;

    private final Members members;
    private final Journal journal;
    private final Clock clock;
    private final ByteBufAllocator allocator;
    private final int snapshotIntervalBytes;

    /** Offset of the newest snapshot, 0 if there is none. */
    private long snapshotOffset;

    private Replica replica;
    private Consumer<Role> roleListener = role -> {};
    /** Why every proposal fails; null if they do not. */
    private volatile IOException failure;

    /** Whether a sync since the start has written a checkpoint. */
    private boolean checkpointed;

    private long snapshotSizeBytes;
    private long appendedBytes;

    /**
     * Creates a log; {@link #open} opens it.
     *
     * @param nodeId this broker, the only voter
     * @param journal opened and recovered; closed with this log
     */
    public LocalMetadataLog(int nodeId, Journal journal, Clock clock, ByteBufAllocator allocator) {
        this(nodeId, journal, clock, allocator, SNAPSHOT_INTERVAL_BYTES);
    }

    LocalMetadataLog(int nodeId, Journal journal, Clock clock, ByteBufAllocator allocator, int snapshotIntervalBytes) {
        this.members = new Members(nodeId, ONLY_TERM, List.of(nodeId));
        this.journal = journal;
        this.clock = clock;
        this.allocator = allocator;
        this.snapshotIntervalBytes = snapshotIntervalBytes;
    }

    @Override
    public void onRole(Consumer<Role> listener) {
        roleListener = listener;
    }

    @Override
    public Members members() {
        return members;
    }

    @Override
    public boolean electsLeader() {
        return false;
    }

    @Override
    public void open(Replica opened) throws IOException {
        replica = opened;
        snapshotOffset = replaySnapshot();
        if (snapshotOffset < journal.startOffset()) {
            throw new IOException(
                    "the metadata log in " + journal.directory() + " begins at offset " + journal.startOffset()
                            + ", and no snapshot reaches that far; restore the directory from a backup");
        }
        replayFrom(snapshotOffset);
        roleListener.accept(Role.LEADING);
    }

    private long replaySnapshot() throws IOException {
        JournalSnapshot snapshot = journal.derivedState().restoreSnapshot();
        if (snapshot == null) {
            return 0;
        }
        snapshotSizeBytes = snapshot.state().remaining();
        try {
            replica.restore(MetadataLogCodec.readRecords(Unpooled.wrappedBuffer(snapshot.state())));
        } catch (RuntimeException damaged) {
            throw new IOException("the metadata snapshot in " + journal.directory() + " is damaged", damaged);
        } catch (IOException newer) {
            throw new IOException(journal.directory() + ", snapshot: " + newer.getMessage(), newer);
        }
        return snapshot.offset();
    }

    private void replayFrom(long first) throws IOException {
        try (BatchReader reader = new BatchReader(allocator)) {
            long offset = first;
            while (offset < journal.writtenOffset()) {
                ByteBuf batches = read(offset);
                appendedBytes += batches.readableBytes();
                try {
                    reader.reset(batches);
                    while (reader.nextBatch()) {
                        replica.replay(MetadataLogCodec.readBatch(reader));
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
    public CompletableFuture<Void> propose(MetadataBatch batch) {
        if (failure != null) {
            return CompletableFuture.failedFuture(failure);
        }
        if (batch.baseOffset() != journal.writtenOffset()) {
            return CompletableFuture.failedFuture(new IOException("a batch for offset " + batch.baseOffset()
                    + " does not fit the metadata log, which ends at offset " + journal.writtenOffset()));
        }
        try {
            append(batch.records());
            sync();
        } catch (IOException unknownEnd) {
            fail(unknownEnd);
            return CompletableFuture.failedFuture(unknownEnd);
        }
        replica.replay(batch.records());
        keepSnapshotIfDue();
        return CompletableFuture.completedFuture(null);
    }

    private void append(List<Message> records) throws IOException {
        ByteBuf batch = MetadataLogCodec.batch(records, replica.level(), clock.millis(), allocator);
        appendedBytes += batch.readableBytes();
        journal.append(batch, LEADER_EPOCH);
        batch.release();
        journal.write();
    }

    /** Returns once everything appended is durable. */
    private void sync() throws IOException {
        if (checkpointed) {
            journal.flush();
        } else {
            journal.checkpoint();
            checkpointed = true;
        }
    }

    private void fail(IOException reason) {
        failure = reason;
        roleListener.accept(Role.FAILED);
    }

    @Override
    public void fence(IOException reason) {
        fail(reason);
        journal.fence(reason);
    }

    /**
     * Writes a snapshot if enough was appended since the last one. Without it the log is longer but equally valid, so a
     * failed snapshot is retried after later batches. The same is true if there is no direct memory for it.
     */
    private void keepSnapshotIfDue() {
        if (appendedBytes >= Math.max(snapshotIntervalBytes, snapshotSizeBytes)) {
            try {
                keepSnapshot(replica.snapshot());
            } catch (IOException | OutOfMemoryError cause) {
                log.warn("cannot write a snapshot of the metadata: reason=\"{}\"", cause.getMessage(), cause);
            }
        }
    }

    /**
     * Replaces everything appended so far with {@code records}. After a stop or a failure during this call, the log has
     * either the old or the new content.
     */
    private void keepSnapshot(List<Message> records) throws IOException {
        // After a failure, retry only after the same amount was appended again.
        appendedBytes = 0;
        ByteBuf state = allocator.buffer();
        try {
            MetadataLogCodec.writeRecords(records, replica.level(), state);
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
        journal.close();
    }
}
