package io.journalq.server.memory;

/**
 * The kinds of state that clients cause, each with its default share of the heap in percent. Together they use up to 60
 * %.
 */
public enum StatePart {
    /** Topics, partitions, settings and quotas. */
    METADATA("metadata", 25),
    /** Groups, with the metadata and assignments of their members. */
    GROUPS("groups", 10),
    /** Committed offsets, including those of open transactions. */
    OFFSETS("offsets", 8),
    /** Transactional ids, and the partitions of their transactions. */
    TRANSACTIONS("transactions", 4),
    /** Idempotent producers that partitions remember. */
    PRODUCERS("producers", 5),
    /** Open connections, without their requests. */
    CONNECTIONS("connections", 4),
    /** Partitions that fetch sessions remember. */
    FETCH_SESSIONS("fetch.sessions", 3),
    /** Clients that ask for their telemetry subscriptions. */
    CLIENT_METRICS("client.metrics", 1);

    private static final int PERCENT = 100;

    private final String label;
    private final int percentOfHeap;

    StatePart(String label, int percentOfHeap) {
        this.label = label;
        this.percentOfHeap = percentOfHeap;
    }

    /** The name on the metrics page, which is also part of the name of the setting. */
    public String label() {
        return label;
    }

    /** Name of the setting that bounds it. */
    public String setting() {
        return "memory." + label + ".max.bytes";
    }

    /** The bound if the setting is 0. */
    long defaultBytes(long heapBytes) {
        return heapBytes / PERCENT * percentOfHeap;
    }
}
