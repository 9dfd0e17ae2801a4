package io.journalq.server.journal.file;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;

/**
 * The file system operations that journals need. {@link SystemFileStore} is the real file system,
 * {@link MemoryFileStore} keeps everything in memory. Any thread; every call may block.
 *
 * <p>A change of a directory (a file created, moved or deleted) is durable only after {@link #syncDirectory}.
 */
public interface FileStore {
    /** Creates {@code directory} and any missing parents. */
    void createDirectories(Path directory) throws IOException;

    /**
     * Like {@link #createDirectories}, and makes the name of each created directory durable before the next is created
     * in it. The name of the first existing directory is made durable too, because a process that was killed may have
     * created it.
     *
     * @throws SyncNotBegunException if the parent of a created directory cannot be opened
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
            // Only the owner of the directory could have created names in it.
        }
    }

    /** Whether {@code path} is a directory. */
    boolean isDirectory(Path path);

    /** Whether {@code directory} is on a read-only file system. */
    default boolean isReadOnly(Path directory) throws IOException {
        return false;
    }

    /** Names of the entries of {@code directory} in ascending order; empty if there is no such directory. */
    List<String> list(Path directory) throws IOException;

    /**
     * Opens {@code file} for reading and writing.
     *
     * @param create whether to create the file if it is missing
     * @throws java.nio.file.NoSuchFileException if it is missing and {@code create} is false
     */
    LogFile open(Path file, boolean create) throws IOException;

    /**
     * Size of {@code file} in bytes.
     *
     * @throws java.nio.file.NoSuchFileException if it is missing
     */
    long sizeBytes(Path file) throws IOException;

    /**
     * The content of a small file.
     *
     * @throws java.nio.file.NoSuchFileException if it is missing
     * @throws IOException if it is larger than {@code maxSizeBytes}
     */
    byte[] read(Path file, int maxSizeBytes) throws IOException;

    /**
     * Replaces the content of {@code file}, if any, with {@code content}. After a crash the file has the old or the new
     * content, never a mixture. Durable when this returns if {@code sync} is true.
     */
    void replace(Path file, ByteBuffer content, boolean sync) throws IOException;

    /** Renames a file or a directory, and replaces a file that exists at {@code to}. */
    void move(Path from, Path to) throws IOException;

    /** Deletes a file, or a directory with everything in it. Does nothing if it is missing. */
    void delete(Path path) throws IOException;

    /**
     * Makes earlier creations, moves and deletions in {@code directory} durable.
     *
     * @throws SyncNotBegunException if the sync was not started; after any other failure the state of the disk is
     *     unknown
     */
    void syncDirectory(Path directory) throws IOException;

    /**
     * Takes a file or a directory from all users except the owner. Does nothing, and logs a line, where that is not
     * possible.
     */
    default void restrict(Path path) throws IOException {}

    /** Usable space on the file system of {@code directory}, in bytes; {@link Long#MAX_VALUE} if it is unknown. */
    default long usableBytes(Path directory) throws IOException {
        return Long.MAX_VALUE;
    }

    /**
     * Identifies the machine's current boot. Data written during a boot can be read until the boot ends, whether or not
     * it was synced. Null if it is unknown.
     */
    default String bootId() {
        return null;
    }
}
