package io.journalq.client.fetch;

import io.journalq.client.Consumer;
import io.journalq.client.network.ClientConfig;

/** A consumer's settings. Immutable; made by {@link Consumer.Builder}, which documents each. */
public record ConsumerConfig(
        ClientConfig client,
        int fetchMaxWaitMs,
        int fetchMinBytes,
        int fetchMaxBytes,
        int partitionMaxBytes,
        boolean checkCrc,
        Consumer.Start start,
        Consumer.Isolation isolation) {
    private static final byte READ_UNCOMMITTED = 0;
    private static final byte READ_COMMITTED = 1;

    /** Whether only records of committed transactions are read. */
    boolean readsCommitted() {
        return isolation == Consumer.Isolation.READ_COMMITTED;
    }

    /** The isolation as requests have it. */
    byte isolationLevel() {
        return readsCommitted() ? READ_COMMITTED : READ_UNCOMMITTED;
    }
}
