package io.journalq.server.gateway.confluent;

import com.fasterxml.jackson.core.JsonGenerator;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.JsonOut;
import io.journalq.server.gateway.http.RequestBody;
import io.journalq.server.gateway.http.RouteDescription;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemException;
import io.journalq.server.gateway.problem.ProblemType;
import io.journalq.server.gateway.produce.Targets;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A body of JSON objects one behind the other. Each is a record. The records that have arrived are appended together
 * while the next ones arrive. The response has one object for each of them, in their order. A record that is not valid
 * has an error there, and the others are appended all the same. The body is not read while too many records wait to be
 * appended, and while the client does not read the response. On the connection's loop.
 */
final class RecordStream implements RequestBody {
    private static final int COST_FACTOR = 4;

    /** Size of records that wait for others to be appended, from which on the body is not read. */
    private static final int MAX_WAITING_BYTES = 128 * 1024;

    /** The same for the number of records. Those that are not valid have no size. */
    private static final int MAX_WAITING_RECORDS = 4_096;

    /** Size of results from which on the response is sent before the body is complete. */
    private static final int PART_BYTES = 16 * 1024;

    private static final int FIRST_BUFFER_BYTES = 1024;
    private static final int BAD_REQUEST = 400;
    private static final int TOO_LARGE = 413;
    private static final int OK = 200;

    private final HttpExchange exchange;
    private final Targets.Target target;
    private final String clusterId;

    /** The records that wait, and those that are being appended. They change places. */
    private Chunk waiting;

    private Chunk sending;
    private boolean inFlight;

    /** What has arrived of a record that is not complete. */
    private byte[] buffer = new byte[FIRST_BUFFER_BYTES];

    private int length;
    private int depth;
    private boolean inString;
    private boolean escaped;

    private ByteBuf out;
    private boolean begun;
    private boolean waitsForClient;
    private boolean ended;

    /** Records, and the results of those that are not valid. */
    private final class Chunk {
        private final RecordAppend append = new RecordAppend(exchange, target);

        /** Records, or errors in the places of those that are not valid. */
        private final List<Object> entries = new ArrayList<>();
    }

    /** A record that was sent, without its content. */
    private record Entry(long timestampMs, String keyType, int keyBytes, String valueType, int valueBytes) {}

    /** What is wrong with a record. */
    private record Failure(int code, String message) {}

    RecordStream(HttpExchange exchange, Targets.Target target, String clusterId) {
        this.exchange = exchange;
        this.target = target;
        this.clusterId = clusterId;
        this.waiting = new Chunk();
        this.sending = new Chunk();
    }

    /** For one record as text, decoded and in batches, and those that wait. */
    @Override
    public long reservedBytes() {
        long largest = 4L * RecordDocument.MAX_BYTES;
        long sent = exchange.bodyLength();
        return sent == HttpExchange.UNKNOWN_LENGTH ? largest : Math.min(4 * sent, largest);
    }

    @Override
    public void onData(ByteBuf data) {
        exchange.charge((long) (COST_FACTOR - 1) * data.readableBytes());
        for (int i = data.readerIndex(); i < data.writerIndex() && !ended; i++) {
            step(data.getByte(i));
        }
        sendWaiting();
    }

    /** Finds the ends of objects. What is between them is checked when they are parsed. */
    private void step(byte next) {
        if (depth == 0 && next != '{') {
            if (next != ' ' && next != '\n' && next != '\r' && next != '\t') {
                fail(BAD_REQUEST, "there is something between the records that is not an object");
                ended = true;
            }
            return;
        }
        if (length == RecordDocument.MAX_BYTES) {
            fail(TOO_LARGE, "a record is larger than 1 MiB");
            ended = true;
            return;
        }
        if (length == buffer.length) {
            buffer = Arrays.copyOf(buffer, Math.min(2 * length, RecordDocument.MAX_BYTES));
        }
        buffer[length++] = next;
        if (inString) {
            inString = escaped || next != '"';
            escaped = !escaped && next == '\\';
        } else if (next == '"') {
            inString = true;
        } else if (next == '{') {
            depth++;
        } else if (next == '}') {
            depth--;
            if (depth == 0) {
                add(Arrays.copyOf(buffer, length));
                length = 0;
            }
        }
    }

    private void add(byte[] document) {
        try {
            RecordDocument.Sent record = RecordDocument.readV3(document);
            int partition =
                    record.partition() == null ? target.partition(record.key()) : target.checked(record.partition());
            long timestampMs = record.timestampMs() == null ? target.epochMs().getAsLong() : record.timestampMs();
            waiting.append.add(partition, timestampMs, record.key(), record.value(), record.headers());
            waiting.entries.add(new Entry(
                    timestampMs,
                    name(record.keyFormat()),
                    size(record.key()),
                    name(record.valueFormat()),
                    size(record.value())));
        } catch (ProblemException refusal) {
            fail(ConfluentErrors.code(refusal.problem().type()), ConfluentErrors.message(refusal.problem()));
        }
    }

    private static String name(RecordDocument.Format format) {
        return format == null ? null : format.name();
    }

    private static int size(byte[] bytes) {
        return bytes == null ? 0 : bytes.length;
    }

    private void fail(int code, String message) {
        waiting.entries.add(new Failure(code, message));
    }

    private void sendWaiting() {
        if (!inFlight && !waiting.entries.isEmpty()) {
            Chunk chunk = waiting;
            waiting = sending;
            sending = chunk;
            inFlight = true;
            chunk.append.send(results -> {
                inFlight = false;
                write(chunk.entries, results);
                chunk.entries.clear();
                sendWaiting();
                endIfDone();
            });
        }
        updateHold();
    }

    private void updateHold() {
        if (exchange.isClosed()) {
            return; // Another request may have begun on the connection.
        }
        boolean full = inFlight
                && (waiting.append.sizeBytes() > MAX_WAITING_BYTES || waiting.entries.size() > MAX_WAITING_RECORDS);
        if (full || waitsForClient || ended) {
            exchange.hold();
        } else {
            exchange.release();
        }
    }

    private void write(List<Object> entries, List<RecordAppend.Result> results) {
        if (exchange.isClosed()) {
            return;
        }
        if (out == null) {
            out = exchange.allocator().buffer();
        }
        int next = 0;
        for (Object entry : entries) {
            if (entry instanceof Entry sent) {
                RecordAppend.Result result = results.get(next++);
                JsonOut.write(out, json -> write(json, sent, result));
            } else {
                Failure failure = (Failure) entry;
                JsonOut.write(out, json -> write(json, failure.code(), failure.message()));
            }
            out.writeByte('\n');
        }
        boolean streams = exchange.bodyLength() == HttpExchange.UNKNOWN_LENGTH;
        if (begun || streams || out.readableBytes() >= PART_BYTES) {
            sendPart();
        }
    }

    private void write(JsonGenerator json, Entry sent, RecordAppend.Result result) throws IOException {
        if (result.error() != ErrorCode.NONE) {
            write(
                    json,
                    ConfluentErrors.code(result.error()),
                    result.message() == null ? result.error().words() : result.message());
            return;
        }
        json.writeNumberField("error_code", OK);
        json.writeStringField("cluster_id", clusterId);
        json.writeStringField("topic_name", target.topic());
        json.writeNumberField("partition_id", result.partition());
        json.writeNumberField("offset", result.offset());
        json.writeStringField(
                "timestamp", Instant.ofEpochMilli(sent.timestampMs()).toString());
        writeType(json, "key", sent.keyType(), sent.keyBytes());
        writeType(json, "value", sent.valueType(), sent.valueBytes());
    }

    private static void writeType(JsonGenerator json, String member, String type, int sizeBytes) throws IOException {
        if (type != null) {
            json.writeObjectFieldStart(member);
            json.writeStringField("type", type);
            json.writeNumberField("size", sizeBytes);
            json.writeEndObject();
        }
    }

    private static void write(JsonGenerator json, int code, String message) throws IOException {
        json.writeNumberField("error_code", code);
        json.writeStringField("message", message);
    }

    private void sendPart() {
        if (!begun) {
            begun = true;
            exchange.beginStream(RouteDescription.JSON);
        }
        if (out != null) {
            exchange.stream(out);
            out = null;
        }
        if (!exchange.isWritable() && !waitsForClient) {
            waitsForClient = true;
            exchange.whenWritable(() -> {
                waitsForClient = false;
                updateHold();
            });
        }
    }

    @Override
    public void onEnd() {
        if (depth > 0 && !ended) {
            fail(BAD_REQUEST, "the body ends in the middle of a record");
        }
        if (!begun && out == null && !inFlight && waiting.entries.isEmpty()) {
            throw new Problem(ProblemType.INVALID_BODY, "it has no records", "send at least one record").exception();
        }
        ended = true;
        sendWaiting();
        endIfDone();
    }

    /** The response has the results of the records that have arrived, and the problem. */
    @Override
    public boolean onCutShort(Problem problem) {
        if (!begun && out == null && !inFlight && waiting.entries.isEmpty()) {
            return false;
        }
        if (exchange.hasExpired()) {
            String message = ConfluentErrors.message(problem);
            waiting.append.drop(ErrorCode.SASL_AUTHENTICATION_FAILED, message);
            sending.append.drop(ErrorCode.SASL_AUTHENTICATION_FAILED, message);
        }
        if (!ended) {
            ended = true;
            fail(ConfluentErrors.code(problem.type()), ConfluentErrors.message(problem));
            sendWaiting();
        }
        return true;
    }

    /** The response ends with the result of the last record, also if the rest of the body is not read. */
    private void endIfDone() {
        if (ended && !inFlight && waiting.entries.isEmpty() && !exchange.isClosed()) {
            sendPart();
            exchange.endStream();
        }
    }

    @Override
    public void onClosed() {
        waiting.append.close();
        sending.append.close();
        if (out != null) {
            out.release();
            out = null;
        }
    }
}
