package io.journalq.server.journal.file;

import io.netty.channel.FileRegion;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Files in memory: for tests, for simulation, and for data that need not outlive the process. Any thread. A file keeps
 * its content when it is closed and opened again.
 */
public final class MemoryFileStore implements FileStore {
    private static final int FIRST_CAPACITY_BYTES = 256;

    private final TreeMap<Path, MemoryFile> files = new TreeMap<>();

    /** Those that were created. Others exist as long as they hold a file. */
    private final TreeSet<Path> directories = new TreeSet<>();

    @Override
    public synchronized void createDirectories(Path directory) {
        for (Path created = directory; created != null; created = created.getParent()) {
            directories.add(created);
        }
    }

    @Override
    public void createDurableDirectories(Path directory) {
        createDirectories(directory);
    }

    @Override
    public synchronized boolean isDirectory(Path path) {
        Path next = files.higherKey(path);
        return directories.contains(path) || (next != null && next.startsWith(path));
    }

    @Override
    public synchronized List<String> list(Path directory) {
        return Stream.concat(files.keySet().stream(), directories.stream())
                .filter(path -> path.startsWith(directory) && !path.equals(directory))
                .map(path -> path.getName(directory.getNameCount()).toString())
                .distinct()
                .sorted()
                .toList();
    }

    @Override
    public synchronized LogFile open(Path file, boolean create) throws IOException {
        return create ? files.computeIfAbsent(file, path -> new MemoryFile()) : existing(file);
    }

    @Override
    public long sizeBytes(Path file) throws IOException {
        return existing(file).sizeBytes();
    }

    @Override
    public byte[] read(Path file, int maxSizeBytes) throws IOException {
        byte[] content = existing(file).copy();
        if (content.length > maxSizeBytes) {
            throw new IOException(file + " holds " + content.length + " bytes, expected at most " + maxSizeBytes);
        }
        return content;
    }

    @Override
    public synchronized void replace(Path file, ByteBuffer content, boolean sync) throws IOException {
        MemoryFile replacement = new MemoryFile();
        replacement.write(content, 0);
        files.put(file, replacement);
    }

    @Override
    public synchronized void move(Path from, Path to) throws IOException {
        List<Path> movedFiles = below(from, files.keySet());
        List<Path> movedDirectories = below(from, directories);
        if (movedFiles.isEmpty() && movedDirectories.isEmpty()) {
            throw new NoSuchFileException(from.toString());
        }
        for (Path file : movedFiles) {
            files.put(moved(file, from, to), files.remove(file));
        }
        for (Path directory : movedDirectories) {
            directories.remove(directory);
            directories.add(moved(directory, from, to));
        }
    }

    @Override
    public synchronized void delete(Path path) {
        files.keySet().removeIf(file -> file.startsWith(path));
        directories.removeIf(directory -> directory.startsWith(path));
    }

    /** {@code path} and what it holds. */
    private static List<Path> below(Path path, Set<Path> paths) {
        return paths.stream().filter(other -> other.startsWith(path)).toList();
    }

    private static Path moved(Path path, Path from, Path to) {
        return path.equals(from) ? to : to.resolve(from.relativize(path));
    }

    @Override
    public void syncDirectory(Path directory) {
        // Nothing in memory is durable.
    }

    private synchronized MemoryFile existing(Path file) throws NoSuchFileException {
        MemoryFile found = files.get(file);
        if (found == null) {
            throw new NoSuchFileException(file.toString());
        }
        return found;
    }

    private static final class MemoryFile implements LogFile {
        private byte[] content = new byte[0];
        private int sizeBytes;

        @Override
        public synchronized long sizeBytes() {
            return sizeBytes;
        }

        @Override
        public synchronized void write(ByteBuffer source, long position) throws IOException {
            long end = position + source.remaining();
            grow(end);
            source.get(content, (int) position, source.remaining());
            sizeBytes = (int) Math.max(sizeBytes, end);
        }

        @Override
        public synchronized int read(ByteBuffer target, long position) {
            if (position >= sizeBytes) {
                return 0;
            }
            int count = (int) Math.min(target.remaining(), sizeBytes - position);
            target.put(content, (int) position, count);
            return count;
        }

        @Override
        public synchronized void truncate(long newSizeBytes) throws IOException {
            grow(newSizeBytes);
            if (newSizeBytes < sizeBytes) {
                Arrays.fill(content, (int) newSizeBytes, sizeBytes, (byte) 0);
            }
            sizeBytes = (int) newSizeBytes;
        }

        @Override
        public void sync() {
            // Nothing in memory is durable.
        }

        @Override
        public FileRegion region(long position, int sizeBytes, Runnable onRelease) {
            return null;
        }

        @Override
        public void close() {
            // The content stays, as that of a closed file does.
        }

        synchronized byte[] copy() {
            return Arrays.copyOf(content, sizeBytes);
        }

        private void grow(long neededBytes) throws IOException {
            if (neededBytes > Integer.MAX_VALUE - 8) {
                throw new IOException("a file in memory is limited to 2 GiB");
            }
            if (neededBytes > content.length) {
                long doubled = Math.max(FIRST_CAPACITY_BYTES, 2L * content.length);
                content = Arrays.copyOf(content, (int) Math.min(Integer.MAX_VALUE - 8, Math.max(neededBytes, doubled)));
            }
        }
    }
}
