package io.journalq.sim.workload;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.sim.world.SimBroker;
import java.util.ArrayList;
import java.util.List;

/** Everything that a partition holds, read at once after a start. */
public final class ReadBack {
    private static final int MAX_PAGE_BYTES = 1 << 20;
    private static final int MOST_TRIES = 20;

    private final PartitionHistory partition;
    private final List<LogReader.Found> records = new ArrayList<>();
    private final List<LogReader.Found> markers = new ArrayList<>();
    private ErrorCode error = ErrorCode.NONE;
    private long logStartOffset = -1;
    private long highWatermark = -1;
    private long next;
    private int tries;
    private boolean done;
    private String corrupt;
    private boolean gapAtEnd;

    private ReadBack(PartitionHistory partition) {
        this.partition = partition;
    }

    /** Begins to read; {@link #isDone} says when it is over. */
    public static ReadBack start(World world, PartitionHistory partition) {
        ReadBack reading = new ReadBack(partition);
        reading.fetch(world, world.broker().connect());
        return reading;
    }

    public boolean isDone() {
        return done;
    }

    public PartitionHistory partition() {
        return partition;
    }

    /** Why reading ended early; {@link ErrorCode#NONE} when all was read. */
    public ErrorCode error() {
        return error;
    }

    /** What a client's checks found damaged; null when nothing. */
    public String corrupt() {
        return corrupt;
    }

    /** Whether the last offsets hold nothing. */
    public boolean hasGapAtEnd() {
        return gapAtEnd;
    }

    public long logStartOffset() {
        return logStartOffset;
    }

    public long highWatermark() {
        return highWatermark;
    }

    public List<LogReader.Found> records() {
        return records;
    }

    /** Ends of transactions. */
    public List<LogReader.Found> markers() {
        return markers;
    }

    private void fetch(World world, SimBroker.Connection connection) {
        long from = next;
        connection.send(
                ApiKey.FETCH,
                LogReader.FETCH_VERSION,
                LogReader.request(partition, from, -1, 0, MAX_PAGE_BYTES),
                answer -> {
                    LogReader.Page page = LogReader.read((FetchResponse) answer, from);
                    world.deliver(() -> onPage(world, connection, page));
                });
    }

    private void onPage(World world, SimBroker.Connection connection, LogReader.Page page) {
        records.addAll(page.records());
        markers.addAll(page.markers());
        boolean early = page.error() == ErrorCode.OFFSET_OUT_OF_RANGE && page.logStartOffset() > next;
        long before = next;
        next = early ? page.logStartOffset() : page.nextOffset();
        if (page.highWatermark() >= 0) {
            highWatermark = page.highWatermark();
            logStartOffset = page.logStartOffset();
        }
        corrupt = page.corrupt();
        boolean failed = page.error() != ErrorCode.NONE && !early;
        boolean stuck = page.error() == ErrorCode.NONE && page.nextOffset() == before;
        if (failed || stuck) {
            tries++;
        }
        if (corrupt != null || tries > MOST_TRIES || (!failed && !early && next >= highWatermark)) {
            error = page.error();
            if (error == ErrorCode.NONE && next < highWatermark && corrupt == null) {
                gapAtEnd = true;
            }
            done = true;
        } else {
            fetch(world, connection);
        }
    }
}
