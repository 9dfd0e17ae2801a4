package io.journalq.server.gateway.confluent;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import io.journalq.common.record.Header;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemException;
import io.journalq.server.gateway.problem.ProblemType;
import io.journalq.server.gateway.produce.JsonText;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Reads the records of Confluent's REST proxy from JSON. Values in the format JSON are stored as their JSON text, as they were
 * sent. Stateless.
 */
final class RecordDocument {
    /** Maximum size of a document. */
    static final int MAX_BYTES = 1024 * 1024;

    private static final int MAX_NESTING = 200;
    private static final int MAX_RECORDS = 100_000;
    private static final int MAX_HEADERS = 1_000;
    private static final int MAX_SHOWN_CHARS = 64;
    private static final byte[] BOM = "\ufeff".getBytes(StandardCharsets.UTF_8);
    private static final JsonFactory JSON = JsonFactory.builder()
            .disable(JsonFactory.Feature.CHARSET_DETECTION)
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxStringLength(MAX_BYTES)
                    .maxNestingDepth(MAX_NESTING)
                    .build())
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build();

    private RecordDocument() {}

    /** How keys and values are sent. */
    enum Format {
        BINARY,
        JSON,
        STRING
    }

    /**
     * A record as it was sent.
     *
     * @param partition null if the client has chosen none
     * @param timestampMs null if there is none
     * @param keyFormat null if there is no key; so for the value
     */
    @SuppressWarnings("ArrayRecordComponent") // The records are not compared.
    record Sent(
            Integer partition,
            Long timestampMs,
            Format keyFormat,
            byte[] key,
            Format valueFormat,
            byte[] value,
            List<Header> headers) {}

    /** Where a value of JSON is in the document. */
    @SuppressWarnings("ArrayRecordComponent") // The slices are not compared.
    private record Slice(byte[] document, int from, int to, JsonToken token) {
        byte[] decoded(Format format, String member) throws IOException {
            if (token == JsonToken.VALUE_NULL) {
                return null;
            }
            if (format == Format.JSON) {
                return Arrays.copyOfRange(document, from, to);
            }
            if (token != JsonToken.VALUE_STRING) {
                throw invalid("\"" + member + "\" is not a string");
            }
            try (JsonParser parser = RecordDocument.JSON.createParser(document, from, to - from)) {
                parser.nextToken();
                return format == Format.BINARY ? parser.getBinaryValue() : utf8(parser.getText(), member);
            } catch (IOException malformed) {
                throw invalid("\"" + member + "\" is not Base64");
            }
        }
    }

    /**
     * Reads a document of the API v2: {@code {"records": [{"key": ..., "value": ..., "partition": 0}]}}.
     *
     * @throws ProblemException if it is invalid
     */
    static List<Sent> readV2(byte[] sent, Format format) {
        byte[] document = utf8(sent);
        List<Sent> records = new ArrayList<>();
        try (JsonParser parser = JSON.createParser(document)) {
            begin(parser);
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                String name = parser.currentName();
                if (!name.equals("records")) {
                    throw unknown(name, "records");
                }
                if (parser.nextToken() != JsonToken.START_ARRAY) {
                    throw invalid("\"records\" is not an array");
                }
                while (parser.nextToken() != JsonToken.END_ARRAY) {
                    if (records.size() == MAX_RECORDS) {
                        throw invalid("it has more than " + MAX_RECORDS + " records");
                    }
                    records.add(recordV2(parser, document, format));
                }
            }
            end(parser);
        } catch (IOException malformed) {
            throw invalid("it is not JSON, or has a member twice");
        }
        if (records.isEmpty()) {
            throw invalid("it has no records");
        }
        return records;
    }

    /**
     * A document without the mark that it can begin with. Values are stored as they were sent, and the parser takes
     * more than one form of a character.
     */
    private static byte[] utf8(byte[] sent) {
        if (!ByteBufUtil.isText(Unpooled.wrappedBuffer(sent), StandardCharsets.UTF_8)) {
            throw invalid("it is not UTF-8");
        }
        return Arrays.equals(sent, 0, Math.min(BOM.length, sent.length), BOM, 0, BOM.length)
                ? Arrays.copyOfRange(sent, BOM.length, sent.length)
                : sent;
    }

    private static Sent recordV2(JsonParser parser, byte[] document, Format format) throws IOException {
        if (parser.currentToken() != JsonToken.START_OBJECT) {
            throw invalid("a record is not an object");
        }
        Integer partition = null;
        byte[] key = null;
        byte[] value = null;
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String name = parser.currentName();
            parser.nextToken();
            switch (name) {
                case "key" -> key = slice(parser, document).decoded(format, name);
                case "value" -> value = slice(parser, document).decoded(format, name);
                case "partition" -> partition = partition(parser, name);
                default -> throw unknown(name, "key, value, partition");
            }
        }
        return new Sent(partition, null, format, key, format, value, List.of());
    }

    /**
     * Reads one record of the API v3.
     *
     * @throws ProblemException if it is invalid
     */
    static Sent readV3(byte[] sent) {
        byte[] document = utf8(sent);
        try (JsonParser parser = JSON.createParser(document)) {
            begin(parser);
            Integer partition = null;
            Long timestampMs = null;
            Typed key = Typed.NONE;
            Typed value = Typed.NONE;
            List<Header> headers = List.of();
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                String name = parser.currentName();
                parser.nextToken();
                switch (name) {
                    case "partition_id" -> partition = partition(parser, name);
                    case "timestamp" -> timestampMs = timestamp(parser);
                    case "headers" -> headers = headers(parser);
                    case "key" -> key = typed(parser, document, name);
                    case "value" -> value = typed(parser, document, name);
                    default -> throw unknown(name, "partition_id, headers, key, value, timestamp");
                }
            }
            end(parser);
            return new Sent(partition, timestampMs, key.format(), key.data(), value.format(), value.data(), headers);
        } catch (IOException malformed) {
            throw invalid("it is not JSON, or has a member twice");
        }
    }

    @SuppressWarnings("ArrayRecordComponent") // They are not compared.
    private record Typed(Format format, byte[] data) {
        static final Typed NONE = new Typed(null, null);
    }

    private static Typed typed(JsonParser parser, byte[] document, String member) throws IOException {
        if (parser.currentToken() == JsonToken.VALUE_NULL) {
            return Typed.NONE;
        }
        if (parser.currentToken() != JsonToken.START_OBJECT) {
            throw invalid("\"" + member + "\" is not an object with \"type\" and \"data\"");
        }
        Format format = null;
        Slice data = null;
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String name = parser.currentName();
            parser.nextToken();
            switch (name) {
                case "type" -> format = format(parser);
                case "data" -> data = slice(parser, document);
                default -> throw unknown(name, "type, data; schemas are not supported");
            }
        }
        if (format == null) {
            throw invalid("\"" + member + "\" has no \"type\"; schemas are not supported");
        }
        return new Typed(format, data == null ? null : data.decoded(format, member));
    }

    private static Format format(JsonParser parser) throws IOException {
        String text = parser.currentToken() == JsonToken.VALUE_STRING ? parser.getText() : "";
        for (Format format : Format.values()) {
            if (format.name().equals(text)) {
                return format;
            }
        }
        throw invalid("\"type\" is not BINARY, JSON or STRING");
    }

    private static Integer partition(JsonParser parser, String member) throws IOException {
        if (parser.currentToken() == JsonToken.VALUE_NULL) {
            return null;
        }
        if (parser.currentToken() != JsonToken.VALUE_NUMBER_INT
                || parser.getNumberType() != JsonParser.NumberType.INT) {
            throw invalid("\"" + member + "\" is not a partition");
        }
        return parser.getIntValue();
    }

    private static Long timestamp(JsonParser parser) throws IOException {
        if (parser.currentToken() == JsonToken.VALUE_NULL) {
            return null;
        }
        try {
            return OffsetDateTime.parse(parser.getText()).toInstant().toEpochMilli();
        } catch (DateTimeException | ArithmeticException malformed) {
            throw invalid("\"timestamp\" is not a time such as 2026-01-31T12:00:00Z");
        }
    }

    private static List<Header> headers(JsonParser parser) throws IOException {
        if (parser.currentToken() != JsonToken.START_ARRAY) {
            throw invalid("\"headers\" is not an array");
        }
        List<Header> headers = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            if (parser.currentToken() != JsonToken.START_OBJECT || headers.size() == MAX_HEADERS) {
                throw invalid("\"headers\" is not an array of at most " + MAX_HEADERS + " objects");
            }
            String key = null;
            byte[] value = null;
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                String name = parser.currentName();
                JsonToken token = parser.nextToken();
                if (name.equals("name") && token == JsonToken.VALUE_STRING) {
                    key = parser.getText();
                    utf8(key, name);
                } else if (name.equals("value") && token == JsonToken.VALUE_STRING) {
                    value = parser.getBinaryValue();
                } else if (!name.equals("value") || token != JsonToken.VALUE_NULL) {
                    throw invalid("a header has other members than \"name\", a string, and \"value\", in Base64");
                }
            }
            if (key == null) {
                throw invalid("a header has no \"name\"");
            }
            headers.add(new Header(key, value));
        }
        return headers;
    }

    private static void begin(JsonParser parser) throws IOException {
        if (parser.nextToken() != JsonToken.START_OBJECT) {
            throw invalid("it is not an object");
        }
        if (parser.currentTokenLocation().getByteOffset() < 0) {
            throw invalid("it is not UTF-8"); // but UTF-16 or UTF-32, which Jackson has detected
        }
    }

    private static byte[] utf8(String text, String member) {
        byte[] bytes = JsonText.utf8(text);
        if (bytes == null) {
            throw invalid("\"" + member + "\" has " + JsonText.HALF_PAIR);
        }
        return bytes;
    }

    private static void end(JsonParser parser) throws IOException {
        if (parser.nextToken() != null) {
            throw invalid("there is something behind the object");
        }
    }

    private static Slice slice(JsonParser parser, byte[] document) throws IOException {
        JsonToken token = parser.currentToken();
        int from = (int) parser.currentTokenLocation().getByteOffset();
        if (token.isStructStart()) {
            parser.skipChildren();
        } else {
            parser.finishToken();
        }
        return new Slice(document, from, (int) parser.currentLocation().getByteOffset(), token);
    }

    private static ProblemException unknown(String name, String known) {
        return invalid("it has a member \""
                + (name.length() > MAX_SHOWN_CHARS ? name.substring(0, MAX_SHOWN_CHARS) + "..." : name)
                + "\" and not only " + known);
    }

    static ProblemException invalid(String detail) {
        return new Problem(ProblemType.INVALID_BODY, detail, ConfluentErrors.EXAMPLES).exception();
    }
}
