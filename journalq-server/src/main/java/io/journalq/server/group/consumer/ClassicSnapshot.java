package io.journalq.server.group.consumer;

import io.journalq.server.group.model.Group.Origin;
import java.util.Arrays;
import java.util.List;

/**
 * A group whose members use the classic protocol, during a conversion between group types. Immutable; the byte arrays
 * are not modified.
 *
 * @param generation the generation, or epoch, of its members
 */
public record ClassicSnapshot(String groupId, int generation, List<Member> members) {
    public ClassicSnapshot {
        members = List.copyOf(members);
    }

    /**
     * A member.
     *
     * @param instanceId the group instance id of a static member; null for a dynamic one
     * @param rebalanceTimeoutMs how long it may take to join again, in milliseconds
     * @param sessionTimeoutMs the member is removed after this time without a heartbeat, in milliseconds
     * @param protocols the protocols that it supports, the preferred one first
     * @param assignment its assignment, in the format that consumers read
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record Member(
            String id,
            String instanceId,
            Origin origin,
            int rebalanceTimeoutMs,
            int sessionTimeoutMs,
            List<Protocol> protocols,
            byte[] assignment) {
        public Member {
            protocols = List.copyOf(protocols);
        }
    }

    /** A protocol's name and the member's metadata for it. */
    @SuppressWarnings("ArrayRecordComponent") // compared by sameAs only
    public record Protocol(String name, byte[] metadata) {
        /** Whether name and bytes are the same. */
        public boolean sameAs(Protocol other) {
            return name.equals(other.name) && Arrays.equals(metadata, other.metadata);
        }
    }
}
