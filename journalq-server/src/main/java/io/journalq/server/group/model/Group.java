package io.journalq.server.group.model;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.coordinator.CoordinatorRecord;
import java.util.List;

/** A group of any type, as far as committed offsets and listings need it. */
public interface Group {
    /** The types of groups, with their names in listings. */
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

    /** The name of the state in the protocol. */
    String stateName();

    /** The protocol type of the members, such as {@code consumer}; empty if it is unknown. */
    String protocolType();

    /** Whether it has no members. */
    boolean isEmpty();

    /**
     * Whether the sender may commit offsets now.
     *
     * @param memberId empty if the sender gives none
     * @param instanceId null if it has none
     * @param generation its generation or member epoch; negative if it has none
     */
    ErrorCode checkCommit(String memberId, String instanceId, int generation, long nowMs);

    /** Whether the sender may read the group's offsets; a negative epoch without a member id always may. */
    ErrorCode checkFetch(String memberId, int memberEpoch);

    /** Whether a member is subscribed to a topic, so that the offsets there are in use. */
    boolean isSubscribedTo(String topic);

    /**
     * Since when the group has had no members, in milliseconds since 1970 UTC; -1 if it has members or never had any.
     */
    long emptySinceMs();

    /** The heap size of the group. */
    GroupSize size();

    /** The records that delete the group. */
    List<CoordinatorRecord> tombstones();

    /**
     * The sender of a request.
     *
     * @param clientId name that the client gives itself
     * @param clientHost its address, for people
     */
    public record Origin(String clientId, String clientHost) {}
}
