package io.journalq.server.group.consumer;

/**
 * The timeouts and intervals of one group of the consumer protocol, in milliseconds.
 *
 * @param heartbeatIntervalMs how often members send heartbeats
 * @param sessionTimeoutMs a member is removed after this time without a heartbeat
 * @param assignmentIntervalMs minimum time from one assignment to the next; 0 for an assignment with every change
 */
public record GroupTimes(int heartbeatIntervalMs, int sessionTimeoutMs, int assignmentIntervalMs) {
    /** Finds the times of a group. */
    @FunctionalInterface
    public interface Lookup {
        /** The times for a group id, whether or not the group exists. */
        GroupTimes of(String groupId);
    }
}
