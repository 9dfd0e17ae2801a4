package io.journalq.server.network;

/**
 * The system or the Java machine gave no memory for a read. Netty closes a connection whose read ends in an
 * OutOfMemoryError; this only ends the read, and the connection is read again a little later.
 */
final class MemoryShortage extends RuntimeException {
    private static final long serialVersionUID = 1L;

    MemoryShortage(OutOfMemoryError cause) {
        super(cause.getMessage(), null, false, false);
    }
}
