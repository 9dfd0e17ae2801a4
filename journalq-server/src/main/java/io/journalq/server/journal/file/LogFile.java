package io.journalq.server.journal.file;

import io.netty.channel.FileRegion;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * One open file of a {@link FileStore}. Reads, {@link #sync} and {@link #sizeBytes} may be called from any thread; writes
 * and truncation only from the one thread that owns the file.
 *
 * <p>A thread that calls this must not be interrupted: the system's file channels close themselves when that happens.
 */
public interface LogFile extends Closeable {
    /** Size of the file in bytes, whether or not it has reached the disk. */
    long sizeBytes() throws IOException;

    /**
     * Writes everything that remains in {@code source}, beginning at {@code position}.
     *
     * @throws IOException when not all of it could be written, as on a full disk; any part of it may then be in the file
     */
    void write(ByteBuffer source, long position) throws IOException;

    /**
     * Reads from {@code position} until {@code target} is full or the file ends.
     *
     * @return the number of bytes read; less than {@code target} had room for only at the end of the file
     */
    int read(ByteBuffer target, long position) throws IOException;

    /** Cuts the file, or lengthens it with zeros, to {@code sizeBytes}. */
    void truncate(long sizeBytes) throws IOException;

    /** Returns once everything written before the call has reached the disk. */
    void sync() throws IOException;

    /**
     * A stretch of the file that a socket can send without copying it. Releasing the region runs {@code onRelease} and
     * leaves the file open.
     *
     * @return null when this store can only be read
     */
    FileRegion region(long position, int sizeBytes, Runnable onRelease);

    @Override
    void close() throws IOException;
}
