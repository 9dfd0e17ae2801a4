package io.journalq.sim.cluster;

import java.util.List;

/**
 * Copies the committed records of one partition to others, each exactly once, in transactions that also commit the
 * position in the input.
 *
 * @param id the transactional id, and the group that has the position
 * @param outputs each record is copied to one of them
 * @param growsEpochs whether the epoch of the producer grows with each transaction, and partitions join a transaction
 *     with their first records (KIP-890)
 */
public record CopyJob(String id, ClusterPartition input, List<ClusterPartition> outputs, boolean growsEpochs) {
    private static final String SEPARATOR = "@";

    /** The output of the record at an offset of the input. */
    ClusterPartition outputOf(long offset) {
        return outputs.get((int) (offset % outputs.size()));
    }

    /** The id of a copy that is made in a transaction. */
    String copy(String transaction, long offset) {
        return transaction + ":" + id + SEPARATOR + offset;
    }

    /** The offset in the input of the record with this id; -1 if this job did not write it. */
    public long inputOffsetOf(String recordId) {
        String mine = ":" + id + SEPARATOR;
        int at = recordId.indexOf(mine);
        return at < 0 ? -1 : Long.parseLong(recordId.substring(at + mine.length()));
    }
}
