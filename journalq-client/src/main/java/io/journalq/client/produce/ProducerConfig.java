package io.journalq.client.produce;

import io.journalq.client.Acks;
import io.journalq.client.Partitioning;
import io.journalq.client.network.ClientConfig;
import io.journalq.common.record.CompressionCodec;

/** A producer's settings. Immutable; made by {@link io.journalq.client.Producer.Builder}, which documents each. */
public record ProducerConfig(
        ClientConfig client,
        CompressionCodec compression,
        Acks acks,
        boolean idempotent,
        Partitioning partitioning,
        int batchSizeBytes,
        int lingerMs,
        long bufferMemoryBytes,
        int maxRequestSizeBytes,
        int deliveryTimeoutMs,
        String transactionalId) {
    /** Whether everything that is sent belongs to transactions. */
    boolean transactional() {
        return transactionalId != null;
    }
}
