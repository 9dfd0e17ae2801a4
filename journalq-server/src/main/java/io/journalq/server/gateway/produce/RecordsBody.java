package io.journalq.server.gateway.produce;

import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.RequestBody;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemException;
import io.journalq.server.gateway.problem.ProblemType;
import io.netty.buffer.ByteBuf;

/**
 * A body of records in JSON: one document, {@code {"records": [...]}}, or NDJSON with a record in each line. It is parsed
 * as it arrives, so that a large body does not hold up the loop. The records of a document are kept until all of it has
 * been parsed, those of NDJSON are appended as they arrive. On the connection's loop.
 */
final class RecordsBody implements RequestBody {
    /** JSON costs this much more of the loop's time than the same bytes of a Kafka client. */
    private static final int COST_FACTOR = 4;

    /** Size at which records of NDJSON are appended while others are in flight. */
    private static final int SEND_BYTES = 128 * 1024;

    /** Memory for NDJSON: batches that are collected, batches without a response, and the record that arrives. */
    private static final int LINES_BYTES = 512 * 1024;

    private final HttpExchange exchange;
    private final RecordSink sink;
    private final boolean lines;
    private final RecordsParser parser;

    RecordsBody(HttpExchange exchange, Targets.Target target, boolean lines) {
        this.exchange = exchange;
        this.sink = new RecordSink(exchange, target);
        this.lines = lines;
        this.parser = new RecordsParser(
                exchange.allocator(), lines ? RecordsParser.Form.LINES : RecordsParser.Form.DOCUMENT, target, sink);
    }

    /** For a document: its records as text, and as batches. */
    @Override
    public long reservedBytes() {
        long length = exchange.bodyLength();
        if (lines) {
            return length == HttpExchange.UNKNOWN_LENGTH ? LINES_BYTES : Math.min(2 * length, LINES_BYTES);
        }
        return 2 * (length == HttpExchange.UNKNOWN_LENGTH ? JsonRecord.MAX_BYTES : length);
    }

    @Override
    public void onData(ByteBuf data) {
        if (!lines
                && exchange.bodyLength() == HttpExchange.UNKNOWN_LENGTH
                && sink.bufferedBytes() > JsonRecord.MAX_BYTES) {
            throw new Problem(
                            ProblemType.LENGTH_REQUIRED,
                            "a JSON document above 1 MiB needs a Content-Length, and no Content-Encoding",
                            "send its Content-Length, or send application/x-ndjson")
                    .exception();
        }
        try {
            parser.parse(data);
        } catch (ProblemException refusal) {
            end(refusal);
            return;
        } finally {
            exchange.charge(COST_FACTOR * parser.takeScannedBytes() - data.readableBytes());
        }
        if (lines && sink.bufferedBytes() > 0 && (sink.isIdle() || sink.bufferedBytes() >= SEND_BYTES)) {
            sink.sendAdded();
        }
    }

    @Override
    public void onEnd() {
        try {
            parser.end();
        } catch (ProblemException refusal) {
            end(refusal);
            return;
        }
        sink.finish(null);
    }

    /** Ends the request because of its body. The complete records of NDJSON before the error are appended. */
    private void end(ProblemException refusal) {
        if (!lines) {
            throw refusal;
        }
        sink.cutShort(refusal.problem());
    }

    /** The records of NDJSON that are complete are appended, and the response says so. */
    @Override
    public boolean onCutShort(Problem problem) {
        if (lines) {
            sink.cutShort(problem);
        }
        return lines;
    }

    @Override
    public void onClosed() {
        sink.close();
        parser.close();
    }
}
