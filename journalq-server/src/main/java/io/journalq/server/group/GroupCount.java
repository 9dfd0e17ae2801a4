package io.journalq.server.group;

/**
 * The total number of groups of all machines of a broker, for the limit on it. Each machine reports its own number. A
 * machine that replaces another reports it again.
 */
public interface GroupCount {
    /** For a machine outside of a broker. */
    GroupCount UNLIMITED = new GroupCount() {
        @Override
        public void set(int groups) {
            // There is no limit.
        }

        @Override
        public boolean isFull() {
            return false;
        }
    };

    /** Sets the number of groups of this machine. */
    void set(int groups);

    /** Whether the maximum number of groups is reached. */
    boolean isFull();
}
