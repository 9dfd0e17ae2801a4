package io.journalq.common.check;

/**
 * Cheap invariants that stay on in production. A failed check is a programmer's error and crashes the thread that made
 * it; nothing that arrives on a wire, in a file or in a configuration may reach one unchecked.
 */
public final class Check {
    private Check() {}

    /**
     * Throws unless {@code invariant} holds.
     *
     * @param invariant what must be true here
     * @param message the broken invariant in words; a constant, so that the check costs nothing while it holds
     * @throws IllegalStateException when {@code invariant} is false
     */
    public static void that(boolean invariant, String message) {
        if (!invariant) {
            throw new IllegalStateException(message);
        }
    }
}
