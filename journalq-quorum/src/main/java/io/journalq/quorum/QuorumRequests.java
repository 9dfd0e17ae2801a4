package io.journalq.quorum;

import java.util.concurrent.atomic.AtomicLong;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.SetConfigurationRequest;
import org.apache.ratis.protocol.SnapshotManagementRequest;
import org.apache.ratis.protocol.TransferLeadershipRequest;

/**
 * Creates the requests of a voter to its own Ratis server. Ratis tells them apart by the id of the client, which the
 * voter keeps until it is closed, and by the call id, which no two of them share. Any thread.
 */
final class QuorumRequests {
    private static final int STEP_DOWN_TIMEOUT_MS = 3_000;
    private static final int SNAPSHOT_TIMEOUT_MS = 60_000;

    private final ClientId client = ClientId.randomId();
    private final AtomicLong callIds = new AtomicLong();
    private final RaftPeerId self;
    private final RaftGroupId group;

    QuorumRequests(RaftPeerId self, RaftGroupId group) {
        this.self = self;
        this.group = group;
    }

    /** An id for a request that is created without this class. */
    long nextCallId() {
        return callIds.incrementAndGet();
    }

    /** Appends an entry to the quorum's log. */
    RaftClientRequest append(Message entry) {
        return RaftClientRequest.newBuilder()
                .setClientId(client)
                .setServerId(self)
                .setGroupId(group)
                .setCallId(nextCallId())
                .setMessage(entry)
                .setType(RaftClientRequest.writeRequestType())
                .build();
    }

    /** Gives the leadership up, to any other voter. */
    TransferLeadershipRequest stepDown() {
        return new TransferLeadershipRequest(client, self, group, nextCallId(), null, STEP_DOWN_TIMEOUT_MS);
    }

    /** Takes a snapshot if there is at least one entry behind the last one. */
    SnapshotManagementRequest snapshot() {
        return SnapshotManagementRequest.newCreate(client, self, group, nextCallId(), SNAPSHOT_TIMEOUT_MS, 1);
    }

    /** Changes the voters. */
    SetConfigurationRequest setConfiguration(SetConfigurationRequest.Arguments arguments) {
        return new SetConfigurationRequest(client, self, group, nextCallId(), arguments);
    }
}
