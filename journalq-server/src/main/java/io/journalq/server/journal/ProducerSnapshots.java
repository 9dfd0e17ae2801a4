package io.journalq.server.journal;

import io.journalq.server.journal.file.CorruptJournalException;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.NewerFormatException;
import io.journalq.server.journal.segment.Segment;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.zip.CRC32C;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The newest snapshots of producer state. Each is one file, named by its offset. The content is opaque to this class.
 * Any thread, one call at a time; blocks.
 */
final class ProducerSnapshots {
    static final String FILE_SUFFIX = ".snapshot";

    /** The newest snapshot, and the one before it in case the newest is damaged. */
    private static final int KEPT = 2;

    static final int MAX_SNAPSHOT_SIZE_BYTES = 256 << 20;
    private static final int MAGIC = 0x4A515053;
    private static final int FIRST_VERSION = 1;

    /** Since this version, a list of the transaction index's files precedes the state. */
    private static final int VERSION = 2;

    private static final int HEADER_SIZE_BYTES = 20;
    private static final Logger LOG = LoggerFactory.getLogger(ProducerSnapshots.class);

    private final FileStore store;
    private final Path directory;
    /** Created with the first snapshot, like {@link #synced}: many journals have none. */
    private NavigableMap<Long, Path> files = Collections.emptyNavigableMap();
    /** Offsets of the snapshots that are certainly on the disk. */
    private NavigableSet<Long> synced = Collections.emptyNavigableSet();

    ProducerSnapshots(FileStore store, Path directory) {
        this.store = store;
        this.directory = directory;
    }

    /** Called for every snapshot file that was found when the journal was opened. */
    synchronized void found(long offset, String fileName) {
        put(offset, directory.resolve(fileName));
    }

    /**
     * The content of a snapshot file.
     *
     * @param indexFiles base offsets of the transaction index's files that belong to it
     */
    record Stored(JournalSnapshot snapshot, List<Long> indexFiles) {}

    /**
     * Writes a snapshot and deletes older ones. Keeps the newest snapshot that is certainly durable and whose part of
     * the log survives a power loss.
     *
     * @param flushedOffset records before this are durable
     */
    synchronized void write(long offset, List<Long> indexFiles, ByteBuffer state, boolean sync, long flushedOffset)
            throws IOException {
        long sizeBytes =
                (long) HEADER_SIZE_BYTES + Integer.BYTES + (long) indexFiles.size() * Long.BYTES + state.remaining();
        if (sizeBytes > MAX_SNAPSHOT_SIZE_BYTES) {
            throw new IOException("a snapshot of " + sizeBytes + " bytes is too large");
        }
        ByteBuffer out = ByteBuffer.allocate((int) sizeBytes);
        out.putInt(MAGIC).putInt(VERSION).putLong(offset).putInt(0).putInt(indexFiles.size());
        indexFiles.forEach(out::putLong);
        out.put(state.duplicate());
        out.putInt(HEADER_SIZE_BYTES - Integer.BYTES, crc(out.array()));
        Path file = directory.resolve(Segment.fileName(offset, FILE_SUFFIX));
        // A snapshot that is not synced must not replace one that is.
        boolean durable = sync || files.containsKey(offset);
        store.replace(file, out.flip(), durable);
        put(offset, file);
        if (durable) {
            if (synced.isEmpty()) {
                synced = new TreeSet<>();
            }
            synced.add(offset);
        }
        while (files.size() > KEPT && isAnySynced(files.firstKey() + 1, flushedOffset)) {
            synced.remove(files.firstKey());
            store.delete(files.pollFirstEntry().getValue());
        }
    }

    private void put(long offset, Path file) {
        if (files.isEmpty()) {
            files = new TreeMap<>();
        }
        files.put(offset, file);
    }

    private boolean isAnySynced(long fromOffset, long toOffset) {
        Long offset = synced.ceiling(fromOffset);
        return offset != null && offset <= toOffset;
    }

    /** The newest healthy snapshot at or before {@code maxOffset}; null if there is none. */
    synchronized Stored latest(long maxOffset) throws IOException {
        Map.Entry<Long, Path> entry = files.floorEntry(maxOffset);
        while (entry != null) {
            try {
                return read(entry.getValue(), entry.getKey());
            } catch (CorruptJournalException | NoSuchFileException bad) {
                LOG.error("cannot use a snapshot of producer state, trying an older one: {}", bad.getMessage());
                entry = files.lowerEntry(entry.getKey());
            }
        }
        return null;
    }

    /**
     * Deletes the snapshots behind {@code endOffset}, and returns whether there were any. Once the log has grown past
     * that offset with other records, such a snapshot could not be recognized as wrong.
     */
    synchronized boolean truncateTo(long endOffset) throws IOException {
        boolean any = !files.isEmpty() && files.lastKey() > endOffset;
        while (!files.isEmpty() && files.lastKey() > endOffset) {
            if (!synced.isEmpty()) {
                synced.remove(files.lastKey());
            }
            store.delete(files.pollLastEntry().getValue());
        }
        return any;
    }

    private Stored read(Path file, long offset) throws IOException {
        return decode(file, store.read(file, MAX_SNAPSHOT_SIZE_BYTES), offset);
    }

    /**
     * @throws CorruptJournalException if {@code content} is not in the format of {@link #write}, or is for another
     *     offset
     */
    static Stored decode(Path file, byte[] content, long offset) throws IOException {
        ByteBuffer in = ByteBuffer.wrap(content);
        try {
            if (in.getInt() != MAGIC) {
                throw new CorruptJournalException(file, 0, "not a snapshot");
            }
            int version = in.getInt();
            if (in.getLong() != offset) {
                throw new CorruptJournalException(file, 8, "snapshot for another offset");
            }
            if (in.getInt() != crc(content)) {
                throw new CorruptJournalException(file, 16, "snapshot has a wrong CRC");
            }
            if (version < FIRST_VERSION || version > VERSION) {
                throw new NewerFormatException(file, "a producer snapshot", version, VERSION);
            }
            List<Long> indexFiles = new ArrayList<>();
            int count = version == FIRST_VERSION ? 0 : in.getInt();
            for (int i = 0; i < count; i++) {
                indexFiles.add(in.getLong());
            }
            return new Stored(new JournalSnapshot(offset, in.slice()), indexFiles);
        } catch (BufferUnderflowException tooShort) {
            throw new CorruptJournalException(file, content.length, "snapshot is truncated");
        }
    }

    /** CRC of everything except the CRC itself. */
    private static int crc(byte[] content) {
        CRC32C crc = new CRC32C();
        crc.update(content, 0, HEADER_SIZE_BYTES - Integer.BYTES);
        crc.update(content, HEADER_SIZE_BYTES, content.length - HEADER_SIZE_BYTES);
        return (int) crc.getValue();
    }
}
