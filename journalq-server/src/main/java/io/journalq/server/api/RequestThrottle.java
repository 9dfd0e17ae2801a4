package io.journalq.server.api;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ThrottledMessage;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.server.metadata.QuotaKeys;
import io.journalq.server.network.Connection;
import io.journalq.server.security.ClientThrottles;

/**
 * Counts one connection's requests against its client's quotas. A client beyond one is told so in the answer, and its
 * connection is left unread as long, so that it gains nothing by asking again.
 */
final class RequestThrottle {
    private final Connection connection;
    private final ClientThrottles throttles;

    RequestThrottle(Connection connection, ClientThrottles throttles) {
        this.connection = connection;
        this.throttles = throttles;
    }

    /** Whether there is anything to count. Any thread, like the rest. */
    boolean isActive() {
        return throttles.isActive();
    }

    /** A request came. Returns how long its client has to wait for what it brought, in ms. */
    int onRequest(ApiKey api, String clientId, int sizeBytes) {
        int waitMs = api == ApiKey.PRODUCE ? throttles.useBytes(QuotaKeys.PRODUCE_BYTES, clientId, sizeBytes) : 0;
        connection.pause(waitMs);
        return waitMs;
    }

    /** A request's handler took that long. */
    void onHandled(String clientId, long nanos) {
        connection.pause(throttles.useLoopTime(clientId, nanos));
    }

    /** A request is answered: says in the answer how long the client has to wait, at least {@code waitMs}. */
    void onAnswer(ApiMessage answer, String clientId, int waitMs) {
        int longestMs = Math.max(waitMs, throttles.useLoopTime(clientId, 0));
        if (answer instanceof FetchResponse fetch) {
            int fetchWaitMs = throttles.useBytes(QuotaKeys.FETCH_BYTES, clientId, recordBytes(fetch));
            connection.pause(fetchWaitMs);
            longestMs = Math.max(longestMs, fetchWaitMs);
        }
        if (longestMs > 0 && answer instanceof ThrottledMessage throttled) {
            throttled.setThrottleTimeMs(longestMs);
        }
    }

    private static long recordBytes(FetchResponse fetch) {
        long bytes = 0;
        for (FetchResponse.FetchableTopicResponse topic : fetch.responses()) {
            for (FetchResponse.PartitionData partition : topic.partitions()) {
                bytes += partition.records() == null ? 0 : partition.records().sizeBytes();
            }
        }
        return bytes;
    }
}
