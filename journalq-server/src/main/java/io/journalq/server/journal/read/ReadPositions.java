package io.journalq.server.journal.read;

import io.journalq.server.journal.segment.Segment;
import java.util.Arrays;

/**
 * The positions of the newest batches of the newest segment, and the positions where recent reads ended. Consumers at
 * the tail almost always ask for one of these, and then no index is searched and no file is read. Owner thread only.
 */
final class ReadPositions {
    /** Number of batches remembered; a power of two. */
    private static final int MAX_BATCHES = 256;

    private static final int FIRST_BATCHES = 16;
    /** Number of read ends remembered: enough for about as many consumers that are not at the tail. */
    private static final int READ_ENDS = 8;

    static final int UNKNOWN = -1;

    private static final long[] NO_OFFSETS = {};
    private static final int[] NO_POSITIONS = {};

    private long[] offsets = NO_OFFSETS;
    private int[] positions = NO_POSITIONS;
    private long added;
    /** The offset behind the last batch that was added. */
    private long nextOffset;

    private Segment segment;
    private long[] endOffsets;
    private int[] endPositions;
    private Segment[] endSegments;
    private int nextEnd;

    /**
     * Records that a batch was written behind the last one. Batches before a gap are forgotten: none of them holds an
     * offset in the gap.
     */
    void add(Segment in, long offset, long behind, int position) {
        if (segment != in || offset != nextOffset) {
            segment = in;
            added = 0;
        }
        nextOffset = behind;
        if (added == offsets.length && offsets.length < MAX_BATCHES) {
            int capacity = Math.max(FIRST_BATCHES, 2 * offsets.length);
            offsets = Arrays.copyOf(offsets, capacity);
            positions = Arrays.copyOf(positions, capacity);
        }
        int slot = (int) (added & (offsets.length - 1));
        offsets[slot] = offset;
        positions[slot] = position;
        added++;
    }

    /** Records that a read ended before {@code nextOffset}, whose batch begins at {@code position}. */
    void addReadEnd(Segment in, long nextOffset, int position) {
        if (endOffsets == null) {
            endOffsets = new long[READ_ENDS];
            endPositions = new int[READ_ENDS];
            endSegments = new Segment[READ_ENDS];
        }
        endOffsets[nextEnd] = nextOffset;
        endPositions[nextEnd] = position;
        endSegments[nextEnd] = in;
        nextEnd = (nextEnd + 1) % READ_ENDS;
    }

    /** Position of the batch that holds {@code offset}, or {@link #UNKNOWN}. */
    int find(Segment in, long offset) {
        if (in == segment && added > 0) {
            long found = floorBatch(offset, Integer.MAX_VALUE);
            if (found >= 0) {
                return positions[slot(found)];
            }
        }
        if (endOffsets != null) {
            for (int i = 0; i < READ_ENDS; i++) {
                if (endOffsets[i] == offset && endSegments[i] == in) {
                    return endPositions[i];
                }
            }
        }
        return UNKNOWN;
    }

    /** Position of the last batch that begins at or before {@code position}, or {@link #UNKNOWN}. */
    int floorByPosition(Segment in, int position) {
        if (in != segment || added == 0) {
            return UNKNOWN;
        }
        long found = floorBatch(Long.MAX_VALUE, position);
        return found < 0 ? UNKNOWN : positions[slot(found)];
    }

    /** Index of the last remembered batch that begins at or before both, or -1. */
    private long floorBatch(long offset, int position) {
        long oldest = Math.max(0, added - offsets.length);
        long low = oldest;
        long high = added;
        while (low < high) {
            long middle = (low + high) >>> 1;
            int at = slot(middle);
            if (offsets[at] <= offset && positions[at] <= position) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low == oldest ? -1 : low - 1;
    }

    private int slot(long number) {
        return (int) (number & (offsets.length - 1));
    }
}
