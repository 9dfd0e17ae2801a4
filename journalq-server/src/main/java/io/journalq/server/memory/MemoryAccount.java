package io.journalq.server.memory;

/**
 * Where state is charged that takes memory. State that exists is always charged, also beyond the bound: a start that loads
 * more than fits succeeds, and what would be added is refused. Called by the owner of the state, on its thread.
 */
public interface MemoryAccount {
    /** Has room for everything, for machines that are alone in the world. */
    MemoryAccount UNBOUNDED = new MemoryAccount() {
        @Override
        public boolean hasRoom(long moreBytes) {
            return true;
        }

        @Override
        public void add(long bytes) {
            // Nobody asks.
        }
    };

    /**
     * Whether so much more fits. A refusal is counted. State that does not grow always has room.
     *
     * @param moreBytes estimated size of what is about to be added; 0 or less when nothing is
     */
    boolean hasRoom(long moreBytes);

    /** Charges {@code bytes}; gives them back when negative. */
    void add(long bytes);
}
