package io.journalq.server.control;

import io.journalq.common.protocol.Message;
import java.util.List;

/**
 * Records that the metadata log commits together or not at all. Immutable.
 *
 * @param baseOffset number of records in the log when the batch was decided on; the batch is committed at this offset
 *     or not at all, because another record before it could invalidate the decision
 * @param records in order, at least one
 */
public record MetadataBatch(long baseOffset, List<Message> records) {
    public MetadataBatch {
        records = List.copyOf(records);
    }
}
