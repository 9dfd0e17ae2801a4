package io.journalq.client.seal;

import java.util.function.Consumer;

/**
 * The topics that hold keys and trust. They have one partition and are compacted. Calls block, for at most the call
 * timeout of the client, and throw {@link io.journalq.client.error.JournalQException} if they fail. Thread-safe.
 */
public interface KeyLog {
    /**
     * A record of such a topic.
     *
     * @param key null if it has none
     * @param value null for a tombstone
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Entry(long offset, byte[] key, byte[] value) {}

    /**
     * Appends a record, and waits until all in-sync replicas have it. Never creates the topic.
     *
     * @return the offset of the record
     */
    long append(String topic, byte[] key, byte[] value);

    /** Returns the record at an offset, or null if there is none. */
    Entry read(String topic, long offset);

    /** Passes all records from the beginning of a topic to its current end, in their order. */
    void readAll(String topic, Consumer<Entry> each);
}
