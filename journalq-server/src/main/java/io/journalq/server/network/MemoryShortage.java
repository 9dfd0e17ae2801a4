package io.journalq.server.network;

/**
 * The memory for a read could not be allocated. Netty would close the connection after an OutOfMemoryError. This
 * exception only ends the read, and the connection is read again a little later.
 */
final class MemoryShortage extends RuntimeException {
    private static final long serialVersionUID = 1L;

    MemoryShortage(OutOfMemoryError cause) {
        super(cause.getMessage(), null, false, false);
    }
}
