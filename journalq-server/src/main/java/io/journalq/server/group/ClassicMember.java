package io.journalq.server.group;

import io.journalq.common.protocol.message.JoinGroupResponse;
import io.journalq.common.protocol.message.SyncGroupResponse;
import io.journalq.server.coordinator.Reply;
import io.journalq.server.group.consumer.ClassicSnapshot.Protocol;
import io.journalq.server.group.model.GroupSize;
import io.journalq.server.group.model.Origin;
import java.util.List;

/** A member of a classic group: what it said of itself, what it was given, and whether it waits for an answer. */
final class ClassicMember {
    static final byte[] NOTHING = new byte[0];

    final String id;
    final String instanceId;
    final Origin origin;
    int rebalanceTimeoutMs;
    int sessionTimeoutMs;
    private List<Protocol> protocols = List.of();
    private byte[] assignment = NOTHING;

    /** Waits for the rebalance to complete; null when it has not joined again. */
    Reply<JoinGroupResponse> joining;

    /** Version of the request that waits. */
    short joinVersion;

    /** Waits for its assignment; null when it does not. */
    Reply<SyncGroupResponse> syncing;

    /** Whether it waits for its first rebalance: until then its client sends no heartbeats. */
    boolean isNew;

    /** When it is taken for dead; null while it need not prove that it lives. */
    Deadlines.Deadline session;

    ClassicMember(String id, String instanceId, Origin origin) {
        this.id = id;
        this.instanceId = instanceId;
        this.origin = origin;
    }

    List<Protocol> protocols() {
        return protocols;
    }

    byte[] assignment() {
        return assignment;
    }

    /** Only {@link ClassicGroup} calls this for one that is in a group: it counts the size. */
    void setProtocols(List<Protocol> said) {
        protocols = said;
    }

    /** As {@link #setProtocols}. */
    void setAssignment(byte[] given) {
        assignment = given;
    }

    /** What it takes of the heap, about. */
    long sizeBytes() {
        return GroupSize.MEMBER_BYTES
                + GroupSize.of(id)
                + GroupSize.of(instanceId)
                + GroupSize.of(origin.clientId())
                + sizeOf(protocols)
                + GroupSize.of(assignment);
    }

    static long sizeOf(List<Protocol> protocols) {
        long bytes = 0;
        for (Protocol protocol : protocols) {
            bytes += GroupSize.of(protocol.name()) + GroupSize.of(protocol.metadata());
        }
        return bytes;
    }

    boolean isStatic() {
        return instanceId != null;
    }

    boolean isSame(List<Protocol> others) {
        if (others.size() != protocols.size()) {
            return false;
        }
        for (int i = 0; i < others.size(); i++) {
            if (!protocols.get(i).sameAs(others.get(i))) {
                return false;
            }
        }
        return true;
    }

    boolean supports(String protocol) {
        return protocols.stream().anyMatch(own -> own.name().equals(protocol));
    }

    /** What it says of itself under a protocol; nothing when it does not know that one. */
    byte[] metadata(String protocol) {
        for (Protocol own : protocols) {
            if (own.name().equals(protocol)) {
                return own.metadata();
            }
        }
        return NOTHING;
    }

    void cancelSession() {
        if (session != null) {
            session.cancel();
            session = null;
        }
    }
}
