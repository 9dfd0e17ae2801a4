package io.journalq.server.journal.segment;

/**
 * The durable state of a segment, as stored in the checkpoint.
 *
 * @param extent durable bytes and the offset behind them
 * @param badRanges pairs of positions, from and to, without a healthy batch
 */
@SuppressWarnings("ArrayRecordComponent") // A plain holder, never compared.
public record SegmentState(SegmentExtent extent, SegmentTimes times, int[] badRanges) {}
