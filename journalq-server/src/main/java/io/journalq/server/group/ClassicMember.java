package io.journalq.server.group;

import io.journalq.common.protocol.message.JoinGroupResponse;
import io.journalq.common.protocol.message.SyncGroupResponse;
import io.journalq.server.coordinator.Reply;
import io.journalq.server.group.consumer.ClassicSnapshot.Protocol;
import io.journalq.server.group.model.Group.Origin;
import io.journalq.server.group.model.GroupSize;
import java.util.List;

/** A member of a classic group: its metadata, its assignment, and the requests that it waits for. */
final class ClassicMember {
    static final byte[] NOTHING = new byte[0];

    final String id;
    final String instanceId;
    final Origin origin;
    int rebalanceTimeoutMs;
    int sessionTimeoutMs;
    private List<Protocol> protocols = List.of();
    private byte[] assignment = NOTHING;

    /** Waits for the rebalance to complete; null if the member has not joined again. */
    Reply<JoinGroupResponse> joining;

    /** Version of the waiting JoinGroup request. */
    short joinVersion;

    /** Waits for the assignment; null if the member is not waiting. */
    Reply<SyncGroupResponse> syncing;

    /** Whether the member waits for its first rebalance: its client sends no heartbeats until then. */
    boolean isNew;

    /** When the member is considered dead; null while it need not send heartbeats. */
    TimerQueue.Deadline session;

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

    /** Called only by {@link ClassicGroup} for a member of a group, because it tracks the size. */
    void setProtocols(List<Protocol> said) {
        protocols = said;
    }

    /** Like {@link #setProtocols}. */
    void setAssignment(byte[] given) {
        assignment = given;
    }

    /** Estimated heap size. */
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

    /** The member's metadata for a protocol; empty if it does not support that protocol. */
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
