package io.journalq.server.journal.file;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reserves room on the disk for one directory, in a file of zeros. When something in that directory cannot be written,
 * a portion of the reserved room is freed. Therefore a broker with a full disk can still start, delete topics and
 * advance the start of logs. Each of these operations needs a few bytes and frees many. Other directories do not use
 * the reserve.
 *
 * <p>Any thread.
 */
public final class ReserveFileStore extends FilterFileStore {
    /** Suffix of the reserve's file name; the file is a sibling of the directory. */
    public static final String SUFFIX = ".reserve";

    /** Size of an unused reserve, in bytes. */
    public static final int SIZE_BYTES = 4 << 20;

    /** Bytes freed after one failed write. Other writers of the disk may use this room first. */
    static final int PORTION_BYTES = 64 << 10;

    private static final Logger LOG = LoggerFactory.getLogger(ReserveFileStore.class);

    private final Path directory;
    private final Path reserve;

    /** @param directory the directory that the room is reserved for */
    public ReserveFileStore(FileStore delegate, Path directory) {
        super(delegate);
        this.directory = directory;
        this.reserve = directory.resolveSibling(directory.getFileName() + SUFFIX);
    }

    /** Extends the reserve to its full size, or as far as the disk allows. Blocks. */
    public synchronized void fill() {
        try (LogFile file = delegate.open(reserve, true)) {
            ByteBuffer zeros = ByteBuffer.allocate(PORTION_BYTES);
            for (long size = file.sizeBytes(); size < SIZE_BYTES; size += zeros.capacity()) {
                file.write(zeros.clear(), size);
            }
        } catch (IOException full) {
            LOG.warn("{}: cannot reserve room: {}", reserve, full.toString());
        }
    }

    private interface Attempt {
        void run() throws IOException;
    }

    /** Retries with the rest of the reserve. */
    private synchronized void withReserve(Attempt attempt, IOException first) throws IOException {
        IOException failure = first;
        while (giveUpPortion()) {
            try {
                attempt.run();
                return;
            } catch (IOException again) {
                failure = again;
            }
        }
        throw failure;
    }

    private boolean giveUpPortion() {
        try (LogFile file = delegate.open(reserve, false)) {
            long size = file.sizeBytes();
            if (size <= 0) {
                return false;
            }
            file.truncate(Math.max(0, size - PORTION_BYTES));
            LOG.warn("{}: freed a part of the reserved room, {} bytes are left", reserve, file.sizeBytes());
            return true;
        } catch (NoSuchFileException none) {
            return false;
        } catch (IOException failure) {
            LOG.warn("{}: cannot use the reserve: {}", reserve, failure.toString());
            return false;
        }
    }

    private boolean isReservedFor(Path file) {
        return directory.equals(file.getParent());
    }

    @Override
    public LogFile open(Path file, boolean create) throws IOException {
        LogFile opened = delegate.open(file, create);
        return isReservedFor(file) ? new ReservedFile(opened) : opened;
    }

    @Override
    public void replace(Path file, ByteBuffer content, boolean sync) throws IOException {
        if (!isReservedFor(file)) {
            delegate.replace(file, content, sync);
            return;
        }
        ByteBuffer again = content.duplicate();
        try {
            delegate.replace(file, content, sync);
        } catch (IOException failure) {
            withReserve(() -> delegate.replace(file, again.duplicate(), sync), failure);
        }
    }

    private final class ReservedFile extends FilterLogFile {
        ReservedFile(LogFile file) {
            super(file);
        }

        @Override
        public void write(ByteBuffer source, long position) throws IOException {
            ByteBuffer again = source.duplicate();
            try {
                delegate.write(source, position);
            } catch (IOException failure) {
                withReserve(() -> delegate.write(again.duplicate(), position), failure);
            }
        }
    }
}
