package io.journalq.server.shard.append;

import io.journalq.common.record.BatchRules;
import io.journalq.common.record.CompressionCodec;

/**
 * The settings of a topic that concern appends. Immutable.
 *
 * @param rules requirements for batches
 * @param compression compression of stored batches; null to keep the producer's compression
 * @param deliveryMode when an append is acknowledged
 * @param writeIntervalMs maximum time for which an acknowledged append may be in memory only, in milliseconds
 */
public record AppendSettings(
        BatchRules rules, CompressionCodec compression, DeliveryMode deliveryMode, long writeIntervalMs) {
    /** Whether a batch with this compression has to be compressed again. */
    boolean recompresses(CompressionCodec codec) {
        return compression != null && compression != codec;
    }
}
