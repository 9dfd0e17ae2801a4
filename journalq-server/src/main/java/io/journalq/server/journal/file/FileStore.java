package io.journalq.server.journal.file;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;

/**
 * All that journals need of a file system: {@link SystemFileStore} is the real one, {@link MemoryFileStore} keeps
 * everything in memory. Any thread; every call may block.
 *
 * <p>A change of a directory (a file created, moved or deleted) is durable only after {@link #syncDirectory}.
 */
public interface FileStore {
    /** Creates {@code directory} and its parents where they are missing. */
    void createDirectories(Path directory) throws IOException;

    /**
     * As {@link #createDirectories}, and makes the names of those that it creates durable: each one's before the next is
     * made in it. The name of one that is there already is made durable too, because a process that was killed may have
     * made it.
     *
     * @throws SyncNotBegunException when the parent of one that it created cannot be opened
     */
    default void createDurableDirectories(Path directory) throws IOException {
        Path parent = directory.getParent();
        if (parent == null) {
            if (directory.isAbsolute()) {
                return;
            }
            parent = directory.getFileSystem().getPath("");
        }
        boolean present = isDirectory(directory);
        if (!present) {
            if (!parent.toString().isEmpty()) {
                createDurableDirectories(parent);
            }
            createDirectories(directory);
        }
        try {
            syncDirectory(parent);
        } catch (SyncNotBegunException notReadable) {
            if (!present) {
                throw notReadable;
            }
            // Only its owner could have made names in it.
        }
    }

    /** Whether there is a directory of that name. */
    boolean isDirectory(Path path);

    /** Whether {@code directory} lies on a file system that takes no writes. */
    default boolean isReadOnly(Path directory) throws IOException {
        return false;
    }

    /** Names of what is in {@code directory}, in ascending order; empty when there is no such directory. */
    List<String> list(Path directory) throws IOException;

    /**
     * Opens {@code file} for reading and writing.
     *
     * @param create whether to create it when it is missing
     * @throws java.nio.file.NoSuchFileException when it is missing and not to be created
     */
    LogFile open(Path file, boolean create) throws IOException;

    /**
     * Size of {@code file} in bytes.
     *
     * @throws java.nio.file.NoSuchFileException when it is missing
     */
    long sizeBytes(Path file) throws IOException;

    /**
     * The content of a small file.
     *
     * @throws java.nio.file.NoSuchFileException when it is missing
     * @throws IOException when it holds more than {@code maxSizeBytes}
     */
    byte[] read(Path file, int maxSizeBytes) throws IOException;

    /**
     * Puts {@code content} in place of what {@code file} held, if anything: after a crash there is the old content or the
     * new, never a mixture. Durable when this returns if {@code sync} is true.
     */
    void replace(Path file, ByteBuffer content, boolean sync) throws IOException;

    /** Renames a file or a directory; a file already at {@code to} is replaced. */
    void move(Path from, Path to) throws IOException;

    /** Deletes a file, or a directory with everything in it; nothing happens when it is missing. */
    void delete(Path path) throws IOException;

    /**
     * Makes earlier creations, moves and deletions in {@code directory} durable.
     *
     * @throws SyncNotBegunException when nothing was asked of the disk; after any other failure nobody knows what it holds
     */
    void syncDirectory(Path directory) throws IOException;

    /** Room that is left where {@code directory} lies, in bytes; {@link Long#MAX_VALUE} when nobody knows. */
    default long usableBytes(Path directory) throws IOException {
        return Long.MAX_VALUE;
    }

    /**
     * Identifies the machine's current boot. Everything that was written during a boot can be read until it ends, whether or
     * not it was synced. Null when it is unknown.
     */
    default String bootId() {
        return null;
    }
}
