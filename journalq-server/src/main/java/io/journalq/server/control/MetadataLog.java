package io.journalq.server.control;

import io.journalq.common.protocol.Message;
import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import java.util.function.Consumer;

/** Stores metadata records in a total order. Used only by the controller's thread. */
public interface MetadataLog extends Closeable {
    /**
     * Passes the records of the log to {@code replay}, oldest first. The records of the newest snapshot replace those
     * before it. Called once, before the first append.
     */
    void replay(Consumer<Message> replay) throws IOException;

    /** Appends records. A later replay sees either all or none of the records that were appended between two syncs. */
    void append(List<Message> records) throws IOException;

    /**
     * Returns once all appended records are durable.
     *
     * @throws IOException if that is not certain; nothing more may then be appended
     */
    void sync() throws IOException;

    /** Rejects all writes, because the log's files cannot be relied on. Only a restart lifts the fence. Any thread. */
    void fence(IOException reason);

    /** Whether enough was appended since the last snapshot to write another. */
    boolean isSnapshotDue();

    /**
     * Replaces everything appended so far, which is synced, with {@code records}. After a stop or a failure during this
     * call, the log has either the old or the new content.
     *
     * @throws IOException if that failed; the log is unchanged
     */
    void keepSnapshot(List<Message> records) throws IOException;

    @Override
    void close() throws IOException;
}
