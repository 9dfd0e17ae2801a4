package io.journalq.server.group.consumer;

/**
 * What one group of the consumer protocol does by the clock. Times in milliseconds.
 *
 * @param heartbeatIntervalMs how often members are told to send heartbeats
 * @param sessionTimeoutMs a member is gone after such a silence
 * @param assignmentIntervalMs shortest time from one assignment to the next; 0 for an assignment with every change
 */
public record GroupTimes(int heartbeatIntervalMs, int sessionTimeoutMs, int assignmentIntervalMs) {
    /** Finds the times of a group. */
    @FunctionalInterface
    public interface Lookup {
        /** The times of the group of that id, whether it exists or not. */
        GroupTimes of(String groupId);
    }
}
