package io.journalq.server.coordinator;

import java.util.List;

/** Where a machine's changes go. */
public interface Outbox {
    /**
     * Appends records to the coordinator's journal, all of them or none, and replays them into the machine before it
     * returns. Answers given from here on leave once the records are as safe as the topic demands. When they cannot be
     * made safe, the machine is dropped with its unsent answers, and loaded anew.
     *
     * @param records in order; nothing happens when there are none
     */
    void append(List<CoordinatorRecord> records);

    /**
     * Runs {@code action} on the machine's thread once everything that was appended before is safe; never when the machine
     * is lost first. For what must not leave before its record, as an answer must not.
     */
    default void whenSafe(Runnable action) {
        action.run();
    }
}
