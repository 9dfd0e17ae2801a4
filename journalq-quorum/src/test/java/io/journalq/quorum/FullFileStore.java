package io.journalq.quorum;

import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.FilterFileStore;
import io.journalq.server.journal.file.FilterLogFile;
import io.journalq.server.journal.file.LogFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/** A file system that may be full: then no file can be written. Ratis's own files do not pass through it. */
final class FullFileStore extends FilterFileStore {
    volatile boolean full;

    FullFileStore(FileStore delegate) {
        super(delegate);
    }

    private void checkRoom() throws IOException {
        if (full) {
            throw new IOException("No space left on device (planted)");
        }
    }

    @Override
    public void replace(Path file, ByteBuffer content, boolean sync) throws IOException {
        checkRoom();
        super.replace(file, content, sync);
    }

    @Override
    public LogFile open(Path file, boolean create) throws IOException {
        return new FilterLogFile(super.open(file, create)) {
            @Override
            public void write(ByteBuffer source, long position) throws IOException {
                checkRoom();
                super.write(source, position);
            }
        };
    }
}
