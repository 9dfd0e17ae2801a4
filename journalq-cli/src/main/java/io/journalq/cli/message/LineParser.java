package io.journalq.cli.message;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.journalq.cli.shell.CommandFailure;
import io.journalq.cli.shell.Json;
import io.journalq.client.record.ProducerRecord;
import io.journalq.common.record.Header;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;

/** Converts a line to a record: plain text, optionally with a key in front, or a JSON object. Stateless. */
final class LineParser {
    private static final String JSON_FORM = "expected one object per line, such as"
            + " {\"key\":\"k\",\"value\":\"v\",\"headers\":[{\"name\":\"n\",\"value\":\"v\"}]}";

    private final String topic;
    private final int partition;
    private final byte[] keySeparator;
    private final byte[] key;
    private final List<Header> headers;
    private final boolean json;

    /**
     * Creates a parser.
     *
     * @param partition the partition, or {@link ProducerRecord#ANY_PARTITION} to let the key decide
     * @param keySeparator the separator, or null if lines have no keys
     * @param key the key of all lines that have none; may be null
     */
    LineParser(String topic, int partition, String keySeparator, String key, List<Header> headers, boolean json) {
        this.topic = topic;
        this.partition = partition;
        this.keySeparator = keySeparator == null ? null : keySeparator.getBytes(StandardCharsets.UTF_8);
        this.key = key == null ? null : key.getBytes(StandardCharsets.UTF_8);
        this.headers = List.copyOf(headers);
        this.json = json;
    }

    /** Converts a line to a record. */
    ProducerRecord parse(byte[] line, long lineNumber) {
        ProducerRecord.Builder record =
                ProducerRecord.builder(topic).partition(partition).key(key).headers(headers);
        if (json) {
            readJson(line, lineNumber, record);
        } else if (keySeparator == null) {
            record.value(line);
        } else {
            int at = indexOf(line, keySeparator);
            if (at < 0) {
                throw new CommandFailure("line " + lineNumber + " has no key separator '"
                        + new String(keySeparator, StandardCharsets.UTF_8)
                        + "'; correct the line, or leave --key-separator out");
            }
            record.key(Arrays.copyOf(line, at)).value(Arrays.copyOfRange(line, at + keySeparator.length, line.length));
        }
        return record.build();
    }

    private static int indexOf(byte[] line, byte[] separator) {
        for (int at = 0; at + separator.length <= line.length; at++) {
            if (Arrays.equals(line, at, at + separator.length, separator, 0, separator.length)) {
                return at;
            }
        }
        return -1;
    }

    private void readJson(byte[] line, long lineNumber, ProducerRecord.Builder record) {
        try (JsonParser parser = Json.FACTORY.createParser(line)) {
            require(parser.nextToken() == JsonToken.START_OBJECT, JSON_FORM);
            while (parser.nextToken() != JsonToken.END_OBJECT) {
                String field = parser.currentName();
                parser.nextToken();
                readField(parser, field, record);
            }
            require(parser.nextToken() == null, "more than one JSON value; " + JSON_FORM);
        } catch (IOException | IllegalArgumentException wrong) {
            String why = wrong instanceof com.fasterxml.jackson.core.JacksonException malformed
                    ? malformed.getOriginalMessage()
                    : wrong.getMessage();
            throw new CommandFailure(
                    "line " + lineNumber + ": " + why.lines().findFirst().orElse(JSON_FORM));
        }
    }

    private void readField(JsonParser parser, String field, ProducerRecord.Builder record) throws IOException {
        switch (field) {
            case "key" -> {
                // Messages without a key have null in the output of consume.
                byte[] own = text(parser, field);
                record.key(own == null ? key : own);
            }
            case "keyBase64" -> record.key(base64(parser, field));
            case "value" -> record.value(text(parser, field));
            case "valueBase64" -> record.value(base64(parser, field));
            case "timestamp" -> record.timestampMs(number(parser, field));
            case "partition" -> {
                // The option --partition has precedence, so that a partition can be copied to another one.
                long wanted = number(parser, field);
                require(wanted == (int) wanted, "there is no partition " + wanted);
                record.partition(partition == ProducerRecord.ANY_PARTITION ? (int) wanted : partition);
            }
            case "headers" -> readHeaders(parser, record);
            // The position of a message is ignored, so that the output of consume can be used as input.
            case "topic", "offset" -> parser.skipChildren();
            default ->
                throw new IllegalArgumentException(
                        "unknown field '" + field + "'; use key, value, headers, partition or timestamp");
        }
    }

    private static void readHeaders(JsonParser parser, ProducerRecord.Builder record) throws IOException {
        require(parser.currentToken() == JsonToken.START_ARRAY, "headers must be a list of {\"name\":..,\"value\":..}");
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            require(parser.currentToken() == JsonToken.START_OBJECT, "a header must be {\"name\":..,\"value\":..}");
            String name = null;
            byte[] value = null;
            while (parser.nextToken() != JsonToken.END_OBJECT) {
                String field = parser.currentName();
                parser.nextToken();
                switch (field) {
                    case "name" -> name = parser.getValueAsString();
                    case "value" -> value = text(parser, field);
                    case "valueBase64" -> value = base64(parser, field);
                    default -> throw new IllegalArgumentException("unknown field '" + field + "' in a header");
                }
            }
            require(name != null, "a header must have a name");
            utf8(name, "name");
            record.header(name, value);
        }
    }

    private static byte[] text(JsonParser parser, String field) throws IOException {
        if (parser.currentToken() == JsonToken.VALUE_NULL) {
            return null;
        }
        require(parser.currentToken().isScalarValue(), field + " must be a string");
        return utf8(parser.getText(), field);
    }

    /** Encodes a text. An escape of half a surrogate pair has no bytes in UTF-8. */
    private static byte[] utf8(String text, String field) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        require(
                new String(bytes, StandardCharsets.UTF_8).equals(text),
                field + " contains half a surrogate pair, which is no text; write bytes in base64");
        return bytes;
    }

    private static byte[] base64(JsonParser parser, String field) throws IOException {
        require(parser.currentToken() == JsonToken.VALUE_STRING, field + " must be a string in base64");
        try {
            return Base64.getDecoder().decode(parser.getText());
        } catch (IllegalArgumentException wrong) {
            throw new IllegalArgumentException(field + " is not base64");
        }
    }

    private static long number(JsonParser parser, String field) throws IOException {
        require(parser.currentToken() == JsonToken.VALUE_NUMBER_INT, field + " must be a whole number");
        return parser.getLongValue();
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalArgumentException(otherwise);
        }
    }
}
