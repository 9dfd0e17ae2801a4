package io.journalq.server.memory;

/**
 * Accounts for the heap that state uses. Existing state is always charged, even beyond the bound: a start that loads
 * more than fits succeeds, and only additions are refused. Called by the owner of the state, on its thread.
 */
public interface MemoryAccount {
    /** Has room for everything, for machines without a budget, as in tests. */
    MemoryAccount UNBOUNDED = new MemoryAccount() {
        @Override
        public boolean hasRoom(long moreBytes) {
            return true;
        }

        @Override
        public void add(long bytes) {
            // Nothing reads the total.
        }
    };

    /**
     * Whether {@code moreBytes} fit. A refusal is counted. State that does not grow always has room.
     *
     * @param moreBytes estimated size of the addition; 0 or less if the state does not grow
     */
    boolean hasRoom(long moreBytes);

    /** Charges {@code bytes}, or gives them back if negative. */
    void add(long bytes);
}
