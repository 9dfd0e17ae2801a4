package io.journalq.server.gateway.produce;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.async.ByteBufferFeeder;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.RequestBody;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemException;
import io.journalq.server.gateway.problem.ProblemType;
import io.netty.buffer.ByteBuf;
import java.io.IOException;

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

    private static final int MAX_NESTING = 200;
    private static final int MAX_NAME_CHARS = 10_000;

    /** Memory for NDJSON: batches that are collected, batches without a response, and the record that arrives. */
    private static final int LINES_BYTES = 512 * 1024;

    private static final JsonFactory JSON = JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxStringLength(JsonRecord.MAX_BYTES)
                    .maxNestingDepth(MAX_NESTING)
                    .maxNameLength(MAX_NAME_CHARS)
                    .build())
            .build();

    private final HttpExchange exchange;
    private final RecordSink sink;
    private final JsonRecord record;
    private final boolean lines;
    private final JsonParser parser;
    private final ByteBufferFeeder feeder;
    private Place place;

    private enum Place {
        BEFORE_DOCUMENT,
        IN_DOCUMENT,
        BEFORE_ARRAY,
        BETWEEN_RECORDS,
        IN_RECORD,
        BEHIND_DOCUMENT
    }

    RecordsBody(HttpExchange exchange, Targets.Target target, boolean lines) {
        this.exchange = exchange;
        this.sink = new RecordSink(exchange, target);
        this.record = new JsonRecord(target, sink);
        this.lines = lines;
        this.place = lines ? Place.BETWEEN_RECORDS : Place.BEFORE_DOCUMENT;
        try {
            this.parser = JSON.createNonBlockingByteBufferParser();
        } catch (IOException impossible) {
            throw new IllegalStateException(impossible);
        }
        this.feeder = (ByteBufferFeeder) parser.getNonBlockingInputFeeder();
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
        exchange.charge((COST_FACTOR - 1L) * data.readableBytes());
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
            feeder.feedInput(data.nioBuffer());
            parse();
        } catch (IOException | RuntimeException wrong) {
            end(wrong);
            return;
        }
        if (lines && sink.bufferedBytes() > 0 && (sink.isIdle() || sink.bufferedBytes() >= SEND_BYTES)) {
            sink.send();
        }
    }

    @Override
    public void onEnd() {
        feeder.endOfInput();
        try {
            parse();
            if (place != (lines ? Place.BETWEEN_RECORDS : Place.BEHIND_DOCUMENT)) {
                throw invalid("it ends in the middle of " + (lines ? "a record" : "the document"));
            }
        } catch (IOException | RuntimeException wrong) {
            end(wrong);
            return;
        }
        sink.finish(null);
    }

    /** Ends the request because of its body. The complete records of NDJSON before the error are appended. */
    private void end(Exception wrong) {
        Problem problem = problem(wrong);
        if (!lines) {
            throw problem.exception();
        }
        sink.cutShort(problem);
    }

    /** The records of NDJSON that are complete are appended, and the response says so. */
    @Override
    public boolean onCutShort(Problem problem) {
        if (lines) {
            sink.cutShort(problem);
        }
        return lines;
    }

    private Problem problem(Exception wrong) {
        String where = lines
                ? "line " + parser.currentLocation().getLineNr() + ": "
                : "line " + parser.currentLocation().getLineNr() + ", column "
                        + parser.currentLocation().getColumnNr() + ": ";
        if (wrong instanceof ProblemException refusal) {
            Problem problem = refusal.problem();
            return new Problem(problem.type(), where + problem.detail(), problem.remedy());
        }
        if (wrong instanceof StreamConstraintsException) {
            return new Problem(
                    ProblemType.RECORD_TOO_LARGE,
                    where + "a text of the body is larger than 1 MiB, or nested too deeply",
                    "send large values as raw bodies");
        }
        if (wrong instanceof IOException) {
            return new Problem(ProblemType.INVALID_BODY, where + "it is not JSON", "send valid JSON in UTF-8");
        }
        throw (RuntimeException) wrong;
    }

    private void parse() throws IOException {
        for (JsonToken token = parser.nextToken();
                token != null && token != JsonToken.NOT_AVAILABLE;
                token = parser.nextToken()) {
            onToken(token);
        }
    }

    private void onToken(JsonToken token) throws IOException {
        switch (place) {
            case BEFORE_DOCUMENT -> {
                expect(token, JsonToken.START_OBJECT, "the document is not an object");
                place = Place.IN_DOCUMENT;
            }
            case IN_DOCUMENT -> {
                if (token == JsonToken.END_OBJECT) {
                    throw invalid("the document has no member \"records\"");
                }
                if (!parser.currentName().equals("records")) {
                    throw invalid("the document has a member other than \"records\"");
                }
                place = Place.BEFORE_ARRAY;
            }
            case BEFORE_ARRAY -> {
                expect(token, JsonToken.START_ARRAY, "\"records\" is not an array");
                place = Place.BETWEEN_RECORDS;
            }
            case BETWEEN_RECORDS -> {
                if (!lines && token == JsonToken.END_ARRAY) {
                    place = Place.BEHIND_DOCUMENT;
                } else {
                    expect(token, JsonToken.START_OBJECT, "a record is not an object");
                    record.begin();
                    place = Place.IN_RECORD;
                }
            }
            case IN_RECORD -> {
                if (record.onToken(parser, token)) {
                    place = Place.BETWEEN_RECORDS;
                }
            }
            case BEHIND_DOCUMENT -> {
                if (token != JsonToken.END_OBJECT) {
                    throw invalid("there is something behind \"records\"");
                }
            }
        }
    }

    private static void expect(JsonToken token, JsonToken wanted, String otherwise) {
        if (token != wanted) {
            throw invalid(otherwise);
        }
    }

    private static ProblemException invalid(String detail) {
        return JsonRecord.invalid(detail);
    }

    @Override
    public void onClosed() {
        sink.close();
        try {
            parser.close();
        } catch (IOException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
