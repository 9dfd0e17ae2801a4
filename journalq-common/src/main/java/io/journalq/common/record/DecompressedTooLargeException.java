package io.journalq.common.record;

/** Records that would take more room than is allowed once they are decompressed. */
public final class DecompressedTooLargeException extends CorruptBatchException {
    private static final long serialVersionUID = 1L;

    DecompressedTooLargeException(int maxSizeBytes) {
        super("decompressed records exceed " + maxSizeBytes + " bytes");
    }
}
