package io.journalq.common.check;

/**
 * Inexpensive checks of invariants that stay enabled in production. A failed check is a programming error and crashes
 * the thread. Input from the network, files or the configuration must be validated before it can reach a check.
 */
public final class Check {
    private Check() {}

    /**
     * Throws if {@code invariant} is false.
     *
     * @param invariant the condition that must hold
     * @param message what is violated; a constant, so that a successful check allocates nothing
     * @throws IllegalStateException if {@code invariant} is false
     */
    public static void that(boolean invariant, String message) {
        if (!invariant) {
            throw new IllegalStateException(message);
        }
    }
}
