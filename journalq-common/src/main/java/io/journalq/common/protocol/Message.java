package io.journalq.common.protocol;

/**
 * A message that is generated from a schema. Mutable and not thread-safe: one thread sets its fields, writes it once,
 * and drops it.
 */
public interface Message {
    /**
     * Writes the message in this version. {@code out} takes over its {@link RecordsData}, as described at {@link
     * MessageWriter#writeRecords}, so a message with records can be written only once.
     *
     * @throws UnsupportedVersionException if the version cannot represent a field that is set; {@code out} then
     *     contains a part of the message and must be released
     */
    void write(MessageWriter out, short version);
}
