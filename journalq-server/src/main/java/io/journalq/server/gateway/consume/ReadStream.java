package io.journalq.server.gateway.consume;

import io.journalq.common.record.InvalidBatchException;
import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.RequestBody;
import io.journalq.server.gateway.problem.Problem;
import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * One read of a topic: finds the ends of its partitions, fetches from one partition after the other, and writes what it
 * finds as lines. It fetches only while the client reads. On the connection's loop.
 */
final class ReadStream implements RequestBody {
    static final String NDJSON = "application/x-ndjson";

    /** A fetch finds nothing before the end if the pool of cold reads is full, or if compaction removed everything. */
    private static final int MAX_EMPTY_FETCHES = 3;

    private final HttpExchange exchange;
    private final Start start;
    private final int limit;
    private final int waitMs;
    private final StartLookup lookup;
    private final Tail tail;
    private final RecordLines lines;

    /** The ends of the partitions when the request arrived. */
    private final Map<Integer, Long> ends = new TreeMap<>();

    /** The partitions that have records to read, in the order of their turns. */
    private final ArrayDeque<Integer> unread = new ArrayDeque<>();

    private int written;
    private int emptyFetches;
    private boolean begun;
    private boolean waited;

    ReadStream(HttpExchange exchange, Start start, int limit, int waitMs) {
        this.exchange = exchange;
        this.start = start;
        this.limit = limit;
        this.waitMs = waitMs;
        this.lookup = new StartLookup(exchange, start.topic(), waitMs, this::end);
        this.tail = new Tail(exchange, start.topic(), Tail.FETCH_BYTES);
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
        tail.begin(found.offsets());
        tail.endAt(found.ends());
        ends.putAll(found.ends());
        found.offsets().keySet().stream()
                .filter(partition -> !tail.isAtEnd(partition))
                .forEach(unread::add);
        readOn();
    }

    /** Fetches what comes next, or ends. */
    private void readOn() {
        if (exchange.isClosed()) {
            return;
        }
        while (!unread.isEmpty() && tail.isAtEnd(unread.peek())) {
            unread.remove();
        }
        if (!unread.isEmpty() && written < limit) {
            // Behind the others, so that each has its turn.
            int next = unread.remove();
            unread.add(next);
            tail.fetch(List.of(next), 0, this::write);
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
                    case PARTITION -> onPartition();
                    case END -> unread.remove(tail.partition());
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

    private void onPartition() {
        if (tail.hasRecords()) {
            emptyFetches = 0;
            return;
        }
        emptyFetches++;
        if (emptyFetches >= MAX_EMPTY_FETCHES) {
            unread.remove(tail.partition());
        }
    }

    /** Retention has removed the records at the position. */
    private void onStart(long first) {
        int partition = tail.partition();
        long position = tail.positions().get(partition);
        if (start.exact() && written == 0) {
            end(StartLookup.outOfRange(partition, position, ends.get(partition)));
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
            lines.addObject(json -> {
                json.writeObjectFieldStart("error");
                problem.writeMembers(json);
                json.writeEndObject();
            });
        }
        boolean atEnd = problem == null
                && ends.entrySet().stream().allMatch(end -> tail.positions().get(end.getKey()) >= end.getValue());
        lines.addObject(json -> {
            json.writeStringField("cursor", start.cursor(tail.positions()));
            json.writeBooleanField("atEnd", atEnd);
        });
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
