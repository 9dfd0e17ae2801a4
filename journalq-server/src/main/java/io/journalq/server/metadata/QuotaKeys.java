package io.journalq.server.metadata;

import java.util.List;

/** What a quota can limit, by the protocol's names. */
public final class QuotaKeys {
    /** Bytes a second that a client sends in Produce requests. */
    public static final String PRODUCE_BYTES = "producer_byte_rate";

    /** Bytes a second that a client gets in answers to Fetch. */
    public static final String FETCH_BYTES = "consumer_byte_rate";

    /** Time of the broker's loops that a client's requests take, in percent of one loop. */
    public static final String REQUEST_PERCENTAGE = "request_percentage";

    private static final List<String> ALL = List.of(PRODUCE_BYTES, FETCH_BYTES, REQUEST_PERCENTAGE);

    private QuotaKeys() {}

    /** Why a limit cannot be set; null when it can. */
    static String problem(String key, double limit) {
        if (!ALL.contains(key)) {
            return "'" + key + "' is not limited here; " + String.join(", ", ALL) + " are";
        }
        if (!Double.isFinite(limit) || limit <= 0) {
            return key + " must be above 0, not " + limit;
        }
        return key.equals(REQUEST_PERCENTAGE) || limit == Math.rint(limit)
                ? null
                : key + " is a whole number of bytes a second, not " + limit;
    }
}
