package io.journalq.server.journal;

import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.LogFile;
import io.netty.channel.FileRegion;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A store that fills up, refuses to sync, and remembers which files were opened. */
public final class FaultyFileStore implements FileStore {
    private final FileStore delegate;
    final List<String> opened = new ArrayList<>();
    long writableBytes = Long.MAX_VALUE;
    boolean syncFails;
    boolean directorySyncFails;
    /** Saves time where power loss is not the matter. */
    boolean syncSkipped;

    boolean truncateFails;

    public FaultyFileStore(FileStore delegate) {
        this.delegate = delegate;
    }

    /** Whether nothing more can be written. */
    public void setFull(boolean full) {
        writableBytes = full ? 0 : Long.MAX_VALUE;
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
        opened.add(file.getFileName().toString());
        return new FaultyFile(delegate.open(file, create));
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
        delegate.replace(file, content, sync);
    }

    @Override
    public void move(Path from, Path to) throws IOException {
        delegate.move(from, to);
    }

    @Override
    public void delete(Path path) throws IOException {
        delegate.delete(path);
    }

    @Override
    public void syncDirectory(Path directory) throws IOException {
        if (directorySyncFails) {
            throw new IOException("Input/output error while syncing a directory");
        }
        if (!syncSkipped) {
            delegate.syncDirectory(directory);
        }
    }

    private final class FaultyFile implements LogFile {
        private final LogFile file;

        FaultyFile(LogFile file) {
            this.file = file;
        }

        @Override
        public long sizeBytes() throws IOException {
            return file.sizeBytes();
        }

        @Override
        public void write(ByteBuffer source, long position) throws IOException {
            if (source.remaining() > writableBytes) {
                source.limit(source.position() + (int) writableBytes);
                writableBytes = 0;
                file.write(source, position);
                throw new IOException("No space left on device");
            }
            writableBytes -= source.remaining();
            file.write(source, position);
        }

        @Override
        public int read(ByteBuffer target, long position) throws IOException {
            return file.read(target, position);
        }

        @Override
        public void truncate(long sizeBytes) throws IOException {
            if (truncateFails) {
                throw new IOException("Input/output error");
            }
            file.truncate(sizeBytes);
        }

        @Override
        public void sync() throws IOException {
            if (syncFails) {
                throw new IOException("Input/output error");
            }
            if (!syncSkipped) {
                file.sync();
            }
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
