package io.journalq.client.internal.fetch;

import io.journalq.client.admin.OffsetSpec;
import io.journalq.client.internal.network.ClientConfig;
import io.journalq.client.seal.BatchOpener;
import java.util.function.LongFunction;

/**
 * The settings of a consumer. Immutable. {@link io.journalq.client.Consumer.Builder} creates it and documents each setting.
 *
 * @param start maps the current time, in milliseconds since 1970 UTC, to the offset where reading starts without a position;
 *     to null if the consumer is to fail instead
 * @param readCommitted whether only records of committed transactions are read
 * @param rack of the client; empty if it reads from leaders
 * @param opener opens every batch; null if batches are read as they are
 */
public record ConsumerConfig(
        ClientConfig client,
        int fetchMaxWaitMs,
        int fetchMinBytes,
        int fetchMaxBytes,
        int partitionMaxBytes,
        boolean checkCrc,
        LongFunction<OffsetSpec> start,
        boolean readCommitted,
        String rack,
        BatchOpener opener) {
    private static final byte READ_UNCOMMITTED = 0;
    private static final byte READ_COMMITTED = 1;

    /** The isolation level of requests. */
    byte isolationLevel() {
        return readCommitted ? READ_COMMITTED : READ_UNCOMMITTED;
    }
}
