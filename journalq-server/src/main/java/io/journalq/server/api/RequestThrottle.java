package io.journalq.server.api;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ThrottledMessage;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.server.metadata.QuotaKeys;
import io.journalq.server.security.ClientThrottles;
import java.util.function.IntConsumer;

/**
 * Counts the requests of one client against its quotas. The response tells a client that exceeds one how long it has to
 * wait. Its next request is delayed by the same time, so that it gains nothing by sending it early. Any thread.
 */
final class RequestThrottle {
    private final ClientThrottles throttles;
    private final IntConsumer pause;
    private volatile boolean exempt;

    /** @param pause delays the next request by this number of ms */
    RequestThrottle(ClientThrottles throttles, IntConsumer pause) {
        this.throttles = throttles;
        this.pause = pause;
    }

    /** Whether the client has any quota. */
    boolean isActive() {
        return throttles.isActive() && !exempt;
    }

    /** The client is another broker, to which quotas do not apply. */
    void exempt() {
        exempt = true;
    }

    /** Counts a request that arrived. Returns how long its client has to wait because of its size, in ms. */
    int onRequest(RequestContext context, ApiKey api, int sizeBytes) {
        int waitMs = api == ApiKey.PRODUCE
                ? throttles.useBytes(QuotaKeys.PRODUCE_BYTES, context.principal(), context.clientId(), sizeBytes)
                : 0;
        pause.accept(waitMs);
        return waitMs;
    }

    /** Counts the time that the handler of a request took. */
    void onHandled(RequestContext context, long nanos) {
        pause.accept(throttles.useLoopTime(context.principal(), context.clientId(), nanos));
    }

    /** Sets the time for which the client has to wait in a response, at least {@code waitMs}. */
    void onResponse(RequestContext context, ApiMessage response, int waitMs) {
        int longestMs = Math.max(waitMs, throttles.useLoopTime(context.principal(), context.clientId(), 0));
        if (response instanceof FetchResponse fetch) {
            int fetchWaitMs = throttles.useBytes(
                    QuotaKeys.FETCH_BYTES, context.principal(), context.clientId(), recordBytes(fetch));
            pause.accept(fetchWaitMs);
            longestMs = Math.max(longestMs, fetchWaitMs);
        }
        if (longestMs > 0 && response instanceof ThrottledMessage throttled) {
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
