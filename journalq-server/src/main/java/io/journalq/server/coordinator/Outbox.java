package io.journalq.server.coordinator;

import java.util.List;

/** Receives the changes of a machine. */
public interface Outbox {
    /**
     * Appends records to the coordinator's journal, all of them or none, and replays them into the machine before it
     * returns. Replies made after this call are sent once the records are as safe as the topic demands. If the records
     * cannot be made safe, the machine is dropped with its unsent replies, and loaded again.
     *
     * @param records in order; may be empty
     */
    void append(List<CoordinatorRecord> records);

    /**
     * Runs {@code action} on the machine's thread once all previous appends are safe. It never runs if the machine is
     * lost before that. For actions that, like replies, must not take place before their records are safe.
     */
    default void whenSafe(Runnable action) {
        action.run();
    }
}
