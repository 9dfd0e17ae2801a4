package io.journalq.quorum;

import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.FilterFileStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/** The files of a process that is killed before a given change of a directory or file: no later change happens. */
final class KilledFileStore extends FilterFileStore {
    private int changesLeft;

    KilledFileStore(FileStore delegate, int changes) {
        super(delegate);
        changesLeft = changes;
    }

    /** Whether it was killed. */
    boolean isKilled() {
        return changesLeft < 0;
    }

    private void change() throws IOException {
        if (changesLeft == 0) {
            changesLeft = -1;
        }
        if (changesLeft < 0) {
            throw new IOException("killed (planted)");
        }
        changesLeft--;
    }

    @Override
    public void createDurableDirectories(Path directory) throws IOException {
        change();
        super.createDurableDirectories(directory);
    }

    @Override
    public void replace(Path file, ByteBuffer content, boolean sync) throws IOException {
        change();
        super.replace(file, content, sync);
    }

    @Override
    public void move(Path from, Path to) throws IOException {
        change();
        super.move(from, to);
    }

    @Override
    public void delete(Path path) throws IOException {
        change();
        super.delete(path);
    }

    @Override
    public void syncDirectory(Path directory) throws IOException {
        change();
        super.syncDirectory(directory);
    }
}
