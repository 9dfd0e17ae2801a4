package io.journalq.server.journal;

import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.FilterFileStore;
import io.journalq.server.journal.file.FilterLogFile;
import io.journalq.server.journal.file.LogFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/** A store that fails from a chosen change of a file on, as if the process were killed there. */
final class CrashingFileStore extends FilterFileStore {
    private int changesLeft = Integer.MAX_VALUE;
    private boolean crashed;

    CrashingFileStore(FileStore delegate) {
        super(delegate);
    }

    /** Allows {@code changes} more changes, and none after that. */
    void crashAfter(int changes) {
        changesLeft = changes;
    }

    boolean hasCrashed() {
        return crashed;
    }

    private void change() throws IOException {
        if (changesLeft == 0) {
            crashed = true;
            throw new IOException("killed");
        }
        changesLeft--;
    }

    @Override
    public LogFile open(Path file, boolean create) throws IOException {
        if (create) {
            change();
        }
        return new CrashingFile(delegate.open(file, create));
    }

    @Override
    public void replace(Path file, ByteBuffer content, boolean sync) throws IOException {
        change();
        delegate.replace(file, content, sync);
    }

    @Override
    public void move(Path from, Path to) throws IOException {
        change();
        delegate.move(from, to);
    }

    @Override
    public void delete(Path path) throws IOException {
        change();
        delegate.delete(path);
    }

    @Override
    public void syncDirectory(Path directory) throws IOException {
        change();
        delegate.syncDirectory(directory);
    }

    private final class CrashingFile extends FilterLogFile {
        CrashingFile(LogFile file) {
            super(file);
        }

        @Override
        public void write(ByteBuffer source, long position) throws IOException {
            change();
            delegate.write(source, position);
        }

        @Override
        public void truncate(long sizeBytes) throws IOException {
            change();
            delegate.truncate(sizeBytes);
        }

        @Override
        public void sync() throws IOException {
            change();
            delegate.sync();
        }
    }
}
