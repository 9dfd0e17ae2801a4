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
 * The newest snapshots of producer state, one file each, named by the offset up to which they hold it. What is in them is
 * the caller's. Any thread, one at a time; blocks.
 */
final class ProducerSnapshots {
    static final String FILE_SUFFIX = ".snapshot";

    /** The newest, and one before it in case the newest is bad. */
    private static final int KEPT = 2;

    static final int MAX_SNAPSHOT_SIZE_BYTES = 256 << 20;
    private static final int MAGIC = 0x4A515053;
    private static final int FIRST_VERSION = 1;

    /** From this one on, the state follows a list of the transaction index's files. */
    private static final int VERSION = 2;

    private static final int HEADER_SIZE_BYTES = 20;
    private static final Logger LOG = LoggerFactory.getLogger(ProducerSnapshots.class);

    private final FileStore store;
    private final Path directory;
    /** As those below, made with the first snapshot: many journals have none. */
    private NavigableMap<Long, Path> files = Collections.emptyNavigableMap();
    /** Offsets of those that are surely on the disk. */
    private NavigableSet<Long> synced = Collections.emptyNavigableSet();

    ProducerSnapshots(FileStore store, Path directory) {
        this.store = store;
        this.directory = directory;
    }

    /** Called for every snapshot that opening the journal came across. */
    synchronized void found(long offset, String fileName) {
        put(offset, directory.resolve(fileName));
    }

    /**
     * A snapshot as its file holds it.
     *
     * @param indexFiles base offsets of the transaction index's files that belong to it
     */
    record Stored(JournalSnapshot snapshot, List<Long> indexFiles) {}

    /**
     * Writes one more; older ones go, but not the last one that is surely of a part of the log that a power loss leaves.
     *
     * @param flushedOffset what is before it is on the disk
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
        // One that is not synced must not take the place of one that is.
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

    /** The newest healthy one at or before {@code maxOffset}, null when there is none. */
    synchronized Stored latest(long maxOffset) throws IOException {
        Map.Entry<Long, Path> entry = files.floorEntry(maxOffset);
        while (entry != null) {
            try {
                return read(entry.getValue(), entry.getKey());
            } catch (CorruptJournalException | NoSuchFileException bad) {
                LOG.error("a snapshot of producer state is of no use, an older one is taken: {}", bad.getMessage());
                entry = files.lowerEntry(entry.getKey());
            }
        }
        return null;
    }

    /**
     * Forgets and deletes what holds state from behind {@code endOffset}; true when there was such. Once the log has grown
     * past it with other records, nobody could tell.
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

    /** @throws CorruptJournalException when {@code content} is not what {@link #write} wrote for that offset */
    static Stored decode(Path file, byte[] content, long offset) throws IOException {
        ByteBuffer in = ByteBuffer.wrap(content);
        try {
            if (in.getInt() != MAGIC) {
                throw new CorruptJournalException(file, 0, "not a snapshot");
            }
            int version = in.getInt();
            if (in.getLong() != offset) {
                throw new CorruptJournalException(file, 8, "snapshot as of another offset");
            }
            if (in.getInt() != crc(content)) {
                throw new CorruptJournalException(file, 16, "snapshot with a wrong CRC");
            }
            if (version < FIRST_VERSION || version > VERSION) {
                throw new NewerFormatException(file, "a snapshot of producers", version, VERSION);
            }
            List<Long> indexFiles = new ArrayList<>();
            int count = version == FIRST_VERSION ? 0 : in.getInt();
            for (int i = 0; i < count; i++) {
                indexFiles.add(in.getLong());
            }
            return new Stored(new JournalSnapshot(offset, in.slice()), indexFiles);
        } catch (BufferUnderflowException tooShort) {
            throw new CorruptJournalException(file, content.length, "snapshot cut short");
        }
    }

    /** Of everything but the CRC itself. */
    private static int crc(byte[] content) {
        CRC32C crc = new CRC32C();
        crc.update(content, 0, HEADER_SIZE_BYTES - Integer.BYTES);
        crc.update(content, HEADER_SIZE_BYTES, content.length - HEADER_SIZE_BYTES);
        return (int) crc.getValue();
    }
}
