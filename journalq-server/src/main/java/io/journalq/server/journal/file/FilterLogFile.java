package io.journalq.server.journal.file;

import io.netty.channel.FileRegion;
import java.io.IOException;
import java.nio.ByteBuffer;

/** A file that delegates every call to another; subclasses override some of them. As thread-safe as the delegate. */
public class FilterLogFile implements LogFile {
    protected final LogFile delegate;

    protected FilterLogFile(LogFile delegate) {
        this.delegate = delegate;
    }

    @Override
    public long sizeBytes() throws IOException {
        return delegate.sizeBytes();
    }

    @Override
    public void write(ByteBuffer source, long position) throws IOException {
        delegate.write(source, position);
    }

    @Override
    public int read(ByteBuffer target, long position) throws IOException {
        return delegate.read(target, position);
    }

    @Override
    public void truncate(long sizeBytes) throws IOException {
        delegate.truncate(sizeBytes);
    }

    @Override
    public void sync() throws IOException {
        delegate.sync();
    }

    @Override
    public FileRegion region(long position, int sizeBytes, Runnable onRelease) {
        return delegate.region(position, sizeBytes, onRelease);
    }

    @Override
    public void close() throws IOException {
        delegate.close();
    }
}
