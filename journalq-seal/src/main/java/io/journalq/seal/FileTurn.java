package io.journalq.seal;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
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
    interface Change {
        void make() throws IOException;
    }

    /** Waits for the turn, and makes the change. */
    static void take(Path file, Change change) throws IOException {
        Path beside = file.resolveSibling(file.getFileName() + ".lock");
        TURNS.lock();
        try (FileChannel channel = FileChannel.open(beside, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            channel.lock(); // Closing the channel ends it.
            change.make();
        } finally {
            TURNS.unlock();
        }
    }
}
