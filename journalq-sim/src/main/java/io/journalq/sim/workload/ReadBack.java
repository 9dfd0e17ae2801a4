package io.journalq.sim.workload;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.sim.world.SimBroker;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Reads all records of a partition after a start. */
public final class ReadBack {
    private static final int MAX_PAGE_BYTES = 1 << 20;
    private static final int MOST_TRIES = 20;

    private final PartitionHistory partition;
    private final boolean readCommitted;
    private final List<LogReader.Found> records = new ArrayList<>();
    private final List<LogReader.Found> markers = new ArrayList<>();
    private final Set<Long> unreadable = new HashSet<>();
    private ErrorCode error = ErrorCode.NONE;
    private LogReader.Bounds bounds = new LogReader.Bounds(-1, -1, -1);
    private long next;
    private int tries;
    private boolean done;
    private String corrupt;
    private boolean gapAtEnd;

    private ReadBack(PartitionHistory partition, boolean readCommitted) {
        this.readCommitted = readCommitted;
        this.partition = partition;
    }

    /**
     * Begins to read. {@link #isDone} tells when it has ended.
     *
     * @param readCommitted whether to read only committed records
     */
    public static ReadBack start(World world, PartitionHistory partition, boolean readCommitted) {
        ReadBack reading = new ReadBack(partition, readCommitted);
        reading.fetch(world, world.broker().connect());
        return reading;
    }

    public boolean isDone() {
        return done;
    }

    public PartitionHistory partition() {
        return partition;
    }

    /** Why reading ended early; {@link ErrorCode#NONE} if everything was read. */
    public ErrorCode error() {
        return error;
    }

    /** What the CRC checks of a client found; null if nothing. */
    public String corrupt() {
        return corrupt;
    }

    /** Whether the log ends with offsets without records. */
    public boolean hasGapAtEnd() {
        return gapAtEnd;
    }

    public long logStartOffset() {
        return bounds.logStartOffset();
    }

    public long highWatermark() {
        return bounds.highWatermark();
    }

    private long end() {
        return readCommitted ? bounds.lastStableOffset() : bounds.highWatermark();
    }

    /**
     * Whether there may be records from {@code offset} on. A response with an error does not contain the end of the
     * log.
     */
    private boolean isBeforeEnd(long offset) {
        return bounds.highWatermark() < 0 || offset < end();
    }

    /** What was read, up to now. */
    public LogReader.Reading reading() {
        return new LogReader.Reading(partition.toString(), records, markers, bounds);
    }

    public List<LogReader.Found> records() {
        return records;
    }

    /** Offsets at which the broker responded that it cannot read. */
    public Set<Long> unreadable() {
        return unreadable;
    }

    private void fetch(World world, SimBroker.Connection connection) {
        long from = next;
        LogReader.Ask ask = new LogReader.Ask(partition, from, -1, 0, MAX_PAGE_BYTES, readCommitted);
        connection.send(
                ApiKey.FETCH,
                LogReader.FETCH_VERSION,
                ask.request(),
                message ->
                        world.deliver(() -> onPage(world, connection, LogReader.read(ask, (FetchResponse) message))));
    }

    private void onPage(World world, SimBroker.Connection connection, LogReader.Page page) {
        records.addAll(page.records());
        markers.addAll(page.markers());
        boolean early =
                page.error() == ErrorCode.OFFSET_OUT_OF_RANGE && page.bounds().logStartOffset() > next;
        long before = next;
        next = early ? page.bounds().logStartOffset() : page.nextOffset();
        if (page.bounds().highWatermark() >= 0) {
            bounds = page.bounds();
        }
        corrupt = page.corrupt();
        boolean failed = page.error() != ErrorCode.NONE && !early;
        boolean stuck = page.error() == ErrorCode.NONE && page.nextOffset() == before;
        if (failed || stuck) {
            tries++;
        }
        if (page.error() == ErrorCode.KAFKA_STORAGE_ERROR && world.isHarmed() && isBeforeEnd(before)) {
            // Damage. The records after it must exist.
            unreadable.add(before);
            next = before + 1;
            tries = 0;
            failed = isBeforeEnd(next);
        }
        if (corrupt != null || tries > MOST_TRIES || (!failed && !early && next >= end())) {
            error = page.error();
            if (error == ErrorCode.NONE && next < end() && corrupt == null) {
                gapAtEnd = true;
            }
            done = true;
        } else {
            fetch(world, connection);
        }
    }
}
