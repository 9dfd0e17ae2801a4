package io.journalq.server.journal.segment;

import io.journalq.common.record.RecordBatch;
import java.io.IOException;
import java.util.Arrays;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the part of one segment that no checkpoint vouches for, checks every batch, and decides what becomes of bad bytes.
 * In the newest segment, or one that was not synced since it was that, they end it, unless the damaged batch was whole
 * once, still says where the next begins, and that one is healthy; in an older segment the next healthy batch is searched for. Offsets may
 * leave gaps, as after compaction, but not before
 * the last batch of all. Used once, while a journal opens.
 */
public final class SegmentRecovery {
    private static final int CHUNK_BYTES = 1 << 20;
    private static final Logger LOG = LoggerFactory.getLogger(SegmentRecovery.class);

    private final Segment segment;
    private final EpochCheck epochs;
    private final boolean mayBeTorn;
    private final long nextSegmentOffset;
    private final int fileBytes;
    private final BatchScanner scanner;
    private final SparseIndex index;
    private long nextOffset;

    /**
     * @param segment what its extent covers is trusted; reading begins behind it
     * @param mayBeTorn whether this is the journal's last segment, or was when it was last synced
     * @param nextSegmentOffset no batch reaches beyond this offset
     */
    public SegmentRecovery(Segment segment, int fileBytes, boolean mayBeTorn, long nextSegmentOffset, EpochCheck epochs)
            throws IOException {
        this.segment = segment;
        this.epochs = epochs;
        this.mayBeTorn = mayBeTorn;
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
            int claimedEnd = scanner.claimedEnd();
            if (scanner.onlyZerosLeft()) {
                return mayBeTorn || nextOffset == nextSegmentOffset ? bad : keepBad(bad, fileBytes);
            }
            int resumed = resume(bad, claimedEnd);
            if (resumed >= fileBytes) {
                return mayBeTorn ? cut(bad) : keepBad(bad, fileBytes);
            }
            keepBad(bad, resumed);
            scanner.skipTo(resumed);
            afterBad = true;
        }
    }

    /**
     * The CRC does not cover the base offset. It is the next one, unless bad bytes stand before it, or compaction has taken
     * batches away: then it is larger, and not beyond where the batch behind it begins.
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
        int next = scanner.position() + scanner.sizeBytes();
        BatchScanner behind = new BatchScanner(segment.file(), next, fileBytes, RecordBatch.HEADER_SIZE_BYTES);
        return behind.next() ? scanner.nextOffset() <= behind.baseOffset() : !mayBeTorn;
    }

    private void accept() throws IOException {
        segment.note(scanner.header(), 0, scanner.position(), index);
        epochs.found(segment, scanner.position(), scanner.baseOffset(), RecordBatch.leaderEpoch(scanner.header(), 0));
        nextOffset = scanner.nextOffset();
    }

    /** Where the next healthy batch begins; the file's size when there is none. */
    private int resume(int bad, int claimedNext) throws IOException {
        if (claimedNext > bad) {
            // What was not written before a power loss was promised to nobody, nor was anything behind it.
            boolean torn =
                    mayBeTorn && TornWrite.explains(segment.file(), bad, claimedNext, scanner.header(), nextOffset);
            scanner.skipTo(claimedNext);
            if (!torn && scanner.next() && isHealthy(true)) {
                return claimedNext;
            }
        }
        // Where it may, a torn write may hold anything, even a whole batch inside a record's value.
        int candidate = mayBeTorn ? fileBytes : scanner.nextCandidate(bad + 1);
        while (candidate < fileBytes) {
            scanner.skipTo(candidate);
            if (scanner.next() && isHealthy(true)) {
                return candidate;
            }
            candidate = scanner.nextCandidate(candidate + 1);
        }
        return fileBytes;
    }

    private int cut(int position) {
        LOG.warn(
                "{}: {} bytes from byte {} on are no whole batch and are cut off; the log ends at offset {}",
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
