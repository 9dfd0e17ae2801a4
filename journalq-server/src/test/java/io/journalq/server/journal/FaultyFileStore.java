package io.journalq.server.journal;

import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.FilterFileStore;
import io.journalq.server.journal.file.FilterLogFile;
import io.journalq.server.journal.file.LogFile;
import io.journalq.server.journal.file.SyncNotBegunException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** A store that fills up, fails to sync, and records which files were opened. The disk may fill up while others write. */
public final class FaultyFileStore extends FilterFileStore {
    final List<String> opened = Collections.synchronizedList(new ArrayList<>());
    private long writableBytes = Long.MAX_VALUE;
    boolean syncFails;
    /** Thrown by the next sync of a file, once. */
    private RuntimeException syncDefect;
    /** Thrown by the next sync of a directory, once. */
    private RuntimeException directorySyncDefect;

    private int directorySyncs;
    boolean directorySyncFails;
    /** As if too many files were open. */
    boolean directoryOpensFail;
    /** Saves time in tests without a power loss. */
    boolean syncSkipped;

    boolean truncateFails;
    private boolean replaceFails;

    public FaultyFileStore(FileStore delegate) {
        super(delegate);
    }

    /** Whether nothing more can be written. */
    public void setFull(boolean full) {
        setWritableBytes(full ? 0 : Long.MAX_VALUE);
    }

    /** Sets how many more bytes can be written. A write beyond that is done in part. */
    public synchronized void setWritableBytes(long bytes) {
        writableBytes = bytes;
    }

    /** Takes up to {@code bytes} of what can be written, and returns how many. */
    private synchronized int take(int bytes) {
        int taken = (int) Math.min(bytes, writableBytes);
        writableBytes = taken < bytes ? 0 : writableBytes - taken;
        return taken;
    }

    /** Whether no file can be replaced, as on a disk without room for another one. */
    public void setReplaceFails(boolean fails) {
        replaceFails = fails;
    }

    /** Whether the next syncs of files fail. */
    public void setSyncFails(boolean fails) {
        syncFails = fails;
    }

    /** The next sync of a file throws {@code defect}, once. */
    public void setSyncDefect(RuntimeException defect) {
        syncDefect = defect;
    }

    /** The next sync of a directory throws {@code defect}, once. */
    public void setDirectorySyncDefect(RuntimeException defect) {
        directorySyncDefect = defect;
    }

    /** Number of directory syncs that succeeded. */
    public int directorySyncs() {
        return directorySyncs;
    }

    @Override
    public LogFile open(Path file, boolean create) throws IOException {
        opened.add(file.getFileName().toString());
        return new FaultyFile(delegate.open(file, create));
    }

    @Override
    public void replace(Path file, ByteBuffer content, boolean sync) throws IOException {
        if (replaceFails) {
            throw new IOException("No space left on device");
        }
        delegate.replace(file, content, sync);
    }

    @Override
    public void syncDirectory(Path directory) throws IOException {
        if (directoryOpensFail) {
            throw new SyncNotBegunException(directory, new IOException("Too many open files"));
        }
        if (directorySyncDefect != null) {
            RuntimeException defect = directorySyncDefect;
            directorySyncDefect = null;
            throw defect;
        }
        if (directorySyncFails) {
            throw new IOException("Input/output error while syncing a directory");
        }
        if (!syncSkipped) {
            delegate.syncDirectory(directory);
        }
        directorySyncs++;
    }

    private final class FaultyFile extends FilterLogFile {
        FaultyFile(LogFile file) {
            super(file);
        }

        @Override
        public void write(ByteBuffer source, long position) throws IOException {
            int wanted = source.remaining();
            int writable = take(wanted);
            source.limit(source.position() + writable);
            delegate.write(source, position);
            if (writable < wanted) {
                throw new IOException("No space left on device");
            }
        }

        @Override
        public void truncate(long sizeBytes) throws IOException {
            if (truncateFails) {
                throw new IOException("Input/output error");
            }
            delegate.truncate(sizeBytes);
        }

        @Override
        public void sync() throws IOException {
            if (syncDefect != null) {
                RuntimeException defect = syncDefect;
                syncDefect = null;
                throw defect;
            }
            if (syncFails) {
                throw new IOException("Input/output error");
            }
            if (!syncSkipped) {
                delegate.sync();
            }
        }
    }
}
