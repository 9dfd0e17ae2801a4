package io.journalq.common.record;

/** The records would exceed the allowed size when decompressed. */
public final class DecompressedTooLargeException extends InvalidBatchException {
    private static final long serialVersionUID = 1L;

    DecompressedTooLargeException(int maxSizeBytes) {
        super("decompressed records exceed " + maxSizeBytes + " bytes");
    }
}
