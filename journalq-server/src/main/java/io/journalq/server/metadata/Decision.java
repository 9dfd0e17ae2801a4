package io.journalq.server.metadata;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.Message;
import java.util.List;

/**
 * The result of an operation on the metadata: records to append, or an error and its reason. Immutable.
 *
 * @param error {@link ErrorCode#NONE} if the operation may proceed
 * @param reason description for the client; null without an error
 * @param records to append, in order; empty with an error
 * @param divisible whether the records can be committed in several batches, so that nothing is wrong if only the first ones
 *     are
 */
public record Decision(ErrorCode error, String reason, List<Message> records, boolean divisible) {
    static Decision append(List<Message> records) {
        return new Decision(ErrorCode.NONE, null, records, false);
    }

    /** Appends records that can be committed one after the other. */
    static Decision appendInParts(List<Message> records) {
        return new Decision(ErrorCode.NONE, null, records, true);
    }

    static Decision refuse(ErrorCode error, String reason) {
        return new Decision(error, reason, List.of(), false);
    }

    /** A broker names a registration that is not its current one. */
    static Decision refuseStale(int nodeId, long epoch) {
        return refuse(ErrorCode.STALE_BROKER_EPOCH, "broker " + nodeId + " has another registration than " + epoch);
    }

    /** Whether the operation may proceed. */
    public boolean accepted() {
        return error == ErrorCode.NONE;
    }
}
