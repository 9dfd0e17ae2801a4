package io.journalq.server.journal.file;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/**
 * The files of a directory that contains secrets. Only the user of the broker may use the directory and what is created
 * in it. Any thread.
 */
public final class PrivateFileStore extends FilterFileStore {
    /** Takes {@code directory} and its files from other users if it exists. */
    public PrivateFileStore(FileStore delegate, Path directory) throws IOException {
        super(delegate);
        if (delegate.isDirectory(directory)) {
            delegate.restrict(directory);
            for (String name : delegate.list(directory)) {
                delegate.restrict(directory.resolve(name));
            }
        }
    }

    @Override
    public void createDirectories(Path directory) throws IOException {
        delegate.createDirectories(directory);
        delegate.restrict(directory);
    }

    @Override
    public void createDurableDirectories(Path directory) throws IOException {
        delegate.createDurableDirectories(directory);
        delegate.restrict(directory);
    }

    @Override
    public LogFile open(Path file, boolean create) throws IOException {
        LogFile opened = delegate.open(file, create);
        if (create) {
            delegate.restrict(file);
        }
        return opened;
    }

    @Override
    public void replace(Path file, ByteBuffer content, boolean sync) throws IOException {
        delegate.replace(file, content, sync);
        delegate.restrict(file);
    }
}
