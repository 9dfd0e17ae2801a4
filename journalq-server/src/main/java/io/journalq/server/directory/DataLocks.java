package io.journalq.server.directory;

import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.SystemFileStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Locks the data directories, so that no other process uses them at the same time. Each directory has a lock file,
 * which names the holder. The operating system releases the lock when the process ends, even if it is killed. One
 * thread at a time.
 */
public final class DataLocks implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(DataLocks.class);

    private static final FileStore STORE = new SystemFileStore();

    /** How long to retry while the lock file does not name its holder. */
    private static final long UNKNOWN_HOLDER_LIMIT_NS = TimeUnit.SECONDS.toNanos(1);

    private static final long RETRY_INTERVAL_NS = TimeUnit.MILLISECONDS.toNanos(10);

    /**
     * The directories that this process has locked. The operating system drops a process's lock when any of the
     * process's channels to the file is closed. A directory in this set must therefore not be tried again.
     */
    private static final Set<Path> HELD_HERE = ConcurrentHashMap.newKeySet();

    private final Map<Path, FileChannel> locked = new LinkedHashMap<>();

    private DataLocks() {}

    /**
     * Creates the missing directories, and locks either all directories or none.
     *
     * @throws IOException when another process holds a lock or a directory is not writable; the message is one line
     *     that names the directory and says what to do
     */
    public static DataLocks acquire(List<Path> dataDirectories) throws IOException {
        DataLocks locks = new DataLocks();
        try {
            for (Path directory : dataDirectories) {
                locks.lock(directory.toAbsolutePath().normalize());
            }
            locks.write(LockHolder.thisProcess());
            return locks;
        } catch (IOException refused) {
            locks.close();
            throw refused;
        }
    }

    /**
     * Whether any process, including this one, has locked a directory. The check takes the lock for a moment. A broker
     * that starts at that moment retries.
     */
    public static boolean isHeld(Path dataDirectory) throws IOException {
        Path directory = dataDirectory.toAbsolutePath().normalize();
        if (HELD_HERE.contains(directory)) {
            return true;
        }
        try (FileChannel channel = FileChannel.open(LockHolder.fileIn(directory), StandardOpenOption.WRITE)) {
            return channel.tryLock() == null;
        } catch (OverlappingFileLockException heldByThisProcess) {
            return true;
        } catch (NoSuchFileException neverUsed) {
            return false;
        }
    }

    private void lock(Path directory) throws IOException {
        if (!HELD_HERE.add(directory)) {
            throw inUse(directory, "");
        }
        try {
            if (!STORE.isDirectory(directory)) {
                STORE.createDurableDirectories(directory);
            }
            FileChannel channel =
                    FileChannel.open(LockHolder.fileIn(directory), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            locked.put(directory, channel);
            if (!tryLock(channel, directory)) {
                throw inUse(
                        directory,
                        LockHolder.read(directory)
                                .map(holder -> " (" + holder.describe() + ")")
                                .orElse(""));
            }
        } catch (DirectoryInUseException refused) {
            forget(directory);
            throw refused;
        } catch (IOException | OverlappingFileLockException failure) {
            forget(directory);
            throw new IOException(
                    "cannot write to the data directory " + directory + ": " + failure
                            + "; make it writable, or set another directory in data.directories",
                    failure);
        }
    }

    /**
     * Retries while the lock file names no holder, because {@link #isHeld} in another process takes the lock for a
     * moment.
     */
    private static boolean tryLock(FileChannel channel, Path directory) throws IOException {
        long startNs = System.nanoTime();
        while (channel.tryLock() == null) {
            boolean known =
                    LockHolder.read(directory).flatMap(LockHolder::process).isPresent();
            if (known || System.nanoTime() - startNs > UNKNOWN_HOLDER_LIMIT_NS) {
                return false;
            }
            LockSupport.parkNanos(RETRY_INTERVAL_NS);
        }
        return true;
    }

    private static DirectoryInUseException inUse(Path directory, String by) {
        return new DirectoryInUseException("the data directory " + directory + " is in use by another broker" + by
                + "; stop that broker, or set another directory in data.directories");
    }

    /**
     * Writes the addresses of this broker into every lock file, for operators and tools.
     *
     * @param address where clients on this machine reach it, {@code host:port}
     * @param openAddresses the addresses that other machines can reach, separated by commas
     * @param adminAddress of the health page, {@code host:port} or {@code https://host:port}; null when there is none
     */
    public void announce(String address, String openAddresses, String adminAddress) {
        write(LockHolder.thisProcess().at(address, openAddresses, adminAddress));
    }

    /**
     * Writes the holder into every lock file. Each text begins with the one written before it, so a concurrent reader
     * sees one or the other. A failure is only logged: the lock holds without the text, and a broker must be able to
     * start on a full disk.
     */
    private void write(LockHolder holder) {
        ByteBuffer text = ByteBuffer.wrap(holder.text().getBytes(StandardCharsets.UTF_8));
        locked.forEach((directory, channel) -> {
            try {
                text.rewind();
                while (text.hasRemaining()) {
                    channel.write(text, text.position());
                }
                channel.truncate(text.limit());
            } catch (IOException failure) {
                log.warn(
                        "cannot write the holder of a data directory: directory={} reason=\"{}\"",
                        directory,
                        failure.getMessage());
            }
        });
    }

    /** Releases the locks. */
    @Override
    public void close() {
        for (Path directory : List.copyOf(locked.keySet())) {
            try {
                locked.get(directory).truncate(0);
            } catch (IOException failure) {
                // A reader that finds the old content also checks whether the process still runs.
                log.debug("cannot empty the lock file of a data directory", failure);
            }
            forget(directory);
        }
    }

    private void forget(Path directory) {
        FileChannel channel = locked.remove(directory);
        try {
            if (channel != null) {
                channel.close();
            }
        } catch (IOException failure) {
            // The operating system releases the lock when the process ends, if not before.
            log.warn("cannot release the lock of a data directory", failure);
        } finally {
            HELD_HERE.remove(directory);
        }
    }

    /** Another broker holds the lock. All other exceptions mean that the directory cannot be used. */
    private static final class DirectoryInUseException extends IOException {
        private static final long serialVersionUID = 1L;

        DirectoryInUseException(String message) {
            super(message);
        }
    }
}
