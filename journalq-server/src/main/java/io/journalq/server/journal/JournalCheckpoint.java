package io.journalq.server.journal;

import io.journalq.server.journal.file.CorruptJournalException;
import io.journalq.server.journal.file.NewerFormatException;
import io.journalq.server.journal.segment.FlippedBit;
import io.journalq.server.journal.segment.LeaderEpochs;
import io.journalq.server.journal.segment.SegmentState;
import io.journalq.server.journal.segment.SegmentState.SegmentExtent;
import io.journalq.server.journal.segment.SegmentState.SegmentTimes;
import io.journalq.server.journal.segment.SegmentSwap;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The durable state of a journal, as stored in its checkpoint file. Immutable.
 *
 * @param startOffset first offset that may be read
 * @param compactedOffset records before this were compacted at least once
 * @param highWatermark as the owner last set it. It can lie behind the end of the segments, because records are readable
 *     before they are synced if the topic's mode allows it
 * @param epochs start offset of each leader epoch
 * @param segments in ascending order of base offset
 */
record JournalCheckpoint(
        long startOffset,
        long compactedOffset,
        long highWatermark,
        LeaderEpochs.Entries epochs,
        List<SegmentState> segments) {
    static final String FILE_NAME = "journal.checkpoint";

    /**
     * Bounds the memory that a damaged file can make us allocate. Leaves ample room for all segments, epochs and bad
     * ranges.
     */
    static final int MAX_FILE_SIZE_BYTES = 64 << 20;

    private static final int MAGIC = 0x4A514350;
    private static final int VERSION = 3;
    private static final int VERSION_WITHOUT_HIGH_WATERMARK = 2;
    private static final int VERSION_WITHOUT_COMPACTION = 1;
    private static final int CRC = 8;
    private static final int HEADER_SIZE_BYTES = 12;

    private static final Logger LOG = LoggerFactory.getLogger(JournalCheckpoint.class);

    /** The state of a journal without records that begins at {@code offset}. */
    static JournalCheckpoint ofEmpty(long offset) {
        SegmentState empty = new SegmentState(new SegmentExtent(offset, 0, offset), SegmentTimes.NONE, new int[0]);
        return new JournalCheckpoint(offset, offset, offset, LeaderEpochs.Entries.NONE, List.of(empty));
    }

    /** The durable state of the segment that begins at {@code baseOffset}; null if there is none. */
    SegmentState segment(long baseOffset) {
        for (SegmentState segment : segments) {
            if (segment.extent().baseOffset() == baseOffset) {
                return segment;
            }
        }
        return null;
    }

    /** This checkpoint without the segments that {@code swaps} have replaced. */
    JournalCheckpoint without(List<SegmentSwap.Interrupted> swaps) {
        List<SegmentState> left = new ArrayList<>();
        for (SegmentState segment : segments) {
            long offset = segment.extent().baseOffset();
            if (swaps.stream().noneMatch(swap -> swap.covers(offset))) {
                left.add(segment);
            }
        }
        return new JournalCheckpoint(startOffset, compactedOffset, highWatermark, epochs, left);
    }

    ByteBuffer encode() {
        int sizeBytes = HEADER_SIZE_BYTES + 32 + epochs.count() * 12;
        for (SegmentState segment : segments) {
            sizeBytes += 48 + segment.badRanges().length * Integer.BYTES;
        }
        ByteBuffer out = ByteBuffer.allocate(sizeBytes);
        out.putInt(MAGIC).putInt(VERSION).putInt(0).putLong(startOffset).putLong(compactedOffset);
        out.putLong(highWatermark);
        out.putInt(epochs.count());
        for (int i = 0; i < epochs.count(); i++) {
            out.putInt(epochs.epochs()[i]).putLong(epochs.startOffsets()[i]);
        }
        out.putInt(segments.size());
        for (SegmentState segment : segments) {
            out.putLong(segment.extent().baseOffset())
                    .putInt(segment.extent().sizeBytes())
                    .putLong(segment.extent().endOffset());
            SegmentTimes times = segment.times();
            out.putLong(times.firstMs()).putLong(times.maxMs()).putLong(times.maxBatchOffset());
            out.putInt(segment.badRanges().length);
            for (int position : segment.badRanges()) {
                out.putInt(position);
            }
        }
        out.putInt(CRC, crc(out.array(), sizeBytes));
        return out.flip();
    }

    /** Like {@link #decode}, but corrects one flipped bit. */
    static JournalCheckpoint decodeCorrected(Path file, byte[] content) throws IOException {
        byte[] corrected = corrected(content);
        if (corrected == null) {
            return decode(file, content);
        }
        LOG.warn("{}: corrected one flipped bit by its CRC", file);
        return decode(file, corrected);
    }

    /**
     * Decodes the format of {@link #encode}.
     *
     * @throws CorruptJournalException if {@code content} is not in this format
     * @throws NewerFormatException if a newer release wrote it
     */
    static JournalCheckpoint decode(Path file, byte[] content) throws IOException {
        ByteBuffer in = ByteBuffer.wrap(content);
        try {
            if (in.getInt() != MAGIC) {
                throw new CorruptJournalException(file, 0, "not a journal checkpoint");
            }
            int version = in.getInt();
            if (in.getInt() != crc(content, content.length)) {
                throw new CorruptJournalException(file, CRC, "checkpoint has a wrong CRC");
            }
            if (version > VERSION || version < VERSION_WITHOUT_COMPACTION) {
                throw new NewerFormatException(file, "a checkpoint", version, VERSION);
            }
            JournalCheckpoint checkpoint = decodeBody(in, version);
            if (!checkpoint.isPossible()) {
                throw new CorruptJournalException(file, HEADER_SIZE_BYTES, "checkpoint is inconsistent");
            }
            return checkpoint;
        } catch (BufferUnderflowException tooShort) {
            throw new CorruptJournalException(file, content.length, "checkpoint is truncated");
        }
    }

    private static JournalCheckpoint decodeBody(ByteBuffer in, int version) {
        long startOffset = in.getLong();
        long compactedOffset = version == VERSION_WITHOUT_COMPACTION ? 0 : in.getLong();
        boolean hasHighWatermark = version > VERSION_WITHOUT_HIGH_WATERMARK;
        long storedHighWatermark = hasHighWatermark ? in.getLong() : 0;
        int epochCount = in.getInt();
        int[] epochs = new int[bounded(in, epochCount, 12)];
        long[] startOffsets = new long[epochs.length];
        for (int i = 0; i < epochs.length; i++) {
            epochs[i] = in.getInt();
            startOffsets[i] = in.getLong();
        }
        int segmentCount = bounded(in, in.getInt(), 48);
        List<SegmentState> segments = new ArrayList<>(segmentCount);
        for (int i = 0; i < segmentCount; i++) {
            SegmentExtent extent = new SegmentExtent(in.getLong(), in.getInt(), in.getLong());
            SegmentTimes times = new SegmentTimes(in.getLong(), in.getLong(), in.getLong());
            int[] badRanges = new int[bounded(in, in.getInt(), Integer.BYTES)];
            for (int j = 0; j < badRanges.length; j++) {
                badRanges[j] = in.getInt();
            }
            segments.add(new SegmentState(extent, times, badRanges));
        }
        // A broker that wrote an earlier version had the only replica: all of it could be read.
        long highWatermark = hasHighWatermark || segments.isEmpty()
                ? storedHighWatermark
                : segments.get(segmentCount - 1).extent().endOffset();
        return new JournalCheckpoint(
                startOffset, compactedOffset, highWatermark, new LeaderEpochs.Entries(epochs, startOffsets), segments);
    }

    /**
     * Whether a journal can have this state. A matching checksum does not prove it, because the writer itself may have
     * been wrong.
     */
    private boolean isPossible() {
        long next = 0;
        for (SegmentState segment : segments) {
            SegmentExtent extent = segment.extent();
            if (extent.baseOffset() < next || extent.sizeBytes() < 0 || extent.endOffset() < extent.baseOffset()) {
                return false;
            }
            if (!areRanges(segment.badRanges(), extent.sizeBytes())) {
                return false;
            }
            next = extent.endOffset();
        }
        return startOffset >= 0 && compactedOffset >= 0 && highWatermark >= 0;
    }

    private static boolean areRanges(int[] positions, int endPosition) {
        int before = 0;
        for (int position : positions) {
            if (position < before || position > endPosition) {
                return false;
            }
            before = position;
        }
        return positions.length % 2 == 0;
    }

    private static int bounded(ByteBuffer in, int count, int eachBytes) {
        if (count < 0 || count > in.remaining() / eachBytes) {
            throw new BufferUnderflowException();
        }
        return count;
    }

    /** The content with the flipped bit corrected; null if no bit, or more than one, is flipped. */
    private static byte[] corrected(byte[] content) {
        if (content.length < HEADER_SIZE_BYTES) {
            return null;
        }
        int crcDifference = ByteBuffer.wrap(content).getInt(CRC) ^ crc(content, content.length);
        if (crcDifference == 0) {
            return null;
        }
        byte[] corrected = content.clone();
        if (Integer.bitCount(crcDifference) == 1) {
            ByteBuffer.wrap(corrected).putInt(CRC, ByteBuffer.wrap(content).getInt(CRC) ^ crcDifference);
            return corrected;
        }
        long bit = FlippedBit.find(crcDifference, content.length - Integer.BYTES);
        if (bit == FlippedBit.NONE) {
            return null;
        }
        int at = (int) (bit / Byte.SIZE);
        corrected[at < CRC ? at : at + Integer.BYTES] ^= (byte) (1 << bit % Byte.SIZE);
        return corrected;
    }

    /** CRC of everything except the CRC itself. */
    private static int crc(byte[] content, int sizeBytes) {
        CRC32C crc = new CRC32C();
        crc.update(content, 0, CRC);
        crc.update(content, HEADER_SIZE_BYTES, Math.max(0, sizeBytes - HEADER_SIZE_BYTES));
        return (int) crc.getValue();
    }
}
