package io.journalq.server.gateway.consume;

import io.journalq.common.record.InvalidBatchException;
import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.RequestBody;
import io.journalq.server.gateway.problem.Problem;
import io.netty.buffer.ByteBuf;
import java.util.concurrent.TimeUnit;

/**
 * One search of a topic: finds the ends of its partitions, fetches from one partition after the other, and writes the
 * records that match as lines. Other connections have their turns every {@link #TURN_NANOS}. On the connection's loop.
 */
final class SearchStream implements RequestBody {
    private static final long TURN_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
    private static final long PROGRESS_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    /** Size of a fetch, unless a single batch is larger. */
    private static final int FETCH_BYTES = 256 * 1024;

    /** Records between two looks at the clock, unless they are large. */
    private static final int RECORDS_PER_LOOK = 32;

    private static final int BYTES_PER_LOOK = 64 * 1024;

    private final HttpExchange exchange;
    private final Start start;
    private final RecordFilter filter;
    private final int limit;
    private final Runnable onClosed;
    private final StartLookup lookup;
    private final Tail tail;
    private final UnreadPartitions unread;
    private final RecordLines lines;
    private long totalOffsets;
    private long scanned;
    private int matched;
    private long progressNanos;
    private boolean begun;

    /** @param onClosed is called once, when the search has ended */
    SearchStream(HttpExchange exchange, Start start, RecordFilter filter, int limit, Runnable onClosed) {
        this.exchange = exchange;
        this.start = start;
        this.filter = filter;
        this.limit = limit;
        this.onClosed = onClosed;
        this.lookup = new StartLookup(exchange, start.topic(), 0, this::end);
        this.tail = new Tail(exchange, start.topic(), FETCH_BYTES);
        this.unread = new UnreadPartitions(tail);
        this.lines = new RecordLines(exchange.allocator());
    }

    @Override
    public void onData(ByteBuf data) {
        throw HttpExchange.invalid("a GET request has no body", "send the parameters behind the path");
    }

    @Override
    public void onEnd() {
        lookup.begin(start, this::begin);
    }

    private void begin(StartLookup.Positions found) {
        unread.begin(found);
        totalOffsets = unread.remainingOffsets();
        begun = true;
        exchange.beginStream(ReadStream.NDJSON);
        progressNanos = nanoTime();
        addProgress();
        send();
        readOn();
    }

    private long nanoTime() {
        return exchange.cycle().loop().nanoTime();
    }

    /** Fetches what comes next, or ends. */
    private void readOn() {
        if (exchange.isClosed()) {
            return;
        }
        if (!unread.hasNext() || matched >= limit) {
            end(null);
            return;
        }
        unread.fetchNext(this::search);
    }

    /** Compares records while the client reads the lines and the turn lasts. */
    private void search() {
        long begunNanos = nanoTime();
        int unlooked = 0;
        long unlookedBytes = 0;
        try {
            while (!exchange.isClosed()) {
                if (matched >= limit) {
                    end(null);
                    return;
                }
                switch (tail.next()) {
                    case RECORD -> {
                        scanned++;
                        unlooked++;
                        unlookedBytes += tail.record().value() == null
                                ? 0
                                : tail.record().value().readableBytes();
                        if (filter.matches(tail.record())) {
                            matched++;
                            lines.add(tail.partition(), tail.record());
                        }
                    }
                    case PARTITION -> unread.onPartition();
                    case END -> unread.onEnd();
                    case OUT_OF_RANGE -> {
                        lookup.findStart(tail.partition(), this::onStart);
                        return;
                    }
                    case FAILED -> {
                        end(StartLookup.problem(tail.error(), tail.partition()));
                        return;
                    }
                    case FETCH -> {
                        tail.drop();
                        endTurn(this::readOn);
                        return;
                    }
                }
                if (unlooked >= RECORDS_PER_LOOK
                        || unlookedBytes >= BYTES_PER_LOOK
                        || lines.sizeBytes() >= RecordLines.PART_BYTES) {
                    unlooked = 0;
                    unlookedBytes = 0;
                    if (lines.sizeBytes() >= RecordLines.PART_BYTES || nanoTime() - begunNanos >= TURN_NANOS) {
                        endTurn(this::search);
                        return;
                    }
                }
            }
        } catch (InvalidBatchException unreadable) {
            end(tail.problem(unreadable));
        }
    }

    private void endTurn(Runnable next) {
        if (nanoTime() - progressNanos >= PROGRESS_NANOS) {
            progressNanos = nanoTime();
            addProgress();
            send();
        } else if (lines.sizeBytes() >= RecordLines.PART_BYTES) {
            send();
        }
        if (exchange.isWritable()) {
            exchange.later(next);
        } else {
            tail.awaitClient(exchange, next);
        }
    }

    /** Retention has removed the records at the position. */
    private void onStart(long first) {
        int partition = tail.partition();
        if (first <= tail.positions().get(partition)) {
            end(StartLookup.problem(tail.error(), partition));
        } else {
            tail.seek(partition, first);
            search();
        }
    }

    private void addProgress() {
        long remaining = unread.remainingOffsets();
        lines.addObject(json -> {
            json.writeObjectFieldStart("progress");
            json.writeNumberField("scanned", scanned);
            json.writeNumberField("matched", matched);
            json.writeNumberField("offsets", totalOffsets - remaining);
            json.writeNumberField("totalOffsets", totalOffsets);
            json.writeStringField("cursor", start.cursor(tail.positions()));
            json.writeEndObject();
        });
    }

    private void send() {
        ByteBuf part = lines.take();
        if (part != null) {
            exchange.charge(part.readableBytes());
            exchange.stream(part);
        }
    }

    /** @param problem null if everything was searched, if the limit is reached, or if the broker stops */
    private void end(Problem problem) {
        tail.drop();
        exchange.counters().onRead(matched);
        if (!begun) {
            exchange.fail(problem);
            return;
        }
        addProgress();
        if (problem != null) {
            lines.addError(problem);
        }
        // The broker may stop, or a partition may have been given up because its disk is busy.
        boolean atEnd = problem == null && matched < limit && unread.remainingOffsets() == 0;
        lines.addEnd(start.cursor(tail.positions()), atEnd);
        send();
        exchange.endStream();
    }

    @Override
    public void onDrain() {
        if (begun) {
            end(null);
        }
    }

    @Override
    public void onExpired(Problem problem) {
        end(problem);
    }

    @Override
    public void onClosed() {
        tail.close();
        lines.close();
        onClosed.run();
    }
}
