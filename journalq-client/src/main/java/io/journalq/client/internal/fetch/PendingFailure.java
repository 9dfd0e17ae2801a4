package io.journalq.client.internal.fetch;

/** A failure that the application gets when it has received all data before it. Not thread-safe. */
final class PendingFailure {
    /** Null if there is none. */
    private Throwable failure;

    /** @param unchecked a {@link RuntimeException} or an {@link Error} */
    void set(Throwable unchecked) {
        failure = unchecked;
    }

    boolean isSet() {
        return failure != null;
    }

    /** Throws the failure, which is over then. */
    void throwIfSet() {
        Throwable thrown = failure;
        failure = null;
        if (thrown instanceof Error error) {
            throw error;
        }
        if (thrown != null) {
            throw (RuntimeException) thrown;
        }
    }
}
