package io.journalq.server.producerstate;

/**
 * Guards the verification of transactional batches (KIP-890). A transaction's coordinator confirms that a batch belongs
 * to an open transaction. If the transaction ends before the batch reaches the partition, the batch would begin a
 * transaction behind the marker that no marker ends: the partition's last stable offset would never advance again.
 *
 * <p>Markers are numbered. A guard is the number of the newest marker when a verification begins. The partition rejects
 * the batch if its producer's transaction has ended since then ({@link PartitionTransactions#isVerified}). This needs no
 * entry for each verification, and none that has to expire.
 *
 * <p>One instance for the partitions of one loop, which passes the markers.
 */
public final class VerificationGuards {
    /** Instead of a guard, for a batch that was not verified. */
    public static final long NOT_VERIFIED = -1L;

    private volatile long newestMarker;

    /** A guard for a verification that begins now. Any thread. */
    public long guard() {
        return newestMarker;
    }

    /** Numbers a marker: earlier guards are outdated for its producer. */
    public long onMarker() {
        long number = newestMarker + 1;
        newestMarker = number;
        return number;
    }
}
