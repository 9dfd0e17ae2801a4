package io.journalq.server.control;

import io.journalq.common.protocol.Message;
import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import java.util.function.Consumer;

/** Where metadata records are kept, in one order. Used by the controller's thread alone. */
public interface MetadataLog extends Closeable {
    /**
     * Gives the records of the log to {@code replay}, oldest first; in place of those before the newest snapshot, its
     * records. Called once, before the first append.
     */
    void replay(Consumer<Message> replay) throws IOException;

    /** Appends records. A later replay sees everything that was appended between two syncs, or nothing of it. */
    void append(List<Message> records) throws IOException;

    /**
     * Returns once everything appended is durable.
     *
     * @throws IOException when that is not certain; nothing more may then be appended
     */
    void sync() throws IOException;

    /** Lets nothing be written any more: its files cannot be relied on. A restart ends it. Any thread. */
    void fence(IOException reason);

    /** Whether so much was appended since the last snapshot that another should be kept. */
    boolean isSnapshotDue();

    /**
     * Keeps {@code records} instead of everything appended so far, which is synced. After a stop or a failure in
     * the midst of this there is the one or the other.
     *
     * @throws IOException when that failed; the log is as good as before
     */
    void keepSnapshot(List<Message> records) throws IOException;

    @Override
    void close() throws IOException;
}
