package io.journalq.server.shard.append;

import io.journalq.common.record.BatchRules;
import io.journalq.common.record.CompressionCodec;

/**
 * What a topic's configuration means for appends. Immutable.
 *
 * @param rules what a batch must be like
 * @param compression in which batches are kept; null to keep them as the producer compressed them
 * @param deliveryMode when an append is acknowledged
 * @param writeIntervalMs longest time for which an acknowledged append may be in memory only, in milliseconds
 */
public record AppendSettings(
        BatchRules rules, CompressionCodec compression, DeliveryMode deliveryMode, long writeIntervalMs) {
    /** Whether a batch with that compression has to be compressed again. */
    boolean recompresses(CompressionCodec codec) {
        return compression != null && compression != codec;
    }
}
