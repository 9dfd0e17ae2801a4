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
        Consumer.Start start) {}
