package io.journalq.server.gateway.http;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemException;
import io.journalq.server.gateway.problem.ProblemType;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The JSON object in the body of a request. A member of the wrong type is a problem that names it. Immutable. */
public final class JsonObject {
    private static final int MAX_NESTING = 16;
    private static final JsonFactory JSON = JsonFactory.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .streamReadConstraints(
                    StreamReadConstraints.builder().maxNestingDepth(MAX_NESTING).build())
            .build();

    private final Map<String, Object> members;
    private final String remedy;

    private JsonObject(Map<String, Object> members, String remedy) {
        this.members = members;
        this.remedy = remedy;
    }

    /**
     * Parses a body. One without content is an empty object.
     *
     * @param remedy what a client can do whose body is invalid
     */
    public static JsonObject parse(byte[] body, String remedy) {
        if (body.length == 0) {
            return new JsonObject(Map.of(), remedy);
        }
        try (JsonParser parser = JSON.createParser(body)) {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                throw invalid("it is not a JSON object", remedy);
            }
            JsonObject object = object(parser, remedy);
            if (parser.nextToken() != null) {
                throw invalid("there is something behind the object", remedy);
            }
            return object;
        } catch (IOException malformed) {
            throw invalid("it is not JSON, or has a member twice", remedy);
        }
    }

    private static JsonObject object(JsonParser parser, String remedy) throws IOException {
        Map<String, Object> members = new LinkedHashMap<>();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String name = parser.currentName();
            parser.nextToken();
            members.put(name, value(parser, remedy));
        }
        return new JsonObject(members, remedy);
    }

    private static Object value(JsonParser parser, String remedy) throws IOException {
        return switch (parser.currentToken()) {
            case START_OBJECT -> object(parser, remedy);
            case START_ARRAY -> {
                List<Object> items = new ArrayList<>();
                while (parser.nextToken() != JsonToken.END_ARRAY) {
                    items.add(value(parser, remedy));
                }
                yield items;
            }
            case VALUE_STRING -> parser.getText();
            case VALUE_TRUE -> true;
            case VALUE_FALSE -> false;
            case VALUE_NULL -> null;
            case VALUE_NUMBER_INT ->
                parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER
                        ? (Object) parser.getDoubleValue()
                        : (Object) parser.getLongValue();
            default -> parser.getDoubleValue();
        };
    }

    /** Refuses members that the route does not know, because they are probably misspelled. */
    public void checkMembers(List<String> known) {
        for (String name : members.keySet()) {
            if (!known.contains(name)) {
                throw invalid(
                        "it has no member \"" + (name.length() > 64 ? name.substring(0, 64) + "..." : name) + "\"",
                        known.isEmpty() ? "leave the body empty" : "use the members " + String.join(", ", known));
            }
        }
    }

    /** The names of the members, in the order in which they were sent. */
    public List<String> names() {
        return List.copyOf(members.keySet());
    }

    public boolean has(String name) {
        return members.get(name) != null;
    }

    /** A string; null if it is absent or null. */
    public String text(String name) {
        return member(name, String.class, "a string");
    }

    /** The text of a string, a number or a boolean; null if it is absent or null. */
    public String scalar(String name) {
        Object value = members.get(name);
        if (value instanceof JsonObject || value instanceof List<?>) {
            throw invalid("\"" + name + "\" is not a string, a number or a boolean");
        }
        return value == null ? null : String.valueOf(value);
    }

    /** A string that must be present. */
    public String required(String name) {
        String text = text(name);
        if (text == null || text.isEmpty()) {
            throw invalid("\"" + name + "\" is missing");
        }
        return text;
    }

    /** A whole number; null if it is absent or null. */
    public Long number(String name) {
        return member(name, Long.class, "a whole number");
    }

    /** A whole number in a range; the default if it is absent or null. */
    public int number(String name, int defaultValue, int lowest, int highest) {
        Long number = number(name);
        if (number == null) {
            return defaultValue;
        }
        if (number < lowest || number > highest) {
            throw invalid("\"" + name + "\" is not from " + lowest + " to " + highest);
        }
        return number.intValue();
    }

    /** Any number; null if it is absent or null. */
    public Double fraction(String name) {
        Number number = member(name, Number.class, "a number");
        return number == null ? null : Double.valueOf(number.doubleValue());
    }

    /** Whether a member is true; false if it is absent or null. */
    public boolean flag(String name) {
        Boolean value = member(name, Boolean.class, "true or false");
        return value != null && value;
    }

    /** An object; an empty one if it is absent or null. */
    public JsonObject object(String name) {
        JsonObject value = member(name, JsonObject.class, "an object");
        return value == null ? new JsonObject(Map.of(), remedy) : value;
    }

    /** An array whose items have this type; empty if it is absent or null. */
    public <T> List<T> list(String name, Class<T> type) {
        List<?> items = member(name, List.class, "an array");
        if (items == null) {
            return List.of();
        }
        List<T> typed = new ArrayList<>(items.size());
        for (Object item : items) {
            if (!type.isInstance(item)) {
                throw invalid("an item of \"" + name + "\" has the wrong type");
            }
            typed.add(type.cast(item));
        }
        return typed;
    }

    private <T> T member(String name, Class<T> type, String words) {
        Object value = members.get(name);
        if (value != null && !type.isInstance(value)) {
            throw invalid("\"" + name + "\" is not " + words);
        }
        return type.cast(value);
    }

    private ProblemException invalid(String detail) {
        return invalid(detail, remedy);
    }

    /** A problem with the body. */
    public static ProblemException invalid(String detail, String remedy) {
        return new Problem(ProblemType.INVALID_BODY, "the body is invalid: " + detail, remedy).exception();
    }
}
