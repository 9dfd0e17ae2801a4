package io.journalq.sim.disk;

/**
 * Faults of a disk. A fault with odds of {@code n} happens in one of {@code n} calls on average, and never if {@code n}
 * is 0.
 *
 * @param writeErrorOdds a write fails after part of it
 * @param readErrorOdds a read fails
 * @param syncErrorOdds an fsync fails: data that it should have written are marked clean and never written again
 * @param slowOdds a call is slow
 * @param slowMs longest duration of a slow call, in milliseconds
 * @param misdirectOdds a write goes to a wrong position on the disk, while the page cache has it in the right place
 * @param flippedBits number of bits that flip each time the broker is down
 * @param capacityBytes space for the content of all files; {@link Long#MAX_VALUE} for unlimited
 */
public record DiskFaults(
        int writeErrorOdds,
        int readErrorOdds,
        int syncErrorOdds,
        int slowOdds,
        int slowMs,
        int misdirectOdds,
        int flippedBits,
        long capacityBytes) {
    public static final DiskFaults NONE = new DiskFaults(0, 0, 0, 0, 0, 0, 0, Long.MAX_VALUE);

    /** Whether writes may fail, because of the disk or because a journal was fenced after a failed fsync. */
    public boolean refusesWrites() {
        return writeErrorOdds > 0 || syncErrorOdds > 0 || capacityBytes < Long.MAX_VALUE;
    }

    /** Whether fsynced data may be damaged. Software cannot prevent that, but must detect it. */
    public boolean damagesSyncedData() {
        return misdirectOdds > 0 || flippedBits > 0;
    }
}
