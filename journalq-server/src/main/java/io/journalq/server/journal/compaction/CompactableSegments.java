package io.journalq.server.journal.compaction;

import io.journalq.server.journal.segment.Segment;
import java.util.ArrayList;
import java.util.List;

/**
 * The oldest segments of a journal that may be compacted now: closed, durable, stable and old enough. Records that are
 * not durable must not supersede durable ones, or a power loss could take both. Immutable; any thread.
 *
 * @param segments in ascending order; may be empty
 * @param endOffset base offset of the segment behind them
 */
public record CompactableSegments(List<Segment> segments, CompactionConfig config, long endOffset) {
    /** The compactable segments of {@code log} as it is now; records at or behind {@code stableOffset} are excluded. */
    public static CompactableSegments of(CompactedLog log, long stableOffset, long nowMs) {
        Segment[] all = log.segments();
        CompactionConfig config = log.config();
        long safeOffset = Math.min(stableOffset, log.flushedOffset());
        List<Segment> found = new ArrayList<>();
        long endOffset = all[0].baseOffset();
        for (int i = 0; config.enabled() && i < all.length - 1; i++) {
            boolean tooYoung = config.minLagMs() > 0 && all[i].maxTimestampMs() > nowMs - config.minLagMs();
            if (tooYoung || all[i + 1].baseOffset() > safeOffset) {
                break;
            }
            found.add(all[i]);
            endOffset = all[i + 1].baseOffset();
        }
        return new CompactableSegments(found, config, endOffset);
    }

    /**
     * How much of these segments needs compaction.
     *
     * @param compactedOffset records before this are compacted
     */
    public CompactionDebt debt(long compactedOffset, long nowMs) {
        long cleanBytes = 0;
        long dirtyBytes = 0;
        boolean overdue = false;
        for (Segment segment : segments) {
            if (segment.endOffset() <= compactedOffset) {
                cleanBytes += segment.sizeBytes();
            } else {
                dirtyBytes += segment.sizeBytes();
                long firstMs = segment.firstTimestampMs();
                overdue |= firstMs >= 0 && firstMs <= nowMs && nowMs - firstMs > config.maxLagMs();
            }
        }
        return new CompactionDebt(cleanBytes, dirtyBytes, overdue);
    }

    /**
     * Groups of neighbouring segments that fit into one segment together and are merged. Without merging, compaction
     * would leave more and more small segments.
     */
    List<List<Segment>> groups(long upToOffset, int segmentSizeBytes) {
        List<List<Segment>> groups = new ArrayList<>();
        List<Segment> group = new ArrayList<>();
        long sizeBytes = 0;
        for (Segment segment : segments) {
            if (segment.baseOffset() >= upToOffset) {
                break;
            }
            boolean fits = sizeBytes + segment.sizeBytes() <= segmentSizeBytes
                    && (group.isEmpty() || segment.endOffset() - group.get(0).baseOffset() < Integer.MAX_VALUE);
            if (!fits && !group.isEmpty()) {
                groups.add(group);
                group = new ArrayList<>();
                sizeBytes = 0;
            }
            group.add(segment);
            sizeBytes += segment.sizeBytes();
        }
        if (!group.isEmpty()) {
            groups.add(group);
        }
        return groups;
    }

    /** Base offset of the segment behind {@code segment}. */
    long offsetBehind(Segment segment) {
        int next = segments.indexOf(segment) + 1;
        return next < segments.size() ? segments.get(next).baseOffset() : endOffset;
    }
}
