package io.journalq.server.gateway.produce;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import io.journalq.common.record.Header;
import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.RequestBody;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemException;
import io.journalq.server.gateway.problem.ProblemType;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufInputStream;
import io.netty.buffer.ByteBufUtil;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A body with a CloudEvent in JSON, or a batch of them. Each event becomes a record in the structured mode of the Kafka
 * binding: the value is the event as it was sent, and the key is its {@code partitionkey}. Nothing is appended unless all
 * events are valid. On the connection's loop.
 *
 * <p>Source: CloudEvents 1.0.2, "HTTP Protocol Binding", "Kafka Protocol Binding", "JSON Event Format".
 */
final class CloudEventsBody implements RequestBody {
    static final String TYPE = "application/cloudevents+json";
    static final String BATCH_TYPE = "application/cloudevents-batch+json";

    /** The version that the broker knows. */
    static final String VERSION = "1.0";

    /** The attribute that becomes the key, an extension of CloudEvents. */
    static final String PARTITION_KEY = "partitionkey";

    /** The attributes that each event needs. */
    static final List<String> NEEDED = List.of("id", "source", "type", "specversion");

    private static final int MAX_BYTES = 1024 * 1024;
    private static final int MAX_NESTING = 200;
    private static final List<Header> STRUCTURED =
            List.of(new Header("content-type", (TYPE + "; charset=UTF-8").getBytes(StandardCharsets.US_ASCII)));

    private static final JsonFactory JSON = JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxStringLength(MAX_BYTES)
                    .maxNestingDepth(MAX_NESTING)
                    .build())
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build();

    private final HttpExchange exchange;
    private final Targets.Target target;
    private final RecordSink sink;
    private final boolean batch;
    private ByteBuf body;

    CloudEventsBody(HttpExchange exchange, Targets.Target target, boolean batch) {
        if (exchange.bodyLength() > MAX_BYTES) {
            throw tooLarge();
        }
        this.exchange = exchange;
        this.target = target;
        this.sink = new RecordSink(exchange, target);
        this.batch = batch;
    }

    /** For the events as text, and as batches. */
    @Override
    public long reservedBytes() {
        long length = exchange.bodyLength();
        return 2 * (length == HttpExchange.UNKNOWN_LENGTH ? MAX_BYTES : length);
    }

    @Override
    public void onData(ByteBuf data) {
        if (body == null) {
            body = exchange.allocator().directBuffer(data.readableBytes());
        }
        if (body.readableBytes() + data.readableBytes() > MAX_BYTES) {
            throw tooLarge();
        }
        body.writeBytes(data, data.readerIndex(), data.readableBytes());
    }

    private static ProblemException tooLarge() {
        return new Problem(
                        ProblemType.BODY_TOO_LARGE,
                        "CloudEvents in JSON are larger than 1 MiB",
                        "send several requests, or the event in binary mode")
                .exception();
    }

    @Override
    public void onEnd() {
        if (body == null || !ByteBufUtil.isText(body, StandardCharsets.UTF_8)) {
            throw invalid("the body is empty, or not UTF-8");
        }
        InputStream stream = new ByteBufInputStream(body.duplicate());
        try (JsonParser parser = JSON.createParser(stream)) {
            JsonToken token = parser.nextToken();
            if (parser.currentTokenLocation().getByteOffset() < 0) {
                throw invalid("the body is not UTF-8"); // ASCII in UTF-16 or UTF-32, which Jackson has detected
            }
            if (batch) {
                if (token != JsonToken.START_ARRAY) {
                    throw invalid("a batch is not an array");
                }
                while (parser.nextToken() != JsonToken.END_ARRAY) {
                    readEvent(parser);
                }
            } else {
                readEvent(parser);
            }
            if (parser.nextToken() != null) {
                throw invalid("there is something behind the events");
            }
        } catch (IOException malformed) {
            throw invalid("it is not JSON");
        }
        sink.finish(null);
    }

    private void readEvent(JsonParser parser) throws IOException {
        if (parser.currentToken() != JsonToken.START_OBJECT) {
            throw invalid("an event is not an object");
        }
        int start = (int) parser.currentTokenLocation().getByteOffset();
        Map<String, String> attributes = new HashMap<>();
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String name = parser.currentName();
            boolean isText = parser.nextToken() == JsonToken.VALUE_STRING;
            if (isText && (NEEDED.contains(name) || name.equals(PARTITION_KEY))) {
                attributes.put(name, parser.getText());
            } else {
                parser.skipChildren();
            }
        }
        check(attributes);
        int end = (int) parser.currentLocation().getByteOffset();
        String partitionKey = attributes.get(PARTITION_KEY);
        byte[] key = partitionKey == null ? null : utf8(partitionKey);
        ByteBuf event = body.slice(body.readerIndex() + start, end - start);
        sink.add(target.partition(key), target.epochMs().getAsLong(), key, event, STRUCTURED);
    }

    private static byte[] utf8(String partitionKey) {
        byte[] bytes = JsonText.utf8(partitionKey);
        if (bytes == null) {
            throw invalid("the " + PARTITION_KEY + " of an event has " + JsonText.HALF_PAIR);
        }
        return bytes;
    }

    /** Checks the attributes that each event needs. */
    static void check(Map<String, String> attributes) {
        for (String name : NEEDED) {
            if (attributes.getOrDefault(name, "").isEmpty()) {
                throw invalid("an event has no \"" + name + "\"");
            }
        }
        if (!VERSION.equals(attributes.get("specversion"))) {
            throw invalid("the specversion of an event is not " + VERSION);
        }
    }

    private static ProblemException invalid(String detail) {
        return new Problem(ProblemType.INVALID_BODY, detail, "send CloudEvents of version " + VERSION).exception();
    }

    @Override
    public void onClosed() {
        if (body != null) {
            body.release();
            body = null;
        }
        sink.close();
    }
}
