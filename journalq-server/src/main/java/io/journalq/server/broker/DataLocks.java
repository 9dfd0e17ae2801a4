package io.journalq.server.broker;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps other brokers away from this one's data folders. The lock is on a file in each; the operating system gives it
 * back when the process ends, however it ends.
 */
final class DataLocks implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(DataLocks.class);
    private static final String LOCK_FILE = ".lock";

    private final List<FileChannel> locked = new ArrayList<>();

    private DataLocks() {}

    /** Creates the folders where they are missing, and locks them all or none. */
    static DataLocks acquire(List<Path> dataDirectories) throws StartException {
        DataLocks locks = new DataLocks();
        try {
            for (Path directory : dataDirectories) {
                locks.lock(directory);
            }
            return locks;
        } catch (StartException refused) {
            locks.close();
            throw refused;
        }
    }

    private void lock(Path directory) throws StartException {
        Path absolute = directory.toAbsolutePath().normalize();
        try {
            Files.createDirectories(absolute);
            FileChannel channel =
                    FileChannel.open(absolute.resolve(LOCK_FILE), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            locked.add(channel);
            if (tryLock(channel) == null) {
                throw new StartException("the data folder " + absolute
                        + " is in use by another broker; stop that one, or set another folder in data.directories");
            }
        } catch (IOException failure) {
            throw new StartException(
                    "cannot write to the data folder " + absolute + ": " + failure
                            + "; make it writable, or set another folder in data.directories",
                    failure);
        }
    }

    /** Null when somebody else holds the lock, in this process or another. */
    private static FileLock tryLock(FileChannel channel) throws IOException {
        try {
            return channel.tryLock();
        } catch (OverlappingFileLockException heldByThisProcess) {
            return null;
        }
    }

    /** Gives the folders back. */
    @Override
    public void close() {
        for (FileChannel channel : locked) {
            try {
                channel.close();
            } catch (IOException failure) {
                // The operating system gives the lock back at the latest when the process ends.
                log.warn("cannot give back the lock of a data folder", failure);
            }
        }
        locked.clear();
    }
}
