package io.journalq.server.control;

import io.journalq.common.protocol.Message;
import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import java.util.function.Consumer;

/** Where metadata records are kept, in one order. Used by the controller's thread alone. */
public interface MetadataLog extends Closeable {
    /** Gives every record of the log to {@code replay}, oldest first. Called once, before the first append. */
    void replay(Consumer<Message> replay) throws IOException;

    /**
     * Appends records, all or none of which a later replay sees.
     *
     * @throws IOException when that is not certain; nothing more may then be appended
     */
    void append(List<Message> records) throws IOException;

    /** Returns once everything appended is durable. */
    void sync() throws IOException;

    @Override
    void close() throws IOException;
}
