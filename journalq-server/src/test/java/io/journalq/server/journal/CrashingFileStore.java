package io.journalq.server.journal;

import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.LogFile;
import io.netty.channel.FileRegion;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;

/** A store that stops to work at a chosen change of a file, as when the process is killed there. */
final class CrashingFileStore implements FileStore {
    private final FileStore delegate;
    private int changesLeft = Integer.MAX_VALUE;
    private boolean crashed;

    CrashingFileStore(FileStore delegate) {
        this.delegate = delegate;
    }

    /** Lets {@code changes} more go through, and none after that. */
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
    public void createDirectories(Path directory) throws IOException {
        delegate.createDirectories(directory);
    }

    @Override
    public List<String> list(Path directory) throws IOException {
        return delegate.list(directory);
    }

    @Override
    public LogFile open(Path file, boolean create) throws IOException {
        if (create) {
            change();
        }
        return new CrashingFile(delegate.open(file, create));
    }

    @Override
    public long sizeBytes(Path file) throws IOException {
        return delegate.sizeBytes(file);
    }

    @Override
    public byte[] read(Path file, int maxSizeBytes) throws IOException {
        return delegate.read(file, maxSizeBytes);
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

    private final class CrashingFile implements LogFile {
        private final LogFile file;

        CrashingFile(LogFile file) {
            this.file = file;
        }

        @Override
        public long sizeBytes() throws IOException {
            return file.sizeBytes();
        }

        @Override
        public void write(ByteBuffer source, long position) throws IOException {
            change();
            file.write(source, position);
        }

        @Override
        public int read(ByteBuffer target, long position) throws IOException {
            return file.read(target, position);
        }

        @Override
        public void truncate(long sizeBytes) throws IOException {
            change();
            file.truncate(sizeBytes);
        }

        @Override
        public void sync() throws IOException {
            change();
            file.sync();
        }

        @Override
        public FileRegion region(long position, int sizeBytes, Runnable onRelease) {
            return file.region(position, sizeBytes, onRelease);
        }

        @Override
        public void close() throws IOException {
            file.close();
        }
    }
}
