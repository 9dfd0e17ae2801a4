package io.journalq.server.journal.file;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;

/** A store that delegates every call to another; subclasses override some of them. As thread-safe as the delegate. */
public class FilterFileStore implements FileStore {
    protected final FileStore delegate;

    protected FilterFileStore(FileStore delegate) {
        this.delegate = delegate;
    }

    @Override
    public void createDirectories(Path directory) throws IOException {
        delegate.createDirectories(directory);
    }

    @Override
    public void createDurableDirectories(Path directory) throws IOException {
        delegate.createDurableDirectories(directory);
    }

    @Override
    public boolean isDirectory(Path path) {
        return delegate.isDirectory(path);
    }

    @Override
    public boolean isReadOnly(Path directory) throws IOException {
        return delegate.isReadOnly(directory);
    }

    @Override
    public List<String> list(Path directory) throws IOException {
        return delegate.list(directory);
    }

    @Override
    public LogFile open(Path file, boolean create) throws IOException {
        return delegate.open(file, create);
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
        delegate.syncDirectory(directory);
    }

    @Override
    public void restrict(Path path) throws IOException {
        delegate.restrict(path);
    }

    @Override
    public long usableBytes(Path directory) throws IOException {
        return delegate.usableBytes(directory);
    }

    @Override
    public String bootId() {
        return delegate.bootId();
    }
}
