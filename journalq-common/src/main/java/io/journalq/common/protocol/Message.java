package io.journalq.common.protocol;

/** Whatever a schema describes. Mutable and not thread-safe: one thread fills it in, writes it and forgets it. */
public interface Message {
    /**
     * Appends this message as {@code version} has it. Hands its {@link RecordsData} over to {@code out}, as
     * {@link MessageWriter#writeRecords} says: a message with records is written once.
     *
     * @throws UnsupportedVersionException when that version cannot carry what is set here; {@code out} then holds a
     *     part of the message and must be released
     */
    void write(MessageWriter out, short version);
}
