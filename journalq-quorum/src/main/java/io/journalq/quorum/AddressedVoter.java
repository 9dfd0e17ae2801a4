package io.journalq.quorum;

import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.ReadIndexRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import org.apache.ratis.thirdparty.io.grpc.Metadata;
import org.apache.ratis.thirdparty.io.grpc.ServerCall;
import org.apache.ratis.thirdparty.io.grpc.ServerCallHandler;
import org.apache.ratis.thirdparty.io.grpc.ServerInterceptor;
import org.apache.ratis.thirdparty.io.grpc.Status;

/**
 * Refuses every request that is not addressed to this voter. A broker whose directory was emptied has a new voter id at
 * the address of the old one. Ratis finds a voter by its address only. Without this check, a leader would count the
 * acknowledgements and votes of the new voter as those of the old one, and could commit a batch without a majority.
 *
 * <p>Requests of Ratis clients and administrators name no voter, so they are refused, too: brokers call their own server
 * directly. Any thread.
 */
final class AddressedVoter implements ServerInterceptor {
    private final RaftPeerId self;
    private final ByteString id;

    AddressedVoter(RaftPeerId self) {
        this.self = self;
        this.id = self.toByteString();
    }

    @Override
    public <Q, S> ServerCall.Listener<Q> interceptCall(
            ServerCall<Q, S> call, Metadata headers, ServerCallHandler<Q, S> next) {
        return new SimpleForwardingServerCallListener<>(next.startCall(call, headers)) {
            private boolean refused;

            @Override
            public void onMessage(Q message) {
                if (refused) {
                    return;
                }
                RaftRpcRequestProto request = request(message);
                if (request != null && request.getReplyId().equals(id)) {
                    super.onMessage(message);
                    return;
                }
                refused = true;
                call.close(Status.FAILED_PRECONDITION.withDescription(refusal(request)), new Metadata());
            }

            @Override
            public void onHalfClose() {
                if (!refused) {
                    super.onHalfClose();
                }
            }
        };
    }

    /** What says from whom and to whom a message is; null if it is not from a voter. */
    private static RaftRpcRequestProto request(Object message) {
        if (message instanceof AppendEntriesRequestProto append) {
            return append.getServerRequest();
        } else if (message instanceof InstallSnapshotRequestProto snapshot) {
            return snapshot.getServerRequest();
        } else if (message instanceof RequestVoteRequestProto vote) {
            return vote.getServerRequest();
        } else if (message instanceof StartLeaderElectionRequestProto election) {
            return election.getServerRequest();
        } else if (message instanceof ReadIndexRequestProto read) {
            return read.getServerRequest();
        }
        return null;
    }

    private String refusal(RaftRpcRequestProto request) {
        return request == null
                ? "voter " + self + " accepts requests of voters only"
                : "this is voter " + self + ", and the request is addressed to voter "
                        + RaftPeerId.valueOf(request.getReplyId());
    }
}
