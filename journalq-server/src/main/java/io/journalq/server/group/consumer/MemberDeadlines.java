package io.journalq.server.group.consumer;

import io.journalq.server.coordinator.CoordinatorMachine;
import java.util.Comparator;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/** The deadlines of members. Not durable: they restart when a coordinator is loaded. */
final class MemberDeadlines {
    /** The kind of action that is due. */
    enum Kind {
        /** A heartbeat. */
        SESSION,
        /** Revoking partitions; in the classic protocol, joining again. */
        REBALANCE,
        /** In the classic protocol, requesting the assignment after joining. */
        SYNC,
        /**
         * The group's next assignment, which was delayed because the previous one was too recent; belongs to no member.
         */
        ASSIGNMENT
    }

    /** The subject of a deadline; the member id is empty for a deadline of a whole group. */
    record Subject(String groupId, String memberId, Kind kind) implements Comparable<Subject> {
        private static final Comparator<Subject> ORDER = Comparator.comparing(Subject::groupId)
                .thenComparing(Subject::memberId)
                .thenComparing(Subject::kind);

        static Subject assignment(String groupId) {
            return new Subject(groupId, "", Kind.ASSIGNMENT);
        }

        @Override
        public int compareTo(Subject other) {
            return ORDER.compare(this, other);
        }
    }

    private record Due(long atMs, Subject subject) {}

    private final SortedMap<Subject, Long> atBySubject = new TreeMap<>();
    private final SortedSet<Due> order =
            new TreeSet<>(Comparator.comparingLong(Due::atMs).thenComparing(Due::subject));

    /** By how much the clock is ahead of the times in the collections. */
    private long aheadMs;

    /** Sets or moves a deadline. */
    void set(Subject subject, long atMs) {
        cancel(subject);
        long placedMs = atMs - aheadMs;
        atBySubject.put(subject, placedMs);
        order.add(new Due(placedMs, subject));
    }

    boolean isSet(Subject subject) {
        return atBySubject.containsKey(subject);
    }

    void cancel(Subject subject) {
        Long atMs = atBySubject.remove(subject);
        if (atMs != null) {
            order.remove(new Due(atMs, subject));
        }
    }

    void cancelAll(String groupId, String memberId) {
        for (Kind kind : Kind.values()) {
            cancel(new Subject(groupId, memberId, kind));
        }
    }

    void clear() {
        atBySubject.clear();
        order.clear();
    }

    /** Moves all deadlines: the clock was set by {@code stepMs}. */
    void onClockStep(long stepMs) {
        aheadMs += stepMs;
    }

    /** Removes and returns the first deadline that has passed; null if there is none. */
    Subject pollDue(long nowMs) {
        if (order.isEmpty() || order.first().atMs() > nowMs - aheadMs) {
            return null;
        }
        Subject subject = order.first().subject();
        cancel(subject);
        return subject;
    }

    /** The time of the next deadline; {@link CoordinatorMachine#NEVER} if there is none. */
    long nextMs() {
        return order.isEmpty() ? CoordinatorMachine.NEVER : order.first().atMs() + aheadMs;
    }
}
