package io.journalq.server.journal;

import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
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
    private static final int VERSION = 1;
    private static final int HEADER_SIZE_BYTES = 20;
    private static final Logger LOG = LoggerFactory.getLogger(ProducerSnapshots.class);

    private final FileStore store;
    private final Path directory;
    private final TreeMap<Long, Path> files = new TreeMap<>();

    ProducerSnapshots(FileStore store, Path directory) {
        this.store = store;
        this.directory = directory;
    }

    /** Called for every snapshot that opening the journal came across. */
    synchronized void found(long offset, String fileName) {
        files.put(offset, directory.resolve(fileName));
    }

    synchronized void write(long offset, ByteBuffer state, boolean sync) throws IOException {
        if (state.remaining() > MAX_SNAPSHOT_SIZE_BYTES - HEADER_SIZE_BYTES) {
            throw new IOException("a snapshot of " + state.remaining() + " bytes is too large");
        }
        ByteBuffer out = ByteBuffer.allocate(HEADER_SIZE_BYTES + state.remaining());
        out.putInt(MAGIC).putInt(VERSION).putLong(offset).putInt(0).put(state.duplicate());
        out.putInt(HEADER_SIZE_BYTES - Integer.BYTES, crc(out.array()));
        Path file = directory.resolve(Segment.fileName(offset, FILE_SUFFIX));
        store.replace(file, out.flip(), sync);
        files.put(offset, file);
        while (files.size() > KEPT) {
            store.delete(files.pollFirstEntry().getValue());
        }
    }

    /** The newest healthy one at or before {@code maxOffset}, null when there is none. */
    synchronized JournalSnapshot latest(long maxOffset) throws IOException {
        Map.Entry<Long, Path> entry = files.floorEntry(maxOffset);
        while (entry != null) {
            try {
                return new JournalSnapshot(entry.getKey(), read(entry.getValue(), entry.getKey()));
            } catch (CorruptJournalException | NoSuchFileException bad) {
                LOG.error("a snapshot of producer state is of no use, an older one is taken: {}", bad.getMessage());
                entry = files.lowerEntry(entry.getKey());
            }
        }
        return null;
    }

    /** Forgets and deletes what holds state from behind {@code endOffset}; true when there was such. */
    synchronized boolean truncateTo(long endOffset) throws IOException {
        boolean any = !files.isEmpty() && files.lastKey() > endOffset;
        while (!files.isEmpty() && files.lastKey() > endOffset) {
            store.delete(files.pollLastEntry().getValue());
        }
        return any;
    }

    private ByteBuffer read(Path file, long offset) throws IOException {
        return decode(file, store.read(file, MAX_SNAPSHOT_SIZE_BYTES), offset);
    }

    /** @throws CorruptJournalException when {@code content} is not what {@link #write} wrote for that offset */
    static ByteBuffer decode(Path file, byte[] content, long offset) throws IOException {
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
            if (version != VERSION) {
                throw new NewerFormatException(file, "a snapshot of producers", version, VERSION);
            }
            return in.slice();
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
