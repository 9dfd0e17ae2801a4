package io.journalq.quorum;

import io.journalq.common.protocol.Message;
import io.journalq.common.record.BatchReader;
import io.journalq.common.record.RecordBatch;
import io.journalq.server.control.LocalMetadataLog;
import io.journalq.server.control.MetadataLog.Replica;
import io.journalq.server.control.MetadataLogCodec;
import io.journalq.server.journal.DeletedJournal;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.file.FileStore;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What this broker has applied of the quorum's log: the state of the replica, and a journal with the same batches, from
 * which observers read. It outlives a Ratis server that closes itself and is opened again, and then ignores the entries
 * that it already has.
 *
 * <p>The journal is written but not synced, because it can be restored from the newest snapshot and the quorum's log.
 *
 * <p>A snapshot consists of a format version, the number of records before it, the epoch of the last one, and the records
 * that restore the state. Any thread; calls are serialized.
 */
final class AppliedMetadata implements Closeable {
    static final long NOTHING_APPLIED = -1;

    private static final Logger LOG = LoggerFactory.getLogger(AppliedMetadata.class);

    private static final byte SNAPSHOT_VERSION = 1;

    private final FileStore store;
    private final Path directory;
    private final Executor background;
    private final ByteBufAllocator allocator;
    private final Replica replica;
    private final BatchReader reader;
    private Journal journal;

    /** The quorum's index of the last entry that was applied or skipped. */
    private long index = NOTHING_APPLIED;

    /** The number of records that are applied. The journal may briefly have others behind them. */
    private long endOffset;

    private int endEpoch;

    /** The number of records that the newest snapshot replaces. */
    private long snapshotOffset;

    private long bytesSinceSnapshot;

    /** Whether a write has failed. The journal accepts the next one after a sync only. */
    private boolean writeFailed;

    /** Whether the files are being replaced by empty ones, and are not ready. */
    private boolean isReplaced;

    /** @param directory of the journal */
    AppliedMetadata(FileStore store, Path directory, Executor background, ByteBufAllocator allocator, Replica replica) {
        this.store = store;
        this.directory = directory;
        this.background = background;
        this.allocator = allocator;
        this.replica = replica;
        this.reader = new BatchReader(allocator);
    }

    /** Opens the journal, with which nothing is applied yet. {@link #restore} or {@link #beginAtStart} comes next. */
    synchronized void open() throws IOException {
        journal = Journal.open(store, directory, LocalMetadataLog.JOURNAL_CONFIG, background);
    }

    /** Whether the journal has records, of this log or of another. */
    synchronized boolean hasRecords() {
        return journal.writtenOffset() > 0;
    }

    synchronized long index() {
        return index;
    }

    synchronized long endOffset() {
        return endOffset;
    }

    /** The size of the batches that no snapshot replaces. */
    synchronized long bytesSinceSnapshot() {
        return bytesSinceSnapshot;
    }

    int level() {
        return replica.level();
    }

    /** Begins without a snapshot: the quorum's log has every entry. */
    synchronized void beginAtStart() throws IOException {
        if (index == NOTHING_APPLIED) {
            cutJournal(0);
        }
    }

    /** Notes an entry that has no batch. */
    synchronized void skip(long entryIndex) {
        index = Math.max(index, entryIndex);
    }

    /**
     * Applies the batch of an entry, unless it was decided on in another state than the current one. Such a batch is a
     * retry, or a proposal of an old term.
     *
     * @param term of the entry
     * @return whether the batch is applied
     * @throws IOException if the journal cannot be written; the entry is not applied, and may be passed again
     * @throws RuntimeException if the batch is damaged or of a newer release
     */
    synchronized boolean apply(long entryIndex, long term, byte[] content) throws IOException {
        if (entryIndex <= index) {
            return false;
        }
        ByteBuf batch = Unpooled.wrappedBuffer(content);
        if (RecordBatch.baseOffset(batch, 0) != endOffset || RecordBatch.leaderEpoch(batch, 0) != term) {
            index = entryIndex;
            return false;
        }
        List<Message> records = decode(batch);
        appendToJournal(batch, (int) term);
        replica.replay(records);
        endOffset += records.size();
        endEpoch = (int) term;
        bytesSinceSnapshot += content.length;
        index = entryIndex;
        return true;
    }

    private List<Message> decode(ByteBuf batch) {
        reader.reset(batch.duplicate());
        if (!reader.nextBatch()) {
            throw new IllegalArgumentException("an entry of the metadata quorum has no batch");
        }
        try {
            return MetadataLogCodec.readBatch(reader);
        } catch (IOException newer) {
            throw new UncheckedIOException(newer);
        }
    }

    private void appendToJournal(ByteBuf batch, int epoch) throws IOException {
        if (isReplaced || journal.isFenced()) {
            replaceJournal(endOffset);
        }
        if (writeFailed) {
            journal.flush();
            writeFailed = false;
        }
        if (journal.writtenOffset() > endOffset) {
            // The replica has not applied what was written last.
            journal.truncateTo(endOffset);
        }
        journal.append(batch, epoch);
        try {
            journal.write();
        } catch (IOException failure) {
            writeFailed = true;
            throw failure;
        }
    }

    /** The content of a snapshot of the current state. */
    synchronized byte[] snapshot() {
        return snapshot(replica, endOffset, endEpoch, allocator);
    }

    /**
     * The content of a snapshot.
     *
     * @param endOffset number of records that have produced the state
     * @param endEpoch of the last one
     */
    static byte[] snapshot(Replica state, long endOffset, int endEpoch, ByteBufAllocator allocator) {
        ByteBuf content = allocator.heapBuffer();
        try {
            content.writeByte(SNAPSHOT_VERSION).writeLong(endOffset).writeInt(endEpoch);
            MetadataLogCodec.writeRecords(state.snapshot(), state.level(), content);
            byte[] bytes = new byte[content.readableBytes()];
            content.readBytes(bytes);
            return bytes;
        } finally {
            content.release();
        }
    }

    /** Notes that the current state is in a snapshot. Deletes the records before the previous snapshot. */
    synchronized void snapshotTaken() {
        journal.deleteRecordsBefore(Math.max(snapshotOffset, journal.startOffset()));
        snapshotOffset = endOffset;
        bytesSinceSnapshot = 0;
    }

    /**
     * Replaces the state with that of a snapshot, unless it is older than the current one.
     *
     * @param entryIndex the last entry that the snapshot replaces
     * @throws UnreadableMetadataException if the snapshot is damaged or of a newer release
     * @throws IOException if the journal cannot be written
     */
    synchronized void restore(long entryIndex, byte[] content) throws IOException {
        if (entryIndex <= index) {
            return;
        }
        ByteBuf in = Unpooled.wrappedBuffer(content);
        try {
            byte version = in.readByte();
            if (version != SNAPSHOT_VERSION) {
                throw new UnreadableMetadataException(
                        "the metadata snapshot has format " + version + "; start a newer release", null);
            }
            long offset = in.readLong();
            int epoch = in.readInt();
            List<Message> records = readRecords(in);
            cutJournal(offset);
            replica.restore(records);
            endOffset = offset;
            endEpoch = epoch;
            snapshotOffset = offset;
            bytesSinceSnapshot = 0;
            index = entryIndex;
        } catch (RuntimeException damaged) {
            throw new UnreadableMetadataException("the metadata snapshot is damaged", damaged);
        }
    }

    private static List<Message> readRecords(ByteBuf in) throws UnreadableMetadataException {
        try {
            return MetadataLogCodec.readRecords(in);
        } catch (IOException ofNewerRelease) {
            throw new UnreadableMetadataException(ofNewerRelease.getMessage(), ofNewerRelease);
        }
    }

    /** Lets the journal end at {@code offset}. If it does not reach that far, it begins there, too. */
    private void cutJournal(long offset) throws IOException {
        boolean isUsable = !isReplaced && !journal.isFenced();
        if (isUsable && journal.startOffset() <= offset && journal.truncateTo(offset) == offset) {
            return;
        }
        replaceJournal(offset);
    }

    /**
     * Replaces the journal by an empty one that begins at {@code offset}. After a failed sync, nobody knows what is in
     * its files, and they accept no more writes. A snapshot has what observers no longer find.
     */
    private void replaceJournal(long offset) throws IOException {
        isReplaced = true;
        try {
            journal.close();
        } catch (IOException fenced) {
            LOG.debug("the journal of the metadata did not close cleanly", fenced);
        }
        DeletedJournal.delete(store, directory);
        open();
        if (offset > 0) {
            journal.resetTo(offset);
        }
        writeFailed = false;
        isReplaced = false;
    }

    @Override
    public synchronized void close() throws IOException {
        reader.close();
        if (journal != null) {
            journal.close();
        }
    }
}
