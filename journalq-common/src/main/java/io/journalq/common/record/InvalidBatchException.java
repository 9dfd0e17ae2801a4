package io.journalq.common.record;

/**
 * The bytes are not a valid record batch, or would exceed a limit when decompressed. It is the only exception that
 * invalid bytes can cause in this package. It has no stack trace, so that a client that sends invalid bytes cannot
 * cause much work.
 */
public class InvalidBatchException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message what is wrong, for a log line or an error response
     */
    public InvalidBatchException(String message) {
        super(message, null, false, false);
    }

    /** The records would exceed the allowed size when decompressed. */
    public static final class DecompressedTooLargeException extends InvalidBatchException {
        private static final long serialVersionUID = 1L;

        DecompressedTooLargeException(int maxSizeBytes) {
            super("decompressed records exceed " + maxSizeBytes + " bytes");
        }
    }
}
