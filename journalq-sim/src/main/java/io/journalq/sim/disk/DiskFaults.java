package io.journalq.sim.disk;

/**
 * How a disk behaves besides losing what was not synced. Odds are one in so many calls; 0 for never.
 *
 * @param writeErrorOdds a write fails after a part of it
 * @param readErrorOdds a read fails
 * @param syncErrorOdds a sync fails: what it should have written is marked clean, and never written again
 * @param slowOdds a call takes long
 * @param slowMs the longest that it then takes, in milliseconds
 * @param misdirectOdds a write goes to another place on the disk, while the page cache holds it where it belongs
 * @param flippedBits bits that flip whenever the broker goes down
 * @param capacityBytes room for the content of all files; {@link Long#MAX_VALUE} for no end
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

    /** Whether the disk, or a journal that was fenced, may not take what is to be written. */
    public boolean refusesWrites() {
        return writeErrorOdds > 0 || syncErrorOdds > 0 || capacityBytes < Long.MAX_VALUE;
    }

    /** Whether synced data may be damaged, which nothing above can prevent, but must detect. */
    public boolean damagesSyncedData() {
        return misdirectOdds > 0 || flippedBits > 0;
    }
}
