package io.journalq.server.gateway.consume;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.journalq.common.record.BatchReader;
import io.journalq.common.record.Header;
import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.RouteDescription.Parameter;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufInputStream;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Which records a search finds: those whose key, value, headers, or member of a JSON value contain a text. Letters of ASCII
 * match in any case. Immutable.
 */
final class RecordFilter {
    static final List<Parameter> PARAMETERS = List.of(
            new Parameter("text", "the text; ASCII letters match in any case", "coffee"),
            Parameter.optional("in", "where the text is: any (the default), key, value, headers or path"),
            Parameter.optional("path", "for in=path: the member of a JSON value, such as $.items[0].name"));

    private static final int MAX_TEXT_CHARS = 1_000;
    private static final int MAX_PATH_CHARS = 1_000;
    private static final JsonFactory JSON = new JsonFactory();

    private final String lowerText;
    private final ByteSearch search;
    private final Place place;
    private final List<String> path;

    private enum Place {
        ANY,
        KEY,
        VALUE,
        HEADERS,
        PATH
    }

    private RecordFilter(String text, Place place, List<String> path) {
        this.lowerText = text.toLowerCase(Locale.ROOT);
        this.search = new ByteSearch(text.getBytes(StandardCharsets.UTF_8));
        this.place = place;
        this.path = path;
    }

    /** Reads the parameters of a request. */
    static RecordFilter of(HttpExchange exchange) {
        String text = exchange.parameter("text");
        if (text == null || text.isEmpty() || text.length() > MAX_TEXT_CHARS) {
            throw HttpExchange.invalid(
                    "the text is missing, or longer than " + MAX_TEXT_CHARS + " characters", "send text=");
        }
        String in = exchange.parameter("in");
        Place place = place(in == null ? "any" : in);
        String path = exchange.parameter("path");
        if ((place == Place.PATH) != (path != null) || (path != null && path.length() > MAX_PATH_CHARS)) {
            throw HttpExchange.invalid(
                    "in=path needs a path of at most " + MAX_PATH_CHARS + " characters, and only it has one",
                    "send path=$.customer.id");
        }
        return new RecordFilter(text, place, path == null ? List.of() : segments(path));
    }

    private static Place place(String name) {
        for (Place place : Place.values()) {
            if (place.name().toLowerCase(Locale.ROOT).equals(name)) {
                return place;
            }
        }
        throw HttpExchange.invalid("there is no such place", "use in=any, key, value, headers or path");
    }

    /** The names and the indexes of {@code $.items[0].name}. */
    private static List<String> segments(String path) {
        List<String> segments = new ArrayList<>();
        StringBuilder segment = new StringBuilder();
        for (char next : (path.startsWith("$") ? path.substring(1) : path).toCharArray()) {
            if (next != '.' && next != '[' && next != ']') {
                segment.append(next);
            } else if (segment.length() > 0) {
                segments.add(segment.toString());
                segment.setLength(0);
            }
        }
        if (segment.length() > 0) {
            segments.add(segment.toString());
        }
        return segments;
    }

    /** Whether the current record matches. */
    boolean matches(BatchReader record) {
        return switch (place) {
            case KEY -> contains(record.key());
            case VALUE -> contains(record.value());
            case HEADERS -> headersContain(record);
            case PATH -> memberContains(record.value());
            case ANY -> contains(record.key()) || contains(record.value()) || headersContain(record);
        };
    }

    private boolean headersContain(BatchReader record) {
        for (Header header : record.headers()) {
            if (header.key().toLowerCase(Locale.ROOT).contains(lowerText)
                    || (header.value() != null && contains(Unpooled.wrappedBuffer(header.value())))) {
                return true;
            }
        }
        return false;
    }

    private boolean contains(ByteBuf bytes) {
        return bytes != null && search.isIn(bytes);
    }

    /** Whether the member at the path, or a member of it, contains the text. A value that is not JSON has no members. */
    private boolean memberContains(ByteBuf value) {
        if (value == null || !value.isReadable()) {
            return false;
        }
        try (JsonParser parser = JSON.createParser(
                new InputStreamReader(new ByteBufInputStream(value.duplicate()), StandardCharsets.UTF_8))) {
            return parser.nextToken() != null && find(parser, 0);
        } catch (IOException notJson) {
            return false;
        }
    }

    /** Looks in the value that the parser is at, and skips it. */
    private boolean find(JsonParser parser, int depth) throws IOException {
        JsonToken token = parser.currentToken();
        if (depth == path.size()) {
            return textIn(parser);
        }
        boolean found = false;
        if (token == JsonToken.START_OBJECT) {
            while (!found && parser.nextToken() != JsonToken.END_OBJECT) {
                boolean wanted = parser.currentName().equals(path.get(depth));
                parser.nextToken();
                if (wanted) {
                    found = find(parser, depth + 1);
                } else {
                    parser.skipChildren();
                }
            }
        } else if (token == JsonToken.START_ARRAY) {
            for (int index = 0; !found && parser.nextToken() != JsonToken.END_ARRAY; index++) {
                if (path.get(depth).equals(String.valueOf(index))) {
                    found = find(parser, depth + 1);
                } else {
                    parser.skipChildren();
                }
            }
        }
        return found;
    }

    private boolean textIn(JsonParser parser) throws IOException {
        int open = 0;
        do {
            JsonToken token = parser.currentToken();
            open += token.isStructStart() ? 1 : token.isStructEnd() ? -1 : 0;
            if (token.isScalarValue()
                    && parser.getText().toLowerCase(Locale.ROOT).contains(lowerText)) {
                return true;
            }
        } while (open > 0 && parser.nextToken() != null);
        return false;
    }
}
