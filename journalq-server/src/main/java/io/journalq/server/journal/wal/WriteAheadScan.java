package io.journalq.server.journal.wal;

import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.LogFile;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the records of a write-ahead file in order. A damaged record is skipped if the next record is where it should
 * be. Otherwise the damage cannot be distinguished from the torn end. Changes nothing. One thread; blocks.
 */
public final class WriteAheadScan implements Closeable {
    private static final int CHUNK_BYTES = 1 << 20;
    private static final Logger LOG = LoggerFactory.getLogger(WriteAheadScan.class);

    private final Path path;
    private final LogFile file;
    private final long fileBytes;
    private final long firstSequence;
    private final boolean hasCuts;
    private boolean damaged;
    private ByteBuffer window = ByteBuffer.allocate(0);
    private long windowAt;
    private long recordPosition;
    private long position = WriteAheadFormat.FILE_HEADER_SIZE_BYTES;
    private long nextSequence;

    private WriteAheadScan(Path path, LogFile file) throws IOException {
        this.path = path;
        this.file = file;
        this.fileBytes = file.sizeBytes();
        ByteBuffer header = ByteBuffer.allocate(WriteAheadFormat.FILE_HEADER_SIZE_BYTES);
        file.read(header, 0);
        this.firstSequence = WriteAheadFormat.firstSequence(path, header.flip());
        this.hasCuts = firstSequence >= 0 && WriteAheadFormat.hasCuts(header);
        this.damaged = firstSequence < 0 && !WriteAheadFormat.isBlank(header);
        this.nextSequence = firstSequence;
    }

    /**
     * Opens a file.
     *
     * @throws io.journalq.server.journal.file.NewerFormatException if a newer release wrote it
     */
    public static WriteAheadScan open(FileStore store, Path path) throws IOException {
        LogFile file = store.open(path, false);
        try {
            return new WriteAheadScan(path, file);
        } catch (IOException failure) {
            file.close();
            throw failure;
        }
    }

    /** The write-ahead files of a data directory that hold any records, in the order in which they were written. */
    public static List<Path> files(FileStore store, Path dataDirectory) throws IOException {
        Path directory = dataDirectory.resolve(WriteAheadLog.DIRECTORY_NAME);
        record Found(Path path, long firstSequence) {}
        List<Found> found = new ArrayList<>();
        for (String name : store.list(directory)) {
            if (name.endsWith(WriteAheadLog.FILE_SUFFIX)) {
                try (WriteAheadScan scan = open(store, directory.resolve(name))) {
                    if (scan.firstSequence >= 0 || scan.damaged) {
                        found.add(new Found(scan.path, scan.firstSequence));
                    }
                }
            }
        }
        found.sort(Comparator.comparingLong(Found::firstSequence));
        return found.stream().map(Found::path).toList();
    }

    /** Number of records in the write-ahead files of a data directory. */
    public static long count(FileStore store, Path dataDirectory) throws IOException {
        long count = 0;
        for (Path path : files(store, dataDirectory)) {
            try (WriteAheadScan scan = open(store, path)) {
                while (scan.next() != null) {
                    count++;
                }
            }
        }
        return count;
    }

    /** The next record; null behind the last. */
    public WriteAheadRecord next() throws IOException {
        int sizeBytes = firstSequence < 0 ? 0 : claimedSizeBytes();
        if (sizeBytes == 0) {
            return null;
        }
        WriteAheadRecord record = read(sizeBytes);
        if (record != null) {
            return record;
        }
        long bad = position;
        position += sizeBytes;
        nextSequence++;
        int nextSizeBytes = claimedSizeBytes();
        WriteAheadRecord behind = nextSizeBytes == 0 ? null : read(nextSizeBytes);
        if (behind == null) {
            position = bad;
            nextSequence--;
        } else {
            LOG.error("{}: skipping the damaged record at byte {}", path, bad);
            damaged = true;
        }
        return behind;
    }

    /** The size in the header of the record at the current position; 0 if there is none. */
    private int claimedSizeBytes() throws IOException {
        if (!load(WriteAheadFormat.RECORD_HEADER_SIZE_BYTES)) {
            return 0;
        }
        int sizeBytes = window.getInt(at());
        return sizeBytes < WriteAheadFormat.RECORD_HEADER_SIZE_BYTES || sizeBytes > fileBytes - position
                ? 0
                : sizeBytes;
    }

    private WriteAheadRecord read(int sizeBytes) throws IOException {
        WriteAheadRecord record = load(sizeBytes) ? WriteAheadFormat.read(window, at(), sizeBytes) : null;
        if (record == null || record.sequence() != nextSequence || (record.isCut() && !hasCuts)) {
            return null;
        }
        nextSequence++;
        recordPosition = position;
        position += sizeBytes;
        return record;
    }

    /** Whether the file's header is damaged or a record was skipped. */
    public boolean isDamaged() {
        return damaged;
    }

    /** Position of the last returned record, in bytes. */
    public long recordPosition() {
        return recordPosition;
    }

    /** End of the last returned record, in bytes. */
    public long position() {
        return position;
    }

    private int at() {
        return (int) (position - windowAt);
    }

    /**
     * Loads {@code sizeBytes} bytes from the position on into the window. Returns false if the file does not have them.
     */
    private boolean load(int sizeBytes) throws IOException {
        if (sizeBytes > fileBytes - position) {
            return false;
        }
        if (position < windowAt || position + sizeBytes > windowAt + window.limit()) {
            if (window.capacity() < sizeBytes) {
                window = ByteBuffer.allocate((int) Math.min(fileBytes - position, Math.max(CHUNK_BYTES, sizeBytes)));
            }
            windowAt = position;
            file.read(window.clear(), position);
            window.flip();
        }
        return window.limit() >= sizeBytes;
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
