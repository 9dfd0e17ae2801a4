package io.journalq.server.journal.file;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reserves room on the disk for one directory, in a file of zeros. Whenever something in that directory cannot be written,
 * the file gives up a portion of its room. So a broker whose disk is full can still start, delete topics and move the ends
 * of logs. Each of these needs a few bytes and frees many. Other directories are written directly.
 *
 * <p>Any thread.
 */
public final class ReserveFileStore extends FilterFileStore {
    /** What the reserve's name ends with; it lies beside the folder. */
    public static final String SUFFIX = ".reserve";

    /** Size of a reserve that nothing was taken from, in bytes. */
    public static final int SIZE_BYTES = 4 << 20;

    /** What one failed write takes, in bytes: others may be faster to use it up. */
    static final int PORTION_BYTES = 64 << 10;

    private static final Logger LOG = LoggerFactory.getLogger(ReserveFileStore.class);

    private final Path folder;
    private final Path reserve;

    /** @param folder whose files the room is for */
    public ReserveFileStore(FileStore delegate, Path folder) {
        super(delegate);
        this.folder = folder;
        this.reserve = folder.resolveSibling(folder.getFileName() + SUFFIX);
    }

    /** Makes the reserve as large as it should be, or as the disk allows. Blocks. */
    public synchronized void fill() {
        try (LogFile file = delegate.open(reserve, true)) {
            ByteBuffer zeros = ByteBuffer.allocate(PORTION_BYTES);
            for (long size = file.sizeBytes(); size < SIZE_BYTES; size += zeros.capacity()) {
                file.write(zeros.clear(), size);
            }
        } catch (IOException full) {
            LOG.warn("{}: no room to keep back: {}", reserve, full.toString());
        }
    }

    private interface Attempt {
        void run() throws IOException;
    }

    /** Tries again with what the reserve has left. */
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
            LOG.warn("{}: gave up a part of the room that is kept back, {} bytes are left", reserve, file.sizeBytes());
            return true;
        } catch (NoSuchFileException none) {
            return false;
        } catch (IOException failure) {
            LOG.warn("{}: cannot be used: {}", reserve, failure.toString());
            return false;
        }
    }

    private boolean isReservedFor(Path file) {
        return folder.equals(file.getParent());
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
