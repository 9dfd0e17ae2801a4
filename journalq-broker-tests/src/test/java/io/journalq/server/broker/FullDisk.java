package io.journalq.server.broker;

import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.FilterFileStore;
import io.journalq.server.journal.file.FilterLogFile;
import io.journalq.server.journal.file.LogFile;
import io.journalq.server.journal.file.SystemFileStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/** Real files on a disk that a test fills up and empties again, or whose fsyncs fail. */
final class FullDisk {
    volatile boolean full;
    volatile boolean syncFails;

    /** The files on this disk. */
    FileStore store() {
        return new FilterFileStore(new SystemFileStore()) {
            @Override
            public LogFile open(Path file, boolean create) throws IOException {
                return new File(super.open(file, create));
            }
        };
    }

    private final class File extends FilterLogFile {
        File(LogFile real) {
            super(real);
        }

        @Override
        public void write(ByteBuffer source, long position) throws IOException {
            if (full) {
                throw new IOException("No space left on device");
            }
            delegate.write(source, position);
        }

        @Override
        public void sync() throws IOException {
            if (syncFails) {
                throw new IOException("Input/output error");
            }
            delegate.sync();
        }
    }
}
