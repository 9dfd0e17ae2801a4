package io.journalq.server.journal.segment;

import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the part of one segment that no checkpoint covers, checks every batch, and decides what to do with bad bytes:
 *
 * <ul>
 *   <li>A damaged batch with a healthy batch behind it stays in the file, is reported, and is not served. The batches
 *       behind it are kept.
 *   <li>A segment that was not synced ends at bad bytes if nothing healthy follows them.
 *   <li>After a power loss a segment also ends at a batch that was not completely written ({@link TornWrite}), because
 *       no batch behind it was acknowledged as durable. If other replicas have the batches, it ends at any bad bytes, so
 *       that it is a prefix of theirs: if a write lacks only one bit that is not zero, it looks like a flipped bit.
 * </ul>
 *
 * <p>Offsets may have gaps, as after compaction. There is none before the last batch of all, unless
 * {@link RecoveryRules#mayEndBehindGap}. Used once, while a journal opens.
 */
public final class SegmentRecovery {
    private static final int CHUNK_BYTES = 1 << 20;
    private static final int CANDIDATE_CHUNK_BYTES = 64 << 10;
    private static final Logger LOG = LoggerFactory.getLogger(SegmentRecovery.class);

    private final Segment segment;
    private final EpochCheck epochs;
    private final Position place;
    private final PowerLoss powerLoss;
    private final RecoveryRules rules;
    private final long nextSegmentOffset;
    private final int fileBytes;
    private final BatchScanner scanner;
    private final SparseIndex index;
    private long nextOffset;
    private int lastEpoch = RecordBatch.NO_LEADER_EPOCH;

    /** The position of a segment in its journal. */
    public enum Position {
        /** It was completely synced before the next segment counted. */
        SYNCED,
        /** There are segments behind it, but it may not have been completely synced. */
        BEFORE_A_TAIL,
        /** The last segment. */
        NEWEST
    }

    /** Whether a power loss may have taken written data that was not synced. Called only if there is damage. */
    @FunctionalInterface
    public interface PowerLoss {
        boolean isPossible();
    }

    /**
     * Prepares to read a segment.
     *
     * @param segment the part that its extent covers is trusted; reading begins behind it
     * @param nextSegmentOffset no batch reaches beyond this offset
     */
    public SegmentRecovery(
            Segment segment,
            int fileBytes,
            Position place,
            long nextSegmentOffset,
            EpochCheck epochs,
            PowerLoss powerLoss,
            RecoveryRules rules)
            throws IOException {
        this.segment = segment;
        this.epochs = epochs;
        this.place = place;
        this.powerLoss = powerLoss;
        this.rules = rules;
        this.nextSegmentOffset = nextSegmentOffset;
        this.fileBytes = fileBytes;
        this.nextOffset = segment.endOffset();
        this.scanner =
                new BatchScanner(segment.file(), segment.sizeBytes(), fileBytes, Math.min(CHUNK_BYTES, fileBytes));
        this.index = segment.index();
    }

    public void run() throws IOException {
        int cutAt = scan();
        int covered = Math.min(segment.indexedFileBytes(), cutAt);
        if (cutAt < fileBytes) {
            segment.file().truncate(cutAt);
        }
        segment.setIndex(index, covered);
        segment.setExtent(cutAt, nextOffset);
    }

    private int scan() throws IOException {
        boolean afterBad = false;
        while (true) {
            boolean batch = scanner.next();
            if (batch && isHealthy(afterBad)) {
                afterBad = false;
                accept();
                continue;
            }
            int bad = scanner.position();
            if (bad >= fileBytes) {
                return fileBytes;
            }
            if (batch && !afterBad && correctOffset()) {
                accept();
                continue;
            }
            int claimedEnd = scanner.claimedEnd();
            if (scanner.onlyZerosLeft()) {
                return mayEndHere() || nextOffset == nextSegmentOffset ? bad : keepBad(bad, fileBytes);
            }
            int resumed = resume(bad, claimedEnd);
            if (resumed >= fileBytes || isTorn(bad, resumed)) {
                return mayEndHere() ? cut(bad) : keepBad(bad, fileBytes);
            }
            keepBad(bad, resumed);
            scanner.skipTo(resumed);
            afterBad = true;
        }
    }

    /**
     * Checks the current batch, including its base offset, which the CRC does not cover. The base offset must be the
     * next one. It may be larger behind bad bytes or where compaction removed batches, but not beyond the beginning of
     * the batch behind it.
     */
    private boolean isHealthy(boolean afterBad) throws IOException {
        long offset = scanner.baseOffset();
        boolean offsetFits =
                afterBad ? offset > nextOffset : offset == nextOffset || (offset > nextOffset && isBeforeNext());
        return offsetFits
                && scanner.nextOffset() <= nextSegmentOffset
                && scanner.nextOffset() - segment.baseOffset() <= Integer.MAX_VALUE
                && scanner.crcMatches();
    }

    private boolean isBeforeNext() throws IOException {
        BatchScanner behind = behind();
        // A batch behind this one whose offset fits at most here is damaged itself: this one takes an offset.
        return (behind.next() && behind.baseOffset() > nextOffset)
                ? scanner.nextOffset() <= behind.baseOffset()
                : place == Position.SYNCED || (rules.mayEndBehindGap() && isBeforeNextHealthy());
    }

    /**
     * Whether the next batch with a matching CRC begins at or behind the end of the current one. If not, the current
     * one was written to the wrong position. Batches whose offsets were already used are damaged.
     */
    private boolean isBeforeNextHealthy() throws IOException {
        int at = scanner.position() + scanner.sizeBytes();
        BatchScanner behind = new BatchScanner(segment.file(), at, fileBytes, CANDIDATE_CHUNK_BYTES);
        while (at < fileBytes) {
            behind.skipTo(at);
            boolean isBatch = behind.next() && behind.crcMatches();
            if (isBatch && behind.baseOffset() > nextOffset) {
                return scanner.nextOffset() <= behind.baseOffset();
            }
            at = isBatch ? at + behind.sizeBytes() : behind.nextCandidate(at + 1);
        }
        return true;
    }

    private BatchScanner behind() throws IOException {
        int next = scanner.position() + scanner.sizeBytes();
        return new BatchScanner(segment.file(), next, fileBytes, RecordBatch.HEADER_SIZE_BYTES);
    }

    /**
     * Corrects the base offset of a batch that is otherwise healthy, if the batch behind it begins where this one ends.
     * Does not apply to a segment that compaction may have rewritten, where gaps are normal.
     */
    private boolean correctOffset() throws IOException {
        long offsets = scanner.nextOffset() - scanner.baseOffset();
        BatchScanner behind = behind();
        boolean correctable = place != Position.SYNCED
                && scanner.crcMatches()
                && behind.next()
                && behind.baseOffset() == nextOffset + offsets
                && behind.crcMatches();
        if (correctable) {
            LOG.error(
                    "{}: the batch at byte {} has offset {}, but lies between {} and {}; corrected to offset {}",
                    segment.logPath(),
                    scanner.position(),
                    scanner.baseOffset(),
                    nextOffset - 1,
                    behind.baseOffset(),
                    nextOffset);
            RecordBatch.setBaseOffset(scanner.header(), 0, nextOffset);
            ByteBuffer corrected = ByteBuffer.allocate(Long.BYTES).putLong(0, nextOffset);
            segment.file().write(corrected, scanner.position());
        }
        return correctable;
    }

    private void accept() throws IOException {
        segment.note(scanner.header(), 0, scanner.position(), index);
        lastEpoch = RecordBatch.leaderEpoch(scanner.header(), 0);
        epochs.found(segment, scanner.position(), scanner.baseOffset(), lastEpoch);
        nextOffset = scanner.nextOffset();
    }

    /** Whether the segment may end before its file does. */
    private boolean mayEndHere() {
        return place == Position.NEWEST || (place == Position.BEFORE_A_TAIL && powerLoss.isPossible());
    }

    /** Position of the next healthy batch; the file's size if there is none. */
    private int resume(int bad, int claimedNext) throws IOException {
        if (claimedNext > bad) {
            scanner.skipTo(claimedNext);
            if (scanner.next() && isHealthy(true)) {
                return claimedNext;
            }
        }
        int candidate = scanner.nextCandidate(bad + 1);
        while (candidate < fileBytes) {
            scanner.skipTo(candidate);
            if (scanner.next()
                    && isHealthy(true)
                    && (place == Position.SYNCED ? isBeforeNextHealthy() : isLikelyBehind(bad, claimedNext))) {
                return candidate;
            }
            candidate = scanner.nextCandidate(candidate + 1);
        }
        return fileBytes;
    }

    /**
     * Whether a candidate is really a batch, and not a part of a record's value. If a process was killed, the last
     * batch may be partly written, and its length then reaches beyond the file. No batch follows such a batch, unless
     * only its length is wrong. Every missing offset takes at least one byte, unless there may be gaps: then a larger
     * offset also counts outside of the damaged batch.
     */
    private boolean isLikelyBehind(int bad, int claimedNext) throws IOException {
        boolean lengthIsWrong = claimedNext <= bad;
        boolean near = scanner.baseOffset() - nextOffset <= scanner.position() - bad;
        boolean plausible = (near || (rules.mayEndBehindGap() && isBeforeNextHealthy()))
                && RecordBatch.leaderEpoch(scanner.header(), 0) >= lastEpoch;
        if (!plausible || (!lengthIsWrong && (near || scanner.position() > claimedNext))) {
            return plausible;
        }
        ByteBuf damaged = header(bad);
        boolean looksWhole = RecordBatch.baseOffset(damaged, 0) == offsetAt(damaged, nextOffset)
                && BatchCheck.isPossible(damaged, 0);
        return (!looksWhole && lengthIsWrong)
                || BatchScanner.crcMatches(segment.file(), bad, scanner.position(), damaged)
                || isWholeBefore(scanner.position(), bad, damaged);
    }

    /**
     * The offset that a batch should have: the next one, or its own if that can lie behind a gap. If its own is too
     * small, the result differs from it in one bit, so that it counts as a flipped bit. Offset 0 counts as not written.
     */
    private long offsetAt(ByteBuf header, long next) {
        long own = RecordBatch.baseOffset(header, 0);
        if (!rules.mayEndBehindGap() || own == 0) {
            return next;
        }
        for (int bit = 0; own < next && bit < Long.SIZE; bit++) {
            if ((own ^ (1L << bit)) >= next) {
                return own ^ (1L << bit);
            }
        }
        return Math.max(next, own);
    }

    /** Whether a batch is whole, and ends before a candidate, if one bit of its length is flipped. */
    private boolean isWholeBefore(int candidate, int bad, ByteBuf damaged) throws IOException {
        int length = damaged.getInt(RecordBatch.LENGTH);
        for (int bit = 0; bit < Integer.SIZE; bit++) {
            long end = (long) bad + RecordBatch.LOG_OVERHEAD_BYTES + (length ^ 1 << bit);
            if (end >= bad + RecordBatch.HEADER_SIZE_BYTES
                    && end < candidate
                    && BatchScanner.crcMatches(segment.file(), bad, (int) end, damaged)) {
                return true;
            }
        }
        return false;
    }

    private ByteBuf header(int position) throws IOException {
        ByteBuffer header = ByteBuffer.allocate(RecordBatch.HEADER_SIZE_BYTES);
        segment.file().read(header, position);
        return Unpooled.wrappedBuffer(header.array());
    }

    /**
     * Whether the power was lost before all bytes between two positions were written. In this case nothing behind them
     * counts.
     */
    private boolean isTorn(int from, int to) throws IOException {
        if (place == Position.SYNCED || !powerLoss.isPossible()) {
            return false;
        }
        if (rules.endsAtDamage()) {
            return true;
        }
        ByteBuf first = header(from);
        if (TornWrite.isOneBitOff(segment.file(), from, to, first, offsetAt(first, nextOffset))) {
            return false; // The flipped bit may be in the length, which would split the batch at the wrong position.
        }
        long offset = nextOffset;
        for (int at = from; at < to; ) {
            ByteBuf header = header(at);
            int claimed = RecordBatch.sizeBytes(header, 0);
            int end = claimed >= RecordBatch.HEADER_SIZE_BYTES && claimed <= to - at ? at + claimed : to;
            if (TornWrite.explains(segment.file(), at, end, header, offsetAt(header, offset))) {
                return true;
            }
            offset = RecordBatch.nextOffset(header, 0);
            at = end;
        }
        return false;
    }

    private int cut(int position) {
        LOG.warn(
                "{}: removing {} bytes from byte {} on, which are not a whole batch; the log ends at offset {}",
                segment.logPath(),
                fileBytes - position,
                position,
                nextOffset);
        return position;
    }

    private int keepBad(int from, int to) {
        LOG.error(
                "{}: bytes {} to {} hold no healthy batch; they stay in the file and are not served; the offset before"
                        + " them is {}",
                segment.logPath(),
                from,
                to,
                nextOffset);
        int[] ranges = segment.badRanges();
        int[] more = Arrays.copyOf(ranges, ranges.length + 2);
        more[ranges.length] = from;
        more[ranges.length + 1] = to;
        segment.setBadRanges(more);
        return to;
    }
}
