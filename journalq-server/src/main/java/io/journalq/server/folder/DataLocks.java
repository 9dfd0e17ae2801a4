package io.journalq.server.folder;

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
 * Keeps other processes away from data folders while this one uses them. The lock is on a file in each; the operating
 * system gives it back when the process ends, however it ends. The file says who holds it. Used by one thread at a time.
 */
public final class DataLocks implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(DataLocks.class);

    private static final FileStore STORE = new SystemFileStore();

    /** How long a lock is tried again whose holder is not known. */
    private static final long UNKNOWN_HOLDER_LIMIT_NS = TimeUnit.SECONDS.toNanos(1);

    private static final long RETRY_INTERVAL_NS = TimeUnit.MILLISECONDS.toNanos(10);

    /**
     * What this process holds. The operating system drops a process's lock when any of its channels to that file is
     * closed, so a folder that is held here must not even be tried.
     */
    private static final Set<Path> HELD_HERE = ConcurrentHashMap.newKeySet();

    private final Map<Path, FileChannel> locked = new LinkedHashMap<>();

    private DataLocks() {}

    /**
     * Creates the folders where they are missing, and locks them all or none.
     *
     * @throws IOException when one is held by another process or cannot be written; the message is one line that says
     *     which, and what to do
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
     * Whether any process, this one included, has locked a directory. For a moment this takes the lock itself; a broker that
     * starts at that moment tries again.
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
        } catch (FolderInUseException refused) {
            forget(directory);
            throw refused;
        } catch (IOException | OverlappingFileLockException failure) {
            forget(directory);
            throw new IOException(
                    "cannot write to the data folder " + directory + ": " + failure
                            + "; make it writable, or set another folder in data.directories",
                    failure);
        }
    }

    /** Tries again while the process that holds the lock has no name: {@link #isHeld} holds it for a moment. */
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

    private static FolderInUseException inUse(Path directory, String by) {
        return new FolderInUseException("the data folder " + directory + " is in use by another broker" + by
                + "; stop that one, or set another folder in data.directories");
    }

    /**
     * Says in every folder where this broker is reached, for those who look after it.
     *
     * @param address where clients on this machine reach it, {@code host:port}
     * @param adminAddress of the health page, {@code host:port}; null when there is none
     */
    public void announce(String address, String adminAddress) {
        write(LockHolder.thisProcess().at(address, adminAddress));
    }

    /**
     * A later text begins with an earlier one: whoever reads meanwhile reads one of them. The lock holds without it: on a
     * full disk a broker must be able to start.
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
                        "cannot write down who uses a data folder: folder={} reason=\"{}\"",
                        directory,
                        failure.getMessage());
            }
        });
    }

    /** Gives the folders back. */
    @Override
    public void close() {
        for (Path directory : List.copyOf(locked.keySet())) {
            try {
                locked.get(directory).truncate(0);
            } catch (IOException failure) {
                // Who reads the file also looks whether that process still runs.
                log.debug("cannot empty the lock of a data folder", failure);
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
            // The operating system gives the lock back at the latest when the process ends.
            log.warn("cannot give back the lock of a data folder", failure);
        } finally {
            HELD_HERE.remove(directory);
        }
    }

    /** Told apart from a folder that cannot be used at all. */
    private static final class FolderInUseException extends IOException {
        private static final long serialVersionUID = 1L;

        FolderInUseException(String message) {
            super(message);
        }
    }
}
