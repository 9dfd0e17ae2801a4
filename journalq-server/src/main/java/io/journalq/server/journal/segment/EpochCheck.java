package io.journalq.server.journal.segment;

import io.journalq.common.record.RecordBatch;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Adds the leader epochs of the batches that recovery reads to a journal's history, and corrects impossible ones. A
 * batch's CRC covers neither its epoch nor its offset, because brokers set both. Epochs never decrease along a log,
 * never exceed the newest epoch that the owner knows, and match those of the checkpoint in the part that it covers. A
 * batch that breaks one of these rules is assigned the epoch before it; its records are not in doubt.
 *
 * <p>The two batches behind a changed epoch tell whether it is damaged or starts a new epoch. These cases are not
 * found: a changed epoch between those of its neighbours, in the last batch of a log, or in the first batch of a new
 * epoch; two changed epochs in a row; and any change in the part of a log that a checkpoint covers, which is not read.
 * Used once, while a journal opens.
 */
public final class EpochCheck {
    private static final Logger LOG = LoggerFactory.getLogger(EpochCheck.class);
    private static final int UNKNOWN = -1;

    private final LeaderEpochs epochs;
    private final int newestLeaderEpoch;
    private Batch beforeLast;
    private Batch last;

    /** A batch that the batches behind it have not confirmed yet. */
    private record Batch(Segment segment, int position, long baseOffset, int epoch) {}

    public EpochCheck(LeaderEpochs epochs, int newestLeaderEpoch) {
        this.epochs = epochs;
        this.newestLeaderEpoch = newestLeaderEpoch;
    }

    /** Adds the next healthy batch. */
    void found(Segment segment, int position, long baseOffset, int epoch) throws IOException {
        if (last == null
                && epoch == epochs.entries().latest()
                && epochs.entries().epochAfter(baseOffset) == UNKNOWN) {
            return; // The usual case: the batch has the current epoch.
        }
        Batch next = new Batch(segment, position, baseOffset, epoch);
        if (beforeLast != null) {
            settle(beforeLast, last, next);
        }
        beforeLast = last;
        last = next;
    }

    /** Processes the last batches; no more follow. */
    public void finish() throws IOException {
        if (beforeLast != null) {
            settle(beforeLast, last, null);
        }
        if (last != null) {
            settle(last, null, null);
        }
        beforeLast = null;
        last = null;
    }

    private void settle(Batch batch, Batch next, Batch nextButOne) throws IOException {
        if (isPossible(batch) && !isAlone(batch, next, nextButOne)) {
            epochs.assign(batch.epoch, batch.baseOffset);
        } else {
            correct(batch);
        }
    }

    /**
     * Whether the epoch is newer than those of the two batches behind it. In this case this epoch is the damaged one.
     */
    private boolean isAlone(Batch batch, Batch next, Batch nextButOne) {
        if (!isOlder(next, batch)) {
            return false;
        }
        return nextButOne == null
                ? next.epoch == epochs.entries().epochOf(batch.baseOffset)
                : isOlder(nextButOne, batch);
    }

    private boolean isOlder(Batch later, Batch batch) {
        return later != null && isPossible(later) && later.epoch < batch.epoch;
    }

    private boolean isPossible(Batch batch) {
        int before = epochs.entries().epochOf(batch.baseOffset);
        int after = epochs.entries().epochAfter(batch.baseOffset);
        if (after == UNKNOWN) {
            return batch.epoch >= before && batch.epoch <= newestLeaderEpoch;
        }
        return before == UNKNOWN ? batch.epoch <= after : batch.epoch == before;
    }

    private void correct(Batch batch) throws IOException {
        int before = epochs.entries().epochOf(batch.baseOffset);
        LOG.error(
                "{}: the batch at byte {}, offset {}, has the impossible leader epoch {}; corrected to {}",
                batch.segment.logPath(),
                batch.position,
                batch.baseOffset,
                batch.epoch,
                before);
        ByteBuffer repaired = ByteBuffer.allocate(Integer.BYTES).putInt(0, before);
        batch.segment.file().write(repaired, (long) batch.position + RecordBatch.LEADER_EPOCH);
    }
}
