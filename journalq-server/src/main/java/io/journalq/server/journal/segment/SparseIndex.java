package io.journalq.server.journal.segment;

import io.journalq.common.check.Check;
import io.journalq.server.journal.file.CorruptJournalException;
import io.journalq.server.journal.file.NewerFormatException;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * Positions of some of a segment's batches: for about one batch in every interval its offset, its position, and the
 * largest timestamp of all batches before it. Serves lookups by offset, by position and by time.
 *
 * <p>One thread adds entries. Any thread may search at the same time and sees a complete prefix.
 */
public final class SparseIndex {
    public static final String FILE_SUFFIX = ".index";

    private static final int MAGIC = 0x4A514958;
    private static final int VERSION = 1;
    private static final int HEADER_SIZE_BYTES = 28;
    private static final int ENTRY_SIZE_BYTES = 16;
    private static final int FIRST_CAPACITY = 16;
    /** A segment of 1 GiB with one entry for each of its smallest possible batches. */
    public static final int MAX_FILE_SIZE_BYTES = HEADER_SIZE_BYTES + ENTRY_SIZE_BYTES * (Segment.MAX_SIZE_BYTES / 61);

    private final long baseOffset;
    private final int intervalBytes;
    private volatile Columns columns = new Columns(new int[0], new int[0], new long[0]);
    private volatile int count;

    SparseIndex(long baseOffset, int intervalBytes) {
        this.baseOffset = baseOffset;
        this.intervalBytes = intervalBytes;
    }

    @SuppressWarnings("ArrayRecordComponent") // A plain holder, never compared.
    private record Columns(int[] offsets, int[] positions, long[] timestampsBefore) {
        Columns grown() {
            int capacity = Math.max(FIRST_CAPACITY, 2 * offsets.length);
            return new Columns(
                    Arrays.copyOf(offsets, capacity),
                    Arrays.copyOf(positions, capacity),
                    Arrays.copyOf(timestampsBefore, capacity));
        }
    }

    /**
     * Adds an entry for a batch if it lies an interval behind the last entry. Batches come in the order of the file.
     */
    void add(long offset, int position, long maxTimestampBeforeMs) {
        int at = count;
        Columns into = columns;
        int last = at == 0 ? 0 : into.positions[at - 1];
        if (position - last < intervalBytes) {
            return;
        }
        if (at == into.offsets.length) {
            into = into.grown();
            columns = into;
        }
        into.offsets[at] = (int) (offset - baseOffset);
        into.positions[at] = position;
        into.timestampsBefore[at] = maxTimestampBeforeMs;
        count = at + 1;
    }

    /** Size of the entries, which is that of the file without its header. */
    public int sizeBytes() {
        return count * ENTRY_SIZE_BYTES;
    }

    /** Position of the closest entry at or before {@code offset}; 0 if there is none. */
    public int floorByOffset(long offset) {
        int found = count;
        Columns in = columns;
        // A log can begin further before this segment than an int can tell.
        long relative = offset - baseOffset;
        int low = 0;
        while (low < found) {
            int middle = (low + found) >>> 1;
            if (in.offsets[middle] <= relative) {
                low = middle + 1;
            } else {
                found = middle;
            }
        }
        return low == 0 ? 0 : in.positions[low - 1];
    }

    /** Position of the closest entry at or before {@code position}; 0 if there is none. */
    int floorByPosition(int position) {
        int low = entriesUpTo(position);
        return low == 0 ? 0 : columns.positions[low - 1];
    }

    /** Position of the first entry behind {@code position}; {@code end} if there is none before that. */
    int positionBehind(int position, int end) {
        int next = entriesUpTo(position);
        return next < count ? Math.min(end, columns.positions[next]) : end;
    }

    /** Offset of the entry at {@code position}; for position 0, the segment's base offset. */
    public long offsetAt(int position) {
        int entry = entriesUpTo(position) - 1;
        Check.that(
                position == 0 || (entry >= 0 && columns.positions[entry] == position),
                "the index has no entry at this position");
        return position == 0 ? baseOffset : baseOffset + columns.offsets[entry];
    }

    /** Position of the last entry before which every timestamp is less than {@code timestampMs}; 0 if there is none. */
    public int floorByTimestamp(long timestampMs) {
        int found = count;
        Columns in = columns;
        int low = 0;
        while (low < found) {
            int middle = (low + found) >>> 1;
            if (in.timestampsBefore[middle] < timestampMs) {
                low = middle + 1;
            } else {
                found = middle;
            }
        }
        return low == 0 ? 0 : in.positions[low - 1];
    }

    private int entriesUpTo(int position) {
        int found = count;
        Columns in = columns;
        int low = 0;
        while (low < found) {
            int middle = (low + found) >>> 1;
            if (in.positions[middle] <= position) {
                low = middle + 1;
            } else {
                found = middle;
            }
        }
        return low;
    }

    /** Visits an entry. */
    @FunctionalInterface
    public interface EntryVisitor {
        void visit(long offset, int position);
    }

    /** Visits every entry, in order. */
    public void forEach(EntryVisitor visitor) {
        int found = count;
        Columns in = columns;
        for (int i = 0; i < found; i++) {
            visitor.visit(baseOffset + in.offsets[i], in.positions[i]);
        }
    }

    /** A copy with the entries of the first {@code sizeBytes} of the segment. */
    SparseIndex prefix(int sizeBytes) {
        SparseIndex prefix = new SparseIndex(baseOffset, intervalBytes);
        int kept = entriesUpTo(sizeBytes - 1);
        Columns from = columns;
        prefix.columns = new Columns(
                Arrays.copyOf(from.offsets, kept),
                Arrays.copyOf(from.positions, kept),
                Arrays.copyOf(from.timestampsBefore, kept));
        prefix.count = kept;
        return prefix;
    }

    /** The file's content for a segment of {@code coveredBytes}. */
    ByteBuffer encode(int coveredBytes) {
        int entries = entriesUpTo(coveredBytes - 1);
        Columns from = columns;
        ByteBuffer out = ByteBuffer.allocate(HEADER_SIZE_BYTES + entries * ENTRY_SIZE_BYTES);
        out.putInt(MAGIC)
                .putInt(VERSION)
                .putLong(baseOffset)
                .putInt(coveredBytes)
                .putInt(entries);
        int crcAt = out.position();
        out.putInt(0);
        for (int i = 0; i < entries; i++) {
            out.putInt(from.offsets[i]).putInt(from.positions[i]).putLong(from.timestampsBefore[i]);
        }
        out.putInt(crcAt, crc(out.array(), crcAt));
        return out.flip();
    }

    /**
     * Decodes the format of {@link #encode}.
     *
     * @param neededBytes the file must cover at least this much of the segment
     * @throws CorruptJournalException if it covers less, or is not in this format
     */
    public static SparseIndex decode(Path file, byte[] content, long baseOffset, int neededBytes, int intervalBytes)
            throws IOException {
        ByteBuffer in = ByteBuffer.wrap(content);
        try {
            if (in.getInt() != MAGIC) {
                throw new CorruptJournalException(file, 0, "not an index");
            }
            int version = in.getInt();
            long base = in.getLong();
            int covered = in.getInt();
            int entries = in.getInt();
            int crcAt = in.position();
            boolean sound = in.getInt() == crc(content, crcAt);
            if (sound && version != VERSION) {
                throw new NewerFormatException(file, "an index", version, VERSION);
            }
            if (!sound || entries != (content.length - HEADER_SIZE_BYTES) / ENTRY_SIZE_BYTES) {
                throw new CorruptJournalException(file, crcAt, "index has a wrong CRC");
            }
            if (base != baseOffset || covered < neededBytes) {
                throw new CorruptJournalException(file, 8, "index of a different or shorter segment");
            }
            SparseIndex index = decodeEntries(in, entries, new SparseIndex(baseOffset, intervalBytes));
            if (!index.isAscending(covered)) {
                throw new CorruptJournalException(file, HEADER_SIZE_BYTES, "index is inconsistent");
            }
            return index;
        } catch (BufferUnderflowException tooShort) {
            throw new CorruptJournalException(file, content.length, "index is truncated");
        }
    }

    private static SparseIndex decodeEntries(ByteBuffer in, int entries, SparseIndex into) {
        Columns columns = new Columns(new int[entries], new int[entries], new long[entries]);
        for (int i = 0; i < entries; i++) {
            columns.offsets[i] = in.getInt();
            columns.positions[i] = in.getInt();
            columns.timestampsBefore[i] = in.getLong();
        }
        into.columns = columns;
        into.count = entries;
        return into;
    }

    /** Whether offsets and positions ascend within the covered part. A matching checksum does not guarantee it. */
    private boolean isAscending(int coveredBytes) {
        Columns in = columns;
        for (int i = 0; i < count; i++) {
            int lowestOffset = i == 0 ? 0 : in.offsets[i - 1] + 1;
            int lowestPosition = i == 0 ? 0 : in.positions[i - 1] + 1;
            if (in.offsets[i] < lowestOffset || in.positions[i] < lowestPosition || in.positions[i] >= coveredBytes) {
                return false;
            }
        }
        return true;
    }

    /** CRC of everything except the CRC itself. */
    private static int crc(byte[] content, int crcAt) {
        CRC32C crc = new CRC32C();
        crc.update(content, 0, crcAt);
        crc.update(content, crcAt + Integer.BYTES, content.length - crcAt - Integer.BYTES);
        return (int) crc.getValue();
    }
}
