package io.journalq.bench.driver;

/**
 * Sends single messages without waiting; the library may gather them. One thread at a time, and a connection of its own
 * where the library has such a thing.
 */
public interface Publisher extends AutoCloseable {
    /**
     * Hands one message over. May wait while the library's own bounds are reached.
     *
     * @param confirmation hears exactly once, on any thread, unless this throws; where nothing is acknowledged, once the
     *     library has taken the message
     */
    void publish(byte[] value, Confirmation confirmation) throws Exception;

    /** Sends what the library still holds back, and waits until all is answered. */
    void flush() throws Exception;

    @Override
    void close();

    /** Hears what became of a message. */
    @FunctionalInterface
    interface Confirmation {
        /** {@code failure} is null when all is well. */
        void onConfirmed(Throwable failure);
    }
}
