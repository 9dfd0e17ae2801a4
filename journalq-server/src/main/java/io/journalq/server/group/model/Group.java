package io.journalq.server.group.model;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.coordinator.CoordinatorRecord;
import java.util.List;

/** A group of any kind, as far as committed offsets and listings need it. */
public interface Group {
    /** What kinds there are, with the names that listings give them. */
    enum Kind {
        CLASSIC("classic"),
        CONSUMER("consumer");

        private final String protocolName;

        Kind(String protocolName) {
            this.protocolName = protocolName;
        }

        public String protocolName() {
            return protocolName;
        }
    }

    String id();

    Kind kind();

    /** The state by the name that the protocol gives it. */
    String stateName();

    /** What the members are, such as {@code consumer}; empty when that is not known. */
    String protocolType();

    /** Whether it has no members. */
    boolean isEmpty();

    /**
     * Whether a member may commit offsets now.
     *
     * @param memberId empty when it does not say
     * @param instanceId null when it has none
     * @param generation its generation or member epoch; negative when it has none
     */
    ErrorCode checkCommit(String memberId, String instanceId, int generation, long nowMs);

    /** Whether a member may see the group's offsets; a negative epoch and no member always may. */
    ErrorCode checkFetch(String memberId, int memberEpoch);

    /** Whether a member reads a topic, so that the offsets there are in use. */
    boolean isSubscribedTo(String topic);

    /** Since when it has been without members, in milliseconds since 1970 UTC; -1 when it has members or never had any. */
    long emptySinceMs();

    /** What it takes of the heap. */
    GroupSize size();

    /** What is appended when the group goes. */
    List<CoordinatorRecord> tombstones();
}
