package io.journalq.server.journal.read;

import io.journalq.common.check.Check;
import io.journalq.common.protocol.RecordsData;
import io.journalq.common.protocol.RecordsFile;
import io.journalq.server.journal.file.LogFile;
import io.journalq.server.journal.segment.BatchCheck;
import io.journalq.server.journal.segment.HealthyBatches;
import io.journalq.server.journal.segment.Segment;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.FileRegion;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whole batches found by one read. A slice holds a reference on its segment until {@link #toRecordsData},
 * {@link #readFully} or {@link #release} is called, so that a deletion of the segment does not affect it. A later
 * {@link #release} does nothing. One thread at a time.
 *
 * <p>The data of a warm slice was written recently, so the loop may send it directly. The batches of a cold slice are
 * not located yet, because that may wait for the disk: {@link #load} locates them on another thread and returns a warm
 * slice.
 */
public final class JournalSlice {
    private static final Logger LOG = LoggerFactory.getLogger(JournalSlice.class);

    /** No batches. */
    public static final JournalSlice EMPTY = new JournalSlice(null, 0, 0, null, 0);

    /** Below this size a copy costs less than the separate system call of a file region. */
    static final int COPY_BELOW_BYTES = 32 << 10;

    /** The search that a cold slice still has to do. */
    public record Search(long offset, long endOffsetExclusive, int maxSizeBytes, boolean atLeastOneBatch) {
        BatchCheck.Limits limits() {
            return new BatchCheck.Limits(endOffsetExclusive, maxSizeBytes, atLeastOneBatch);
        }
    }

    private final Segment segment;
    private final int position;
    private final int sizeBytes;
    private final Search search;
    private final long offsetLimit;
    private boolean finished;

    private JournalSlice(Segment segment, int position, int sizeBytes, Search search, long offsetLimit) {
        this.segment = segment;
        this.position = position;
        this.sizeBytes = sizeBytes;
        this.search = search;
        this.offsetLimit = offsetLimit;
    }

    /**
     * Creates a slice that takes over one reference on {@code segment}.
     *
     * @param offsetLimit all records in the slice are below this offset
     */
    static JournalSlice warm(Segment segment, int position, int sizeBytes, long offsetLimit) {
        return new JournalSlice(segment, position, sizeBytes, null, offsetLimit);
    }

    /** Creates a slice that takes over one reference on {@code segment}. */
    static JournalSlice cold(Segment segment, Search search) {
        int most = Math.min(search.maxSizeBytes, segment.sizeBytes());
        long offsetLimit = Math.min(search.endOffsetExclusive, segment.endOffset());
        return new JournalSlice(segment, 0, most, search, offsetLimit);
    }

    /**
     * All records in the slice are below this offset. The end of a cold slice is not known yet, so the limit may be far
     * beyond it.
     */
    public long offsetLimit() {
        return offsetLimit;
    }

    /** Size in bytes; for a cold slice the maximum, unless its first batch alone is larger. */
    public int sizeBytes() {
        return sizeBytes;
    }

    /**
     * The maximum memory that {@link #toRecordsData} takes once the slice is loaded: nothing for data that is sent as a
     * file region.
     */
    public int copiedSizeBytes() {
        return isWarm() && sizeBytes >= COPY_BELOW_BYTES ? 0 : Math.min(sizeBytes, COPY_BELOW_BYTES);
    }

    public boolean isEmpty() {
        return segment == null;
    }

    /** True if the bytes are in the page cache, so that reading them does not wait for the disk. */
    public boolean isWarm() {
        return search == null;
    }

    /**
     * The bytes for a response, as a copy or as a region of the file. Warm slices only. The caller owns the result.
     *
     * @throws IOException if the file cannot be read; the slice is then released
     */
    public RecordsData toRecordsData(ByteBufAllocator allocator) throws IOException {
        Check.that(isWarm(), "only a warm slice is read on this thread");
        if (segment == null) {
            return RecordsData.EMPTY;
        }
        RecordsData records = sizeBytes < COPY_BELOW_BYTES ? null : inFile();
        return records == null ? RecordsData.of(readFully(allocator)) : records;
    }

    /** The bytes as a region that takes over the reference; null if the store does not support regions. */
    private RecordsData inFile() throws IOException {
        Check.that(!finished, "a slice is used once");
        try {
            LogFile file = segment.file();
            FileRegion region = file.region(position, sizeBytes, segment::release);
            finished = region != null;
            return region == null ? null : RecordsData.of(region, new SliceFile(segment, file, position));
        } catch (IOException failure) {
            release();
            throw failure;
        }
    }

    /**
     * Locates the batches of a cold slice and reads them through a small buffer, which brings them into the page cache.
     * Stops at the first damaged batch. A warm slice is returned unchanged. Any thread; blocks.
     *
     * @return a warm slice that takes over the reference; {@link #EMPTY} if the search found none
     * @throws IOException if the file cannot be read or its first batch is corrupt; the slice is then released
     */
    public JournalSlice load() throws IOException {
        if (isWarm()) {
            return this;
        }
        Check.that(!finished, "a slice is used once");
        JournalSlice loaded = EMPTY;
        try {
            loaded = searchAndCheck();
        } finally {
            if (loaded.isEmpty()) {
                release();
            }
            finished = true;
        }
        return loaded;
    }

    /**
     * Reads the batches into a new buffer, which the caller owns; empty if the search found none. Any thread; blocks if
     * the slice is cold.
     *
     * @throws IOException if the file cannot be read or is corrupt; the slice is then released
     */
    public ByteBuf readFully(ByteBufAllocator allocator) throws IOException {
        JournalSlice loaded = load();
        if (loaded.isEmpty()) {
            return Unpooled.EMPTY_BUFFER;
        }
        Check.that(!loaded.finished, "a slice is used once");
        try {
            return loaded.read(allocator, loaded.position, loaded.sizeBytes);
        } finally {
            loaded.release();
        }
    }

    /**
     * The file of a slice while its region has a reference on the segment.
     *
     * @param start position of the slice
     */
    private record SliceFile(Segment segment, LogFile file, int start) implements RecordsFile {
        @Override
        public void read(ByteBuffer target, int index) throws IOException {
            segment.readFully(target, start + index);
        }

        @Override
        public FileRegion region(int index, int sizeBytes) {
            Check.that(segment.tryRetain(), "a segment that is being read can be retained");
            return file.region((long) start + index, sizeBytes, segment::release);
        }
    }

    private JournalSlice searchAndCheck() throws IOException {
        int start = segment.locateChecked(search.offset);
        if (start < 0) {
            start = HealthyBatches.find(segment, search.offset).position();
        }
        BatchCheck check =
                new BatchCheck(segment, start, segment.healthyUntil(start, segment.sizeBytes()), search.limits());
        int end = check.healthyEnd();
        if (check.isDamaged()) {
            LOG.error("{} is damaged at byte {}", segment.logPath(), end);
            if (end == start) {
                return healthyBatch();
            }
        }
        return end == start ? EMPTY : warm(segment, start, end - start, check.endOffset());
    }

    /** A slice of one batch next to damaged bytes. */
    private JournalSlice healthyBatch() throws IOException {
        HealthyBatches.Batch batch = HealthyBatches.find(segment, search.offset);
        boolean fits = search.atLeastOneBatch || batch.sizeBytes() <= search.maxSizeBytes;
        return fits && batch.nextOffset() <= search.endOffsetExclusive
                ? warm(segment, batch.position(), batch.sizeBytes(), batch.nextOffset())
                : EMPTY;
    }

    private ByteBuf read(ByteBufAllocator allocator, int from, int count) throws IOException {
        ByteBuf target = allocator.directBuffer(count, count);
        try {
            segment.readFully(target.internalNioBuffer(0, count), from);
            return target.writerIndex(count);
        } catch (IOException | RuntimeException | OutOfMemoryError failure) {
            target.release();
            throw failure;
        }
    }

    /** Releases the segment without reading. */
    public void release() {
        if (segment != null && !finished) {
            finished = true;
            segment.release();
        }
    }
}
