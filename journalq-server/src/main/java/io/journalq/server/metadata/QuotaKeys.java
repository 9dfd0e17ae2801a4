package io.journalq.server.metadata;

import java.util.List;

/** The quotas that can be set, by their names in the protocol. */
public final class QuotaKeys {
    /** Bytes per second that a client sends in Produce requests. */
    public static final String PRODUCE_BYTES = "producer_byte_rate";

    /** Bytes per second that a client receives in Fetch responses. */
    public static final String FETCH_BYTES = "consumer_byte_rate";

    /** Time on the broker's loops for a client's requests, in percent of one loop. */
    public static final String REQUEST_PERCENTAGE = "request_percentage";

    private static final List<String> ALL = List.of(PRODUCE_BYTES, FETCH_BYTES, REQUEST_PERCENTAGE);

    private QuotaKeys() {}

    /** Why a limit cannot be set; null if it can. */
    static String problem(String key, double limit) {
        if (!ALL.contains(key)) {
            return "'" + key + "' is not a supported quota; supported are " + String.join(", ", ALL);
        }
        if (!Double.isFinite(limit) || limit <= 0) {
            return key + " must be greater than 0, not " + limit;
        }
        return key.equals(REQUEST_PERCENTAGE) || limit == Math.rint(limit)
                ? null
                : key + " must be a whole number of bytes per second, not " + limit;
    }
}
