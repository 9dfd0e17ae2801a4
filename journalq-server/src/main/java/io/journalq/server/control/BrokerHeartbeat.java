package io.journalq.server.control;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import java.util.List;

/**
 * What a broker tells the active controller regularly, so that it stays unfenced. Immutable.
 *
 * @param brokerEpoch its registration
 * @param metadataOffset number of metadata records that it has applied
 * @param wantsFence whether it cannot lead partitions now
 * @param wantsShutdown whether it is about to stop
 * @param full ids of the data directories that have no room for records
 */
public record BrokerHeartbeat(
        int nodeId, long brokerEpoch, long metadataOffset, boolean wantsFence, boolean wantsShutdown, List<Uuid> full) {
    /**
     * The controller's response. Immutable.
     *
     * @param error {@link ErrorCode#STALE_BROKER_EPOCH} if the broker has another
     *     registration, or none; the following components are of no use with an error
     * @param caughtUp whether the broker has applied its own registration
     * @param fenced whether the broker may not lead partitions
     * @param mayShutDown whether other brokers have taken over what they can lead, and know it
     */
    public record Response(ErrorCode error, boolean caughtUp, boolean fenced, boolean mayShutDown) {
        /** A response with an error. */
        public static Response failed(ErrorCode error) {
            return new Response(error, false, true, false);
        }
    }
}
