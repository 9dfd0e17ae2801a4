package io.journalq.quorum;

import java.io.IOException;
import org.apache.ratis.util.ExitUtils;

/**
 * Keeps Ratis from ending the process. It does so when its port is in use, and, from a handler that it sets for all
 * threads, after any exception that a thread does not catch.
 */
final class ProcessExit {
    private ProcessExit() {}

    /** Disables both, and restores the handler of the process. Idempotent. */
    static synchronized void forbid() {
        Thread.UncaughtExceptionHandler handler = Thread.getDefaultUncaughtExceptionHandler();
        ExitUtils.disableSystemExit();
        ExitUtils.setTerminateOnUncaughtException(false);
        Thread.setDefaultUncaughtExceptionHandler(handler);
    }

    /**
     * The failure of a start as an {@link IOException} with the first cause in its message. Ratis throws an exception of
     * its own where it would have ended the process.
     *
     * @param address at which the server was to be reached
     */
    static IOException asIoException(Throwable failure, String address) {
        ExitUtils.clear();
        Throwable first = failure;
        while (first.getCause() != null) {
            first = first.getCause();
        }
        return new IOException(
                "cannot open the metadata quorum at " + address + " (quorum.listener): " + first.getMessage(), failure);
    }
}
