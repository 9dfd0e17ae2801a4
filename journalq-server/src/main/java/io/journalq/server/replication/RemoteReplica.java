package io.journalq.server.replication;

/** What a leader knows about another replica. Single-threaded. */
final class RemoteReplica {
    private static final long NOTHING_FETCHED = -1L;

    final int brokerId;
    /** Whether the metadata count it among the in-sync replicas. */
    boolean committed;

    /** Whether a proposal counts it among the in-sync replicas, and may have been accepted. */
    boolean proposed;

    /** Whether it may lead if no replica is in sync. */
    boolean eligible;

    private long brokerEpoch = IsrProposal.UNKNOWN_EPOCH;
    private long fetchOffset = NOTHING_FETCHED;
    private long startOffset;
    /** Who fetches for it; null if nobody does, or has told. */
    private Object fetcher;

    private boolean forgotten;
    /** When it last had everything that the leader had. */
    private long caughtUpMs;

    private long lastFetchMs;
    /** The end of the leader's log at its last fetch. */
    private long endAtLastFetch = Long.MAX_VALUE;

    RemoteReplica(int brokerId, long nowMs) {
        this.brokerId = brokerId;
        this.caughtUpMs = nowMs;
        this.lastFetchMs = nowMs;
    }

    /** It has everything before the result; -1 if it has not fetched from this leader. */
    long fetchOffset() {
        return fetchOffset;
    }

    /** The first offset of its log on its disk, as it has told. */
    long startOffset() {
        return startOffset;
    }

    /** It tells the first offset of its log on its disk. */
    void onStartOffset(long offset) {
        startOffset = offset;
    }

    /** It is about to fetch by {@code newFetcher}. */
    void onFetcher(Object newFetcher) {
        fetcher = newFetcher;
        forgotten = false;
    }

    /** {@code lastFetcher} fetches no more for it. */
    void onForgotten(Object lastFetcher) {
        if (fetcher == lastFetcher) {
            fetcher = null;
            forgotten = true;
        }
    }

    /** Whether it has ended its fetches, and what it has does not count any more. Its disk may have failed. */
    boolean isForgotten() {
        return forgotten;
    }

    /** Whether a consumer that has read everything before {@code offset} can read on there. */
    boolean has(long offset) {
        return startOffset <= offset && offset <= fetchOffset;
    }

    /** Whether the high watermark waits for it. */
    boolean isCounted() {
        return committed || proposed;
    }

    IsrProposal.Member member() {
        return new IsrProposal.Member(brokerId, brokerEpoch);
    }

    /**
     * It fetches. A fetch of an earlier life of its broker, which was parked or on its way, does not count: the broker may
     * have less now.
     *
     * @param endOffset the end of the leader's log
     */
    void onFetch(long itsBrokerEpoch, long offset, long endOffset, long nowMs) {
        if (itsBrokerEpoch < brokerEpoch) {
            return;
        }
        brokerEpoch = itsBrokerEpoch;
        fetchOffset = offset;
        if (offset >= endOffset) {
            caughtUpMs = nowMs;
        } else if (offset >= endAtLastFetch) {
            caughtUpMs = Math.max(caughtUpMs, lastFetchMs);
        }
        lastFetchMs = nowMs;
        endAtLastFetch = endOffset;
    }

    /** Called regularly. While nothing is written, its fetches are parked and do not arrive at {@link #onFetch}. */
    void observe(long endOffset, long nowMs) {
        if (fetchOffset >= endOffset && !forgotten) {
            caughtUpMs = nowMs;
        }
    }

    /** Whether it has not had everything for longer than {@code maxLagMs}. */
    boolean isLagging(long endOffset, long nowMs, long maxLagMs) {
        return fetchOffset < endOffset && nowMs - caughtUpMs > maxLagMs;
    }
}
