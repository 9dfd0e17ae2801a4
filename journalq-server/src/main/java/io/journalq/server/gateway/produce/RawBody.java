package io.journalq.server.gateway.produce;

import io.journalq.common.record.Header;
import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.RequestBody;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemType;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * A body that is the value of one record. Its key, partition, timestamp and headers are in headers of the request. On the
 * connection's loop.
 */
final class RawBody implements RequestBody {
    private static final String KEY = "JQ-Key";
    private static final String KEY_BASE64 = "JQ-Key-Base64";
    static final String PARTITION = "JQ-Partition";
    private static final String TIMESTAMP = "JQ-Timestamp";
    private static final String ATTRIBUTE_PREFIX = "ce-";
    private static final String HEADER_PREFIX = "jq-header-";
    private static final int MAX_NUMBER_DIGITS = 18;

    /** Maximum size of a value whose length is not known in advance. Memory for it is reserved. */
    private static final int MAX_UNKNOWN_BYTES = 512 * 1024;

    /** Size of a value above which its whole buffer is allocated at once. */
    private static final int FIRST_PART_BYTES = 1024 * 1024;

    private final HttpExchange exchange;
    private final RecordSink sink;
    private final byte[] key;
    private final int partition;
    private final long timestampMs;
    private final List<Header> headers;
    private ByteBuf value;

    RawBody(HttpExchange exchange, Targets.Target target) {
        this(exchange, target, key(exchange), headers(exchange));
    }

    /**
     * A CloudEvent in binary mode. Its attributes are headers of the request, and become headers of the record, as the
     * Kafka binding says.
     */
    static RawBody ofCloudEvent(HttpExchange exchange, Targets.Target target) {
        Map<String, String> attributes = new TreeMap<>();
        for (Map.Entry<String, String> header : exchange.request().headers()) {
            String name = header.getKey().toLowerCase(Locale.ROOT);
            if (name.startsWith(ATTRIBUTE_PREFIX)
                    && attributes.put(name.substring(ATTRIBUTE_PREFIX.length()), attribute(header.getValue()))
                            != null) {
                throw HttpExchange.invalid("the header " + name + " is given twice", "give it once");
            }
        }
        CloudEventsBody.check(attributes);
        String partitionKey = attributes.get(CloudEventsBody.PARTITION_KEY);
        byte[] key = partitionKey == null ? key(exchange) : partitionKey.getBytes(StandardCharsets.UTF_8);
        List<Header> headers = headers(exchange);
        headers.add(new Header("content-type", exchange.header("Content-Type").getBytes(StandardCharsets.ISO_8859_1)));
        attributes.forEach(
                (name, value) -> headers.add(new Header("ce_" + name, value.getBytes(StandardCharsets.UTF_8))));
        return new RawBody(exchange, target, key, headers);
    }

    /** The value of an attribute, which can be quoted and percent-encoded. */
    private static String attribute(String text) {
        boolean quoted = text.length() >= 2 && text.startsWith("\"") && text.endsWith("\"");
        String value = quoted ? text.substring(1, text.length() - 1).replaceAll("\\\\(.)", "$1") : text;
        try {
            return URLDecoder.decode(value.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException malformed) {
            throw HttpExchange.invalid("an attribute of the event is not percent-encoded", "encode % as %25");
        }
    }

    private RawBody(HttpExchange exchange, Targets.Target target, byte[] key, List<Header> headers) {
        if (exchange.bodyLength() > target.maxMessageBytes()) {
            throw new Problem(
                            ProblemType.RECORD_TOO_LARGE,
                            "the body is larger than the topic allows (max.message.bytes)",
                            "send smaller records, or raise max.message.bytes")
                    .exception();
        }
        this.exchange = exchange;
        this.key = key;
        Long chosen = number(exchange, PARTITION);
        this.partition = chosen == null ? target.partition(key) : target.checked(chosen);
        Long timestamp = number(exchange, TIMESTAMP);
        this.timestampMs = timestamp == null ? target.epochMs().getAsLong() : timestamp;
        this.headers = headers;
        this.sink = new RecordSink(exchange, target);
    }

    private static byte[] key(HttpExchange exchange) {
        String text = exchange.header(KEY);
        String base64 = exchange.header(KEY_BASE64);
        if (text != null && base64 != null) {
            throw HttpExchange.invalid("the record has two keys", "send " + KEY + " or " + KEY_BASE64);
        }
        if (base64 == null) {
            return text == null ? null : text.getBytes(StandardCharsets.ISO_8859_1);
        }
        try {
            return Base64.getDecoder().decode(base64);
        } catch (IllegalArgumentException malformed) {
            throw HttpExchange.invalid(KEY_BASE64 + " is not Base64", "encode the key in Base64 of RFC 4648");
        }
    }

    /** A header that is a number; null if it is not given. */
    static Long number(HttpExchange exchange, String name) {
        String text = exchange.header(name);
        if (text == null) {
            return null;
        }
        if (text.isEmpty() || text.length() > MAX_NUMBER_DIGITS || !text.chars().allMatch(c -> c >= '0' && c <= '9')) {
            throw HttpExchange.invalid(name + " is not a number", "send a number of 0 or more");
        }
        return Long.valueOf(text);
    }

    private static List<Header> headers(HttpExchange exchange) {
        List<Header> headers = new ArrayList<>();
        for (Map.Entry<String, String> header : exchange.request().headers()) {
            if (header.getKey().toLowerCase(Locale.ROOT).startsWith(HEADER_PREFIX)) {
                headers.add(new Header(
                        header.getKey().substring(HEADER_PREFIX.length()),
                        header.getValue().getBytes(StandardCharsets.ISO_8859_1)));
            }
        }
        return headers;
    }

    /** For the value, and the batch that it is copied to. */
    @Override
    public long reservedBytes() {
        long length = exchange.bodyLength();
        return 2 * (length == HttpExchange.UNKNOWN_LENGTH ? MAX_UNKNOWN_BYTES : length);
    }

    @Override
    public void onData(ByteBuf data) {
        if (value == null) {
            value = exchange.allocator().directBuffer(data.readableBytes());
        }
        if (exchange.bodyLength() == HttpExchange.UNKNOWN_LENGTH
                && value.readableBytes() + data.readableBytes() > MAX_UNKNOWN_BYTES) {
            throw new Problem(
                            ProblemType.LENGTH_REQUIRED,
                            "a value above 512 KiB needs a Content-Length, and no Content-Encoding",
                            "send its Content-Length, or send several records as NDJSON")
                    .exception();
        }
        int sizeBytes = value.readableBytes() + data.readableBytes();
        if (sizeBytes > FIRST_PART_BYTES && sizeBytes > value.capacity()) {
            value.capacity((int) exchange.bodyLength()); // instead of growing, and being copied, step by step
        }
        value.writeBytes(data, data.readerIndex(), data.readableBytes());
    }

    @Override
    public void onEnd() {
        sink.add(partition, timestampMs, key, value == null ? Unpooled.EMPTY_BUFFER : value, headers);
        sink.finish(null);
    }

    @Override
    public void onClosed() {
        if (value != null) {
            value.release();
            value = null;
        }
        sink.close();
    }
}
