package io.journalq.server.group.consumer;

import io.journalq.server.group.model.Origin;
import java.util.Arrays;
import java.util.List;

/**
 * A group whose members speak the classic protocol, on its way from one kind of group to the other. Immutable; nobody
 * changes the bytes.
 *
 * @param generation the generation, or epoch, that its members are in
 */
public record ClassicSnapshot(String groupId, int generation, List<Member> members) {
    public ClassicSnapshot {
        members = List.copyOf(members);
    }

    /**
     * A member.
     *
     * @param instanceId the static member's name; null for a dynamic one
     * @param rebalanceTimeoutMs how long it may take to join again
     * @param sessionTimeoutMs it is gone after such a silence
     * @param protocols those that it can follow, the preferred one first
     * @param assignment what it was assigned, as consumers read it
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

    /** A protocol by name, and what the member says of itself in it. */
    @SuppressWarnings("ArrayRecordComponent") // compared by sameAs only
    public record Protocol(String name, byte[] metadata) {
        /** Whether name and bytes are the same. */
        public boolean sameAs(Protocol other) {
            return name.equals(other.name) && Arrays.equals(metadata, other.metadata);
        }
    }
}
