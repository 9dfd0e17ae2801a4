package io.journalq.server.gateway.consume;

import io.journalq.common.record.InvalidBatchException;
import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.RequestBody;
import io.journalq.server.gateway.problem.Problem;
import io.netty.buffer.ByteBuf;
import java.util.Map;

/**
 * One read of a topic: finds the ends of its partitions, fetches from one partition after the other, and writes what it
 * finds as lines. It fetches only while the client reads. On the connection's loop.
 */
final class ReadStream implements RequestBody {
    static final String NDJSON = "application/x-ndjson";

    private final HttpExchange exchange;
    private final Start start;
    private final int limit;
    private final int waitMs;
    private final StartLookup lookup;
    private final Tail tail;
    private final UnreadPartitions unread;
    private final RecordLines lines;

    private int written;
    private boolean begun;
    private boolean waited;

    ReadStream(HttpExchange exchange, Start start, int limit, int waitMs) {
        this.exchange = exchange;
        this.start = start;
        this.limit = limit;
        this.waitMs = waitMs;
        this.lookup = new StartLookup(exchange, start.topic(), waitMs, this::end);
        this.tail = new Tail(exchange, start.topic(), Tail.FETCH_BYTES);
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
        readOn();
    }

    /** Fetches what comes next, or ends. */
    private void readOn() {
        if (exchange.isClosed()) {
            return;
        }
        if (unread.hasNext() && written < limit) {
            unread.fetchNext(this::write);
        } else if (written == 0 && waitMs > 0 && limit > 0 && !waited) {
            waited = true;
            tail.endAt(Map.of());
            tail.fetch(tail.positions().keySet(), waitMs, this::write);
        } else {
            end(null);
        }
    }

    /** Writes records while the client reads them and the turn lasts. */
    private void write() {
        int turnBytes = 0;
        try {
            while (!exchange.isClosed()) {
                if (written == limit) {
                    end(null);
                    return;
                }
                switch (tail.next()) {
                    case RECORD -> {
                        lines.add(tail.partition(), tail.record());
                        written++;
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
                        exchange.later(this::readOn);
                        return;
                    }
                }
                if (lines.sizeBytes() >= RecordLines.PART_BYTES) {
                    turnBytes += lines.sizeBytes();
                    sendPart();
                    if (!exchange.isWritable()) {
                        tail.awaitClient(exchange, this::write);
                        return;
                    }
                    if (turnBytes >= RecordLines.TURN_BYTES) {
                        exchange.later(this::write);
                        return;
                    }
                }
            }
        } catch (InvalidBatchException unreadable) {
            end(tail.problem(unreadable));
        }
    }

    /** Retention has removed the records at the position. */
    private void onStart(long first) {
        int partition = tail.partition();
        long position = tail.positions().get(partition);
        if (start.exact() && written == 0) {
            end(StartLookup.outOfRange(partition, position, unread.end(partition)));
        } else if (first <= position) {
            end(StartLookup.problem(tail.error(), partition));
        } else {
            lines.addObject(json -> {
                json.writeObjectFieldStart("gap");
                json.writeNumberField("partition", partition);
                json.writeNumberField("from", position);
                json.writeNumberField("to", first);
                json.writeEndObject();
            });
            tail.seek(partition, first);
            write();
        }
    }

    private void sendPart() {
        ByteBuf part = lines.take();
        if (part != null) {
            if (!begun) {
                begun = true;
                exchange.beginStream(NDJSON);
            }
            exchange.charge(part.readableBytes());
            exchange.stream(part);
        }
    }

    /** @param problem null if everything was read */
    private void end(Problem problem) {
        tail.drop();
        exchange.counters().onRead(written);
        if (problem != null && !begun && lines.sizeBytes() == 0) {
            exchange.fail(problem);
            return;
        }
        if (problem != null) {
            lines.addError(problem);
        }
        boolean atEnd = problem == null && unread.remainingOffsets() == 0;
        lines.addEnd(start.cursor(tail.positions()), atEnd);
        sendPart();
        exchange.endStream();
    }

    @Override
    public void onExpired(Problem problem) {
        end(problem);
    }

    @Override
    public void onClosed() {
        tail.close();
        lines.close();
    }
}
