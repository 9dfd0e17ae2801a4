package io.journalq.server.api;

/**
 * The memory that a caller has for the records of a response. It is reserved when the size of the records is known, and
 * before they are read, so that fetches that wait for records reserve nothing.
 */
@FunctionalInterface
public interface RecordMemory {
    /** Memory that is not limited. */
    RecordMemory UNLIMITED = (sizeBytes, granted) -> true;

    /**
     * Reserves memory for a response, which the caller gives back. What was reserved for an earlier attempt to respond to
     * the same request is given back first. On the caller's loop.
     *
     * @param granted is called once the memory is reserved, on the thread that gave some back
     * @return whether it was reserved at once; {@code granted} is not called then
     */
    boolean reserve(long sizeBytes, Runnable granted);
}
