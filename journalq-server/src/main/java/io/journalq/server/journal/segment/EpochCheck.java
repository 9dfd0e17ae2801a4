package io.journalq.server.journal.segment;

import io.journalq.common.record.RecordBatch;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes the leader epochs of batches that recovery reads into a journal's history, and mends those that cannot be right:
 * a batch's CRC covers neither its epoch nor its offset, as brokers set both. Epochs never decrease along a log, never
 * exceed the newest that its owner knows, and are those of the checkpoint for as far as it goes. A batch that breaks this
 * gets the epoch before it; its records are not in doubt.
 *
 * <p>One damaged epoch is told from the first one of a new epoch by the two batches behind it. What cannot be found: a changed
 * epoch that lies between its neighbours', in the last batch of a log or in the first of a new epoch; two in a row; and
 * anything in the part of a log that a checkpoint vouches for, which is not read. Used once, while a journal opens.
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

    /** Another healthy batch was found, behind the last. */
    void found(Segment segment, int position, long baseOffset, int epoch) throws IOException {
        if (last == null && epoch == epochs.latest() && epochs.epochAfter(baseOffset) == UNKNOWN) {
            return; // As almost always: of the epoch in force.
        }
        Batch next = new Batch(segment, position, baseOffset, epoch);
        if (beforeLast != null) {
            settle(beforeLast, last, next);
        }
        beforeLast = last;
        last = next;
    }

    /** There are no more. */
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
            mend(batch);
        }
    }

    /** Whether the epoch is newer than those behind it: of two against one, the one is damaged. */
    private boolean isAlone(Batch batch, Batch next, Batch nextButOne) {
        if (!isOlder(next, batch)) {
            return false;
        }
        return nextButOne == null ? next.epoch == epochs.epochOf(batch.baseOffset) : isOlder(nextButOne, batch);
    }

    private boolean isOlder(Batch later, Batch batch) {
        return later != null && isPossible(later) && later.epoch < batch.epoch;
    }

    private boolean isPossible(Batch batch) {
        int before = epochs.epochOf(batch.baseOffset);
        int after = epochs.epochAfter(batch.baseOffset);
        if (after == UNKNOWN) {
            return batch.epoch >= before && batch.epoch <= newestLeaderEpoch;
        }
        return before == UNKNOWN ? batch.epoch <= after : batch.epoch == before;
    }

    private void mend(Batch batch) throws IOException {
        int before = epochs.epochOf(batch.baseOffset);
        LOG.error(
                "{}: the batch at byte {}, offset {}, says leader epoch {}, which cannot be; it is taken for {}",
                batch.segment.logPath(),
                batch.position,
                batch.baseOffset,
                batch.epoch,
                before);
        ByteBuffer mended = ByteBuffer.allocate(Integer.BYTES).putInt(0, before);
        batch.segment.file().write(mended, (long) batch.position + RecordBatch.LEADER_EPOCH);
    }
}
