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

    /** New connections per second of an IP address (KIP-612). */
    public static final String CONNECTIONS = "connection_creation_rate";

    private static final List<String> OF_CLIENTS = List.of(PRODUCE_BYTES, FETCH_BYTES, REQUEST_PERCENTAGE);
    private static final List<String> OF_ADDRESSES = List.of(CONNECTIONS);

    private QuotaKeys() {}

    /** Whether there is a quota of this name. */
    public static boolean exists(String key) {
        return OF_CLIENTS.contains(key) || OF_ADDRESSES.contains(key);
    }

    /** Why a limit cannot be set; null if it can. */
    static String problem(QuotaEntity entity, String key, double limit) {
        List<String> known = entity.address() == null ? OF_CLIENTS : OF_ADDRESSES;
        if (!known.contains(key)) {
            return "'" + key + "' is not a supported quota of " + (entity.address() == null ? "clients" : "addresses")
                    + "; supported are " + String.join(", ", known);
        }
        if (!Double.isFinite(limit) || limit <= 0) {
            return key + " must be greater than 0, not " + limit;
        }
        return key.equals(REQUEST_PERCENTAGE) || limit == Math.rint(limit)
                ? null
                : key + " must be a whole number of " + (key.equals(CONNECTIONS) ? "connections" : "bytes")
                        + " per second, not " + limit;
    }
}
