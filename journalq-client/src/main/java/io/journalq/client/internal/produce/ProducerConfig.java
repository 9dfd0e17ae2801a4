package io.journalq.client.internal.produce;

import io.journalq.client.internal.network.ClientConfig;
import io.journalq.client.seal.BatchSealer;
import io.journalq.common.record.CompressionCodec;

/**
 * The settings of a producer. Immutable. {@link io.journalq.client.Producer.Builder} creates it and documents each
 * setting.
 *
 * @param acks the value in the Produce request: 0 for none, 1 for the leader, -1 for all in-sync replicas
 * @param roundRobin whether each record without key and partition goes to the next partition, instead of a sticky one
 * @param sealer seals every batch; null if batches are sent without encryption
 */
public record ProducerConfig(
        ClientConfig client,
        CompressionCodec compression,
        short acks,
        boolean idempotent,
        boolean roundRobin,
        int batchSizeBytes,
        long lingerNanos,
        long bufferMemoryBytes,
        int maxRequestSizeBytes,
        int deliveryTimeoutMs,
        String transactionalId,
        BatchSealer sealer) {
    /** Whether the broker acknowledges a batch. */
    boolean expectsResponses() {
        return acks != 0;
    }

    /** Whether all records are sent in transactions. */
    boolean transactional() {
        return transactionalId != null;
    }
}
