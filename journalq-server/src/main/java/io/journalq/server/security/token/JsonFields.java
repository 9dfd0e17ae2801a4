package io.journalq.server.security.token;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads JSON into maps, lists, texts and numbers ({@link Long} or {@link Double}). A field that occurs twice is refused,
 * because two readers could see different values. Stateless.
 */
final class JsonFields {
    private static final int MAX_DEPTH = 16;
    private static final int MAX_TEXT_LENGTH = 64 * 1024;

    private static final JsonFactory FACTORY = JsonFactory.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(MAX_DEPTH)
                    .maxStringLength(MAX_TEXT_LENGTH)
                    .build())
            .build();

    private JsonFields() {}

    /**
     * Reads an object.
     *
     * @throws IOException when the bytes are not exactly one object
     */
    static Map<String, Object> read(byte[] json) throws IOException {
        try (JsonParser parser = FACTORY.createParser(json)) {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                throw new IOException("not a JSON object");
            }
            Map<String, Object> fields = readObject(parser);
            if (parser.nextToken() != null) {
                throw new IOException("more than one JSON object");
            }
            return fields;
        } catch (JsonProcessingException malformed) {
            // Its whole message has several lines.
            throw new IOException("not JSON: " + malformed.getOriginalMessage(), malformed);
        }
    }

    private static Map<String, Object> readObject(JsonParser parser) throws IOException {
        Map<String, Object> fields = new LinkedHashMap<>();
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String name = parser.currentName();
            parser.nextToken();
            fields.put(name, readValue(parser));
        }
        return fields;
    }

    private static Object readValue(JsonParser parser) throws IOException {
        return switch (parser.currentToken()) {
            case START_OBJECT -> readObject(parser);
            case START_ARRAY -> readArray(parser);
            case VALUE_STRING -> parser.getText();
            case VALUE_NUMBER_INT -> readInteger(parser);
            case VALUE_NUMBER_FLOAT -> parser.getDoubleValue();
            case VALUE_TRUE -> true;
            case VALUE_FALSE -> false;
            default -> null;
        };
    }

    private static Object readInteger(JsonParser parser) throws IOException {
        return parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER
                ? (Object) parser.getDoubleValue()
                : (Object) parser.getLongValue();
    }

    private static List<Object> readArray(JsonParser parser) throws IOException {
        List<Object> items = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            items.add(readValue(parser));
        }
        return items;
    }

    /** A field that must be a text; null if it is missing or something else. */
    static String text(Map<String, Object> fields, String name) {
        return fields.get(name) instanceof String text ? text : null;
    }
}
