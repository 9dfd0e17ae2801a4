package io.journalq.server.journal.segment;

/**
 * A segment up to where it is flushed, as the checkpoint keeps it.
 *
 * @param extent flushed bytes and the offset behind them
 * @param badRanges pairs of positions, from and to, that hold no healthy batch
 */
@SuppressWarnings("ArrayRecordComponent") // A plain holder, never compared.
public record SegmentState(SegmentExtent extent, SegmentTimes times, int[] badRanges) {}
