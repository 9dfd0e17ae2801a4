package io.journalq.server.journal.file;

import io.netty.channel.DefaultFileRegion;
import io.netty.channel.FileRegion;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The operating system's files. Any thread. */
public final class SystemFileStore implements FileStore {
    /**
     * Suffix of the temporary file that {@link #replace} writes and then renames. One that a crash left behind may be
     * deleted.
     */
    public static final String TEMPORARY_SUFFIX = ".tmp";

    /** Linux only; a container sees the boot id of its host. */
    private static final Path BOOT_ID_FILE = Path.of("/proc/sys/kernel/random/boot_id");

    private static final Logger LOG = LoggerFactory.getLogger(SystemFileStore.class);

    /**
     * A spare file handle. It is closed when too many files are open to open a directory for a sync. Unsynced files
     * stay open, so without the spare handle no sync could ever free a handle. Guarded by this.
     */
    private FileChannel spare;

    private final SyncTimes syncTimes = new SyncTimes();

    /** Durations of the fsync calls for log files. */
    public SyncTimes syncTimes() {
        return syncTimes;
    }

    @Override
    public void createDirectories(Path directory) throws IOException {
        Files.createDirectories(directory);
    }

    @Override
    public boolean isDirectory(Path path) {
        return Files.isDirectory(path);
    }

    @Override
    public boolean isReadOnly(Path directory) throws IOException {
        return Files.getFileStore(directory).isReadOnly();
    }

    @Override
    public List<String> list(Path directory) throws IOException {
        List<String> names = new ArrayList<>();
        try (var entries = Files.newDirectoryStream(onceOnly(directory))) {
            for (Path entry : entries) {
                names.add(entry.getFileName().toString());
            }
        } catch (NoSuchFileException | NotDirectoryException missing) {
            return List.of();
        }
        Collections.sort(names);
        return names;
    }

    @Override
    public String bootId() {
        try {
            return Files.readString(BOOT_ID_FILE).strip();
        } catch (IOException unknown) {
            return null;
        }
    }

    @Override
    public LogFile open(Path file, boolean create) throws IOException {
        return new SystemLogFile(
                create
                        ? FileChannel.open(
                                file, StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.CREATE)
                        : FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE));
    }

    @Override
    public long sizeBytes(Path file) throws IOException {
        return Files.size(file);
    }

    @Override
    public byte[] read(Path file, int maxSizeBytes) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            long sizeBytes = channel.size();
            if (sizeBytes > maxSizeBytes) {
                throw new IOException(file + " holds " + sizeBytes + " bytes, expected at most " + maxSizeBytes);
            }
            ByteBuffer content = ByteBuffer.allocate((int) sizeBytes);
            while (content.hasRemaining()) {
                if (channel.read(content) < 0) {
                    throw new EOFException(file + " became shorter while it was read");
                }
            }
            return content.array();
        }
    }

    @Override
    public void replace(Path file, ByteBuffer content, boolean sync) throws IOException {
        Path temporary = file.resolveSibling(file.getFileName() + TEMPORARY_SUFFIX);
        try (FileChannel channel = FileChannel.open(
                temporary, StandardOpenOption.WRITE, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING)) {
            while (content.hasRemaining()) {
                channel.write(content);
            }
            if (sync) {
                channel.force(true);
            }
        }
        Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        if (sync) {
            syncDirectory(file.getParent());
        }
    }

    @Override
    public void move(Path from, Path to) throws IOException {
        Files.move(from, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    @Override
    public void delete(Path path) throws IOException {
        if (!Files.isDirectory(path)) {
            Files.deleteIfExists(path);
            return;
        }
        Files.walkFileTree(path, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.deleteIfExists(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path directory, IOException failure) throws IOException {
                Files.deleteIfExists(directory);
                return FileVisitResult.CONTINUE;
            }
        });
    }

    @Override
    public void syncDirectory(Path directory) throws IOException {
        try (FileChannel channel = openToSync(directory)) {
            channel.force(true);
        } finally {
            keepSpare(directory);
        }
    }

    @Override
    public void restrict(Path path) {
        try {
            Files.setPosixFilePermissions(
                    path, PosixFilePermissions.fromString(Files.isDirectory(path) ? "rwx------" : "rw-------"));
        } catch (IOException | UnsupportedOperationException refused) {
            LOG.warn("cannot take {} from other users: {}", path, refused.toString());
        }
    }

    @Override
    public long usableBytes(Path directory) throws IOException {
        return Files.getFileStore(directory).getUsableSpace();
    }

    /**
     * A copy of the path, for one use. Opening a path makes it keep its text permanently, and journals keep their
     * directories' paths: with very many partitions, that is 100 bytes for each.
     */
    private static Path onceOnly(Path directory) {
        return directory.resolve(".");
    }

    private FileChannel openToSync(Path directory) throws SyncNotBegunException {
        try {
            return FileChannel.open(onceOnly(directory), StandardOpenOption.READ);
        } catch (IOException tooManyAreOpen) {
            if (!giveUpSpare()) {
                throw new SyncNotBegunException(directory, tooManyAreOpen);
            }
        }
        try {
            return FileChannel.open(onceOnly(directory), StandardOpenOption.READ);
        } catch (IOException stillNot) {
            throw new SyncNotBegunException(directory, stillNot);
        }
    }

    private synchronized boolean giveUpSpare() {
        FileChannel given = spare;
        spare = null;
        if (given == null) {
            return false;
        }
        try {
            given.close();
        } catch (IOException failure) {
            LOG.debug("cannot close the spare file handle: {}", failure.toString());
        }
        return true;
    }

    private synchronized void keepSpare(Path directory) {
        if (spare == null) {
            try {
                spare = FileChannel.open(onceOnly(directory), StandardOpenOption.READ);
            } catch (IOException noneLeft) {
                LOG.debug("cannot open a spare file handle: {}", noneLeft.toString());
            }
        }
    }

    /** A file channel that is only used with explicit positions, so that readers and the writer share no state. */
    private final class SystemLogFile implements LogFile {
        private final FileChannel channel;

        SystemLogFile(FileChannel channel) {
            this.channel = channel;
        }

        @Override
        public long sizeBytes() throws IOException {
            return channel.size();
        }

        @Override
        public void write(ByteBuffer source, long position) throws IOException {
            long next = position;
            while (source.hasRemaining()) {
                next += channel.write(source, next);
            }
        }

        @Override
        public int read(ByteBuffer target, long position) throws IOException {
            int total = 0;
            while (target.hasRemaining()) {
                int count = channel.read(target, position + total);
                if (count < 0) {
                    break;
                }
                total += count;
            }
            return total;
        }

        @Override
        public void truncate(long sizeBytes) throws IOException {
            long current = channel.size();
            if (sizeBytes < current) {
                channel.truncate(sizeBytes);
            } else if (sizeBytes > current) {
                channel.write(ByteBuffer.allocate(1), sizeBytes - 1);
            }
        }

        @Override
        public void sync() throws IOException {
            long begunNanos = System.nanoTime();
            channel.force(false);
            syncTimes.record(System.nanoTime() - begunNanos);
        }

        @Override
        public FileRegion region(long position, int sizeBytes, Runnable onRelease) {
            return new Region(channel, position, sizeBytes, onRelease);
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

    /** Netty's region, which its native transports can send, for a file that stays open. */
    private static final class Region extends DefaultFileRegion {
        private final Runnable onRelease;

        Region(FileChannel channel, long position, int sizeBytes, Runnable onRelease) {
            super(channel, position, sizeBytes);
            this.onRelease = onRelease;
        }

        @Override
        protected void deallocate() {
            onRelease.run();
        }
    }
}
