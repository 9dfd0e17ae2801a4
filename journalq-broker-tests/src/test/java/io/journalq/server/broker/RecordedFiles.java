package io.journalq.server.broker;

import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.FilterFileStore;
import io.journalq.server.journal.file.FilterLogFile;
import io.journalq.server.journal.file.LogFile;
import io.journalq.server.journal.file.MemoryFileStore;
import io.netty.channel.FileRegion;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Files in memory that record every change in its order. A test can restore them to the state of a process that was
 * killed after any of the changes. Any thread.
 */
final class RecordedFiles extends FilterFileStore {
    private final List<Change> changes = new ArrayList<>();

    RecordedFiles() {
        super(new MemoryFileStore());
    }

    /** One change. */
    static final class Change {
        private final Path file;
        /** The written bytes; null for a change of another kind. */
        private final byte[] bytes;

        private final long position;
        private final Action action;

        interface Action {
            void applyTo(FileStore store) throws IOException;
        }

        Change(Path file, byte[] bytes, long position, Action action) {
            this.file = file;
            this.bytes = bytes;
            this.position = position;
            this.action = action;
        }

        boolean isWriteToJournal() {
            return bytes != null && file.toString().endsWith(".log");
        }

        void applyTo(FileStore store) throws IOException {
            if (bytes == null) {
                action.applyTo(store);
            } else {
                store.open(file, true).write(ByteBuffer.wrap(bytes), position);
            }
        }

        /** Half of a write, for a process that is killed during it. */
        void applyHalfTo(FileStore store) throws IOException {
            store.open(file, true).write(ByteBuffer.wrap(bytes, 0, bytes.length / 2), position);
        }
    }

    /** Number of changes up to now. */
    synchronized int count() {
        return changes.size();
    }

    synchronized Change change(int index) {
        return changes.get(index);
    }

    /** The files as they were after the first {@code count} changes. */
    synchronized FileStore after(int count) throws IOException {
        FileStore store = new MemoryFileStore();
        for (Change change : changes.subList(0, count)) {
            change.applyTo(store);
        }
        return store;
    }

    private synchronized void change(Path file, Change.Action action) throws IOException {
        action.applyTo(delegate);
        changes.add(new Change(file, null, 0, action));
    }

    private synchronized void write(Path file, LogFile real, ByteBuffer source, long position) throws IOException {
        byte[] bytes = new byte[source.remaining()];
        source.duplicate().get(bytes);
        real.write(source, position);
        changes.add(new Change(file, bytes, position, null));
    }

    @Override
    public LogFile open(Path file, boolean create) throws IOException {
        if (create) {
            change(file, store -> store.open(file, true));
        }
        return new Recorded(file, delegate.open(file, false));
    }

    @Override
    public void replace(Path file, ByteBuffer content, boolean sync) throws IOException {
        byte[] bytes = new byte[content.remaining()];
        content.get(bytes);
        change(file, store -> store.replace(file, ByteBuffer.wrap(bytes), sync));
    }

    @Override
    public void move(Path from, Path to) throws IOException {
        change(from, store -> store.move(from, to));
    }

    @Override
    public void delete(Path path) throws IOException {
        change(path, store -> store.delete(path));
    }

    private final class Recorded extends FilterLogFile {
        private final Path file;

        Recorded(Path file, LogFile real) {
            super(real);
            this.file = file;
        }

        @Override
        public void write(ByteBuffer source, long position) throws IOException {
            RecordedFiles.this.write(file, delegate, source, position);
        }

        @Override
        public void truncate(long sizeBytes) throws IOException {
            change(file, store -> store.open(file, true).truncate(sizeBytes));
        }

        @Override
        public FileRegion region(long position, int sizeBytes, Runnable onRelease) {
            return null;
        }
    }
}
