package io.journalq.server.group;

/**
 * How many groups all machines of a broker have together, for the limit on them. Each machine tells what it has; a machine
 * that takes another's place tells it anew.
 */
public interface GroupCount {
    /** A machine that is alone in the world. */
    GroupCount UNLIMITED = new GroupCount() {
        @Override
        public void set(int groups) {
            // Nobody asks.
        }

        @Override
        public boolean isFull() {
            return false;
        }
    };

    /** This machine has so many groups now. */
    void set(int groups);

    /** Whether there are as many as there may be. */
    boolean isFull();
}
