package io.journalq.server.control;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Which brokers the active controller hears from. A broker whose session has expired is fenced. Times are those of a
 * clock that never goes back. One thread.
 */
final class BrokerSessions {

    /**
     * The controller before this one has usually stopped, and clients wait for its partitions: the other voters have not
     * heard from it for an election timeout. If it lives, it hears from this one, and sends a heartbeat.
     */
    static final long PREDECESSOR_TIMEOUT_MS = 500;

    /** If {@link #expired} was not called for longer, this process was paused, and has not heard what others sent. */
    static final long LONGEST_PAUSE_MS = 500;

    private final long timeoutMs;
    private final long resetTimeoutMs;
    private final Map<Integer, Session> sessions = new TreeMap<>();
    private long checkedMs;

    /** What is known about one broker since it was heard from first. */
    private static final class Session {
        private long deadlineMs;
        /** Offset behind the last metadata record that the broker has applied. */
        private long metadataOffset;

        Session(long deadlineMs) {
            this.deadlineMs = deadlineMs;
        }
    }

    /**
     * Creates an instance without sessions.
     *
     * @param timeoutMs a broker expires if it is not heard from for this time
     * @param resetTimeoutMs and for this time after its connection has ended. That usually means that the process is
     *     gone. Otherwise, its next heartbeat follows soon
     */
    BrokerSessions(long timeoutMs, long resetTimeoutMs) {
        this.timeoutMs = timeoutMs;
        this.resetTimeoutMs = resetTimeoutMs;
    }

    /**
     * Forgets everything, and gives each broker time for its first heartbeat.
     *
     * @param predecessor the last controller, if it was another broker
     */
    void begin(Iterable<Integer> brokers, int predecessor, long nowMs) {
        sessions.clear();
        checkedMs = nowMs;
        for (int nodeId : brokers) {
            // It may also have sent a heartbeat just before, and then sends the next one after an interval.
            long predecessorMs = Math.min(timeoutMs, Math.max(PREDECESSOR_TIMEOUT_MS, resetTimeoutMs));
            long allowedMs = nodeId == predecessor ? predecessorMs : timeoutMs;
            sessions.put(nodeId, new Session(nowMs + allowedMs));
        }
    }

    /** A broker shows that it is alive. */
    void onHeartbeat(int nodeId, long metadataOffset, long nowMs) {
        Session session = sessions.computeIfAbsent(nodeId, unused -> new Session(0));
        session.deadlineMs = nowMs + timeoutMs;
        session.metadataOffset = metadataOffset;
    }

    /** The connection over which a broker sends heartbeats has ended. */
    void onReset(int nodeId, long nowMs) {
        Session session = sessions.get(nodeId);
        if (session != null) {
            session.deadlineMs = Math.min(session.deadlineMs, nowMs + resetTimeoutMs);
        }
    }

    /** Offset behind the last metadata record that a broker has applied; -1 if it was not heard from. */
    long metadataOffset(int nodeId) {
        Session session = sessions.get(nodeId);
        return session == null ? -1 : session.metadataOffset;
    }

    /**
     * The brokers that were not heard from in time. They stay expired until their next heartbeat. Called regularly, at
     * least every {@link #LONGEST_PAUSE_MS}.
     *
     * @param brokers the brokers that should be alive; one without a session gets one
     */
    List<Integer> expired(Iterable<Integer> brokers, long nowMs) {
        long pauseMs = nowMs - checkedMs;
        checkedMs = nowMs;
        if (pauseMs > LONGEST_PAUSE_MS) {
            sessions.values().forEach(session -> session.deadlineMs += pauseMs);
        }
        List<Integer> expired = new ArrayList<>();
        for (int nodeId : brokers) {
            Session session = sessions.computeIfAbsent(nodeId, unused -> new Session(nowMs + timeoutMs));
            if (session.deadlineMs <= nowMs) {
                expired.add(nodeId);
            }
        }
        return expired;
    }
}
