package io.journalq.server.memory;

/** The kinds of state that clients cause, each with its default share of the heap. Together they leave two fifths of it. */
public enum StatePart {
    /** Topics and partitions, settings, and quotas. */
    METADATA("metadata", 25),
    /** Groups, and what their members say and are assigned. */
    GROUPS("groups", 10),
    /** Committed offsets, also those of open transactions. */
    OFFSETS("offsets", 8),
    /** Transactional ids, and the partitions of their transactions. */
    TRANSACTIONS("transactions", 4),
    /** Idempotent producers that partitions remember. */
    PRODUCERS("producers", 5),
    /** Open connections, without their requests. */
    CONNECTIONS("connections", 4),
    /** Partitions that fetch sessions remember. */
    FETCH_SESSIONS("fetch.sessions", 3),
    /** Clients that ask which of their metrics they are to send. */
    CLIENT_METRICS("client.metrics", 1);

    private static final int PERCENT = 100;

    private final String label;
    private final int percentOfHeap;

    StatePart(String label, int percentOfHeap) {
        this.label = label;
        this.percentOfHeap = percentOfHeap;
    }

    /** The name on the metrics page, and within the name of the setting. */
    public String label() {
        return label;
    }

    /** Name of the setting that bounds it. */
    public String setting() {
        return "memory." + label + ".max.bytes";
    }

    /** The bound when the setting leaves it to the broker. */
    long defaultBytes(long heapBytes) {
        return heapBytes / PERCENT * percentOfHeap;
    }
}
