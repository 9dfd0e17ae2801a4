package io.journalq.server.broker;

import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.LogFile;
import io.journalq.server.journal.file.MemoryFileStore;
import io.netty.channel.FileRegion;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Files in memory that remember every change in the order in which it was made, so that a test finds them as a process
 * leaves them that is killed after any of the changes. Any thread.
 */
final class RecordedFiles implements FileStore {
    private final FileStore files = new MemoryFileStore();
    private final List<Change> changes = new ArrayList<>();

    /** One change. */
    static final class Change {
        private final Path file;
        /** What is written; null for a change of another kind. */
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

        /** Half of a write, as when the process dies within it. */
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
        action.applyTo(files);
        changes.add(new Change(file, null, 0, action));
    }

    private synchronized void write(Path file, LogFile real, ByteBuffer source, long position) throws IOException {
        byte[] bytes = new byte[source.remaining()];
        source.duplicate().get(bytes);
        real.write(source, position);
        changes.add(new Change(file, bytes, position, null));
    }

    @Override
    public void createDirectories(Path directory) throws IOException {
        files.createDirectories(directory);
    }

    @Override
    public List<String> list(Path directory) throws IOException {
        return files.list(directory);
    }

    @Override
    public LogFile open(Path file, boolean create) throws IOException {
        if (create) {
            change(file, store -> store.open(file, true));
        }
        return new Recorded(file, files.open(file, false));
    }

    @Override
    public long sizeBytes(Path file) throws IOException {
        return files.sizeBytes(file);
    }

    @Override
    public byte[] read(Path file, int maxSizeBytes) throws IOException {
        return files.read(file, maxSizeBytes);
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

    @Override
    public void syncDirectory(Path directory) throws IOException {
        files.syncDirectory(directory);
    }

    private final class Recorded implements LogFile {
        private final Path file;
        private final LogFile real;

        Recorded(Path file, LogFile real) {
            this.file = file;
            this.real = real;
        }

        @Override
        public long sizeBytes() throws IOException {
            return real.sizeBytes();
        }

        @Override
        public void write(ByteBuffer source, long position) throws IOException {
            RecordedFiles.this.write(file, real, source, position);
        }

        @Override
        public int read(ByteBuffer target, long position) throws IOException {
            return real.read(target, position);
        }

        @Override
        public void truncate(long sizeBytes) throws IOException {
            change(file, store -> store.open(file, true).truncate(sizeBytes));
        }

        @Override
        public void sync() throws IOException {
            real.sync();
        }

        @Override
        public FileRegion region(long position, int sizeBytes, Runnable onRelease) {
            return null;
        }

        @Override
        public void close() throws IOException {
            real.close();
        }
    }
}
