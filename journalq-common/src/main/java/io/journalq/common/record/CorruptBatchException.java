package io.journalq.common.record;

/**
 * Bytes that are not a legal record batch, or that would grow past a limit when decompressed. The only exception that
 * hostile bytes can cause in this package. Carries no stack trace: the bytes are at fault, not the code, and whoever
 * sends them must not be able to make us pay for one.
 */
public class CorruptBatchException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** @param message what is wrong, for a log line or an error answer */
    public CorruptBatchException(String message) {
        super(message, null, false, false);
    }
}
