package io.journalq.server.journal.file;

import io.netty.channel.FileRegion;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * One open file of a {@link FileStore}. Any thread may read and call {@link #sync} and {@link #sizeBytes}. Only the
 * thread that owns the file may write and truncate.
 *
 * <p>The calling thread must not be interrupted, because the system's file channels then close themselves.
 */
public interface LogFile extends Closeable {
    /** Size of the file in bytes, whether or not it is synced. */
    long sizeBytes() throws IOException;

    /**
     * Writes all remaining bytes of {@code source} at {@code position}.
     *
     * @throws IOException if not all bytes could be written, for example because the disk is full; any part of them may
     *     then be in the file
     */
    void write(ByteBuffer source, long position) throws IOException;

    /**
     * Reads from {@code position} until {@code target} is full or the file ends.
     *
     * @return the number of bytes read; it is less than the room in {@code target} only at the end of the file
     */
    int read(ByteBuffer target, long position) throws IOException;

    /** Truncates the file to {@code sizeBytes}, or extends it with zeros. */
    void truncate(long sizeBytes) throws IOException;

    /** Returns when everything written before the call is on the disk. */
    void sync() throws IOException;

    /**
     * A range of the file that a socket can send without copying it. Releasing the region runs {@code onRelease} and
     * leaves the file open.
     *
     * @return null if this store does not support regions
     */
    FileRegion region(long position, int sizeBytes, Runnable onRelease);

    @Override
    void close() throws IOException;
}
