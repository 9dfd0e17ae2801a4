package io.journalq.seal;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Lets one thread of one process at a time replace a file that others replace as well. A file beside it is locked, with
 * {@code .lock} added to the name: the lock of the file itself would stay with the old file, and end when it is read.
 */
final class FileTurn {
    /** Only one thread of this process at a time, because the lock of a file is one of the process. */
    private static final ReentrantLock TURNS = new ReentrantLock();

    private FileTurn() {}

    /** Reads a file again, and replaces it. */
    @FunctionalInterface
    interface Change<T> {
        T make() throws IOException;
    }

    /** Waits for the turn, makes the change, and returns its result. */
    static <T> T take(Path file, Change<T> change) throws IOException {
        Path beside = file.resolveSibling(file.getFileName() + ".lock");
        TURNS.lock();
        try (FileChannel channel = FileChannel.open(beside, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            channel.lock(); // Closing the channel ends it.
            return change.make();
        } finally {
            TURNS.unlock();
        }
    }

    /** Lets a file take the place of another. After a power loss, too, one of them is there as a whole. */
    static void replace(Path file, Path by) throws IOException {
        sync(by, StandardOpenOption.WRITE);
        Files.move(by, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        syncDirectory(file.toAbsolutePath().getParent());
    }

    /** Makes durable which files are in a directory. Windows cannot open a directory. */
    static void syncDirectory(Path directory) throws IOException {
        if (directory.getFileSystem().supportedFileAttributeViews().contains("posix")) {
            sync(directory, StandardOpenOption.READ);
        }
    }

    private static void sync(Path path, StandardOpenOption access) throws IOException {
        try (FileChannel channel = FileChannel.open(path, access)) {
            channel.force(true);
        }
    }
}
