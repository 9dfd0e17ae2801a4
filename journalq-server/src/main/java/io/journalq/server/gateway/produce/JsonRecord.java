package io.journalq.server.gateway.produce;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.journalq.common.record.Header;
import io.journalq.server.gateway.http.JsonOut;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemException;
import io.journalq.server.gateway.problem.ProblemType;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/**
 * Reads one record from tokens of JSON: an object with the members {@code key} or {@code keyBase64}, {@code value} or
 * {@code valueBase64}, {@code partition}, {@code timestamp} and {@code headers}. A value that is not a string is stored as
 * its JSON text. On the connection's loop.
 */
final class JsonRecord {
    /** Maximum size of the key, value and headers of a record together. */
    static final int MAX_BYTES = 1024 * 1024;

    private static final int MAX_HEADERS = 1_000;

    private final Targets.Target target;
    private final RecordSink sink;
    private int sizeBytes;
    private byte[] key;
    private byte[] value;
    private long partition;
    private long timestampMs;
    private List<Header> headers;
    private boolean hasKey;
    private boolean hasValue;
    private boolean hasHeader;
    private String member;
    private String headerName;
    private byte[] headerValue;

    /** The text of a value that is an object or an array, while it is read. */
    private ByteArrayOutputStream nested;

    private JsonGenerator copy;
    private int depth;
    private Place place;

    private enum Place {
        MEMBER,
        VALUE,
        NESTED_VALUE,
        HEADERS,
        HEADER,
        HEADER_VALUE
    }

    JsonRecord(Targets.Target target, RecordSink sink) {
        this.target = target;
        this.sink = sink;
    }

    /** An object has begun. */
    void begin() {
        key = null;
        value = null;
        partition = -1;
        timestampMs = -1;
        headers = null;
        sizeBytes = 0;
        hasKey = false;
        hasValue = false;
        place = Place.MEMBER;
    }

    /** Returns whether the record is complete; then it was added to the sink. */
    boolean onToken(JsonParser parser, JsonToken token) throws IOException {
        switch (place) {
            case MEMBER -> {
                if (token == JsonToken.END_OBJECT) {
                    add();
                    return true;
                }
                member = parser.currentName();
                place = Place.VALUE;
            }
            case VALUE -> onMember(parser, token);
            case NESTED_VALUE -> onNested(parser, token);
            case HEADERS -> {
                if (token == JsonToken.END_ARRAY) {
                    place = Place.MEMBER;
                } else if (token != JsonToken.START_OBJECT) {
                    throw invalid("a header is not an object");
                } else {
                    headerName = null;
                    headerValue = null;
                    hasHeader = false;
                    place = Place.HEADER;
                }
            }
            case HEADER -> {
                if (token == JsonToken.END_OBJECT) {
                    addHeader();
                    place = Place.HEADERS;
                } else {
                    member = parser.currentName();
                    place = Place.HEADER_VALUE;
                }
            }
            case HEADER_VALUE -> {
                onHeaderMember(parser, token);
                place = Place.HEADER;
            }
        }
        return false;
    }

    private void onMember(JsonParser parser, JsonToken token) throws IOException {
        place = Place.MEMBER;
        switch (member) {
            case "key" -> setKey(text(parser, token));
            case "keyBase64" -> setKey(binary(parser, token));
            case "valueBase64" -> setValue(binary(parser, token));
            case "value" -> {
                if (token == JsonToken.VALUE_STRING || token == JsonToken.VALUE_NULL) {
                    setValue(text(parser, token));
                } else {
                    beginNested();
                    onNested(parser, token);
                }
            }
            case "partition" -> {
                checkFirst(partition < 0);
                partition = target.checked(number(parser, token));
            }
            case "timestamp" -> {
                checkFirst(timestampMs < 0);
                timestampMs = number(parser, token);
            }
            case "headers" -> {
                if (token != JsonToken.START_ARRAY) {
                    throw invalid("\"headers\" is not an array");
                }
                checkFirst(headers == null);
                headers = new ArrayList<>();
                place = Place.HEADERS;
            }
            default -> throw invalid("a record has no member \"" + shown(member) + "\"");
        }
    }

    private void checkFirst(boolean first) {
        if (!first) {
            throw invalid("\"" + member + "\" is given twice");
        }
    }

    /** Counts a part of the record, which may be null. */
    private byte[] counted(byte[] bytes) {
        sizeBytes += bytes == null ? 0 : bytes.length;
        if (sizeBytes > MAX_BYTES) {
            throw tooLarge();
        }
        return bytes;
    }

    private static ProblemException tooLarge() {
        return new Problem(
                        ProblemType.RECORD_TOO_LARGE,
                        "a record is larger than 1 MiB",
                        "send large values as raw bodies")
                .exception();
    }

    private void setKey(byte[] bytes) {
        checkFirst(!hasKey);
        hasKey = true;
        key = counted(bytes);
    }

    private void setValue(byte[] bytes) {
        checkFirst(!hasValue);
        hasValue = true;
        value = counted(bytes);
    }

    private void beginNested() throws IOException {
        nested = new ByteArrayOutputStream();
        copy = JsonOut.generator(nested);
        depth = 0;
        place = Place.NESTED_VALUE;
    }

    /** Copies a token of a value that is not a string. */
    private void onNested(JsonParser parser, JsonToken token) throws IOException {
        if (token.isNumeric()) {
            copy.writeNumber(parser.getText()); // exactly as it was sent
        } else {
            copy.copyCurrentEvent(parser);
        }
        depth += token.isStructStart() ? 1 : 0;
        depth -= token.isStructEnd() ? 1 : 0;
        if (nested.size() > MAX_BYTES) {
            throw tooLarge();
        }
        if (depth == 0) {
            copy.close();
            setValue(nested.toByteArray());
            nested = null;
            copy = null;
            place = Place.MEMBER;
        }
    }

    private void onHeaderMember(JsonParser parser, JsonToken token) throws IOException {
        switch (member) {
            case "name" -> {
                if (token != JsonToken.VALUE_STRING) {
                    throw invalid("the name of a header is not a string");
                }
                headerName = parser.getText();
                counted(headerName.getBytes(StandardCharsets.UTF_8));
            }
            case "value" -> setHeaderValue(text(parser, token));
            case "valueBase64" -> setHeaderValue(binary(parser, token));
            default -> throw invalid("a header has no member \"" + shown(member) + "\"");
        }
    }

    private void setHeaderValue(byte[] bytes) {
        checkFirst(!hasHeader);
        hasHeader = true;
        headerValue = counted(bytes);
    }

    private void addHeader() {
        if (headerName == null) {
            throw invalid("a header has no name");
        }
        if (headers.size() == MAX_HEADERS) {
            throw invalid("a record has more than " + MAX_HEADERS + " headers");
        }
        headers.add(new Header(headerName, headerValue));
    }

    private void add() {
        int chosen = partition >= 0 ? (int) partition : target.partition(key);
        long time = timestampMs >= 0 ? timestampMs : target.epochMs().getAsLong();
        sink.add(
                chosen,
                time,
                key,
                value == null ? null : Unpooled.wrappedBuffer(value),
                headers == null ? List.of() : headers);
        begin();
    }

    private byte[] text(JsonParser parser, JsonToken token) throws IOException {
        if (token == JsonToken.VALUE_NULL) {
            return null;
        }
        if (token != JsonToken.VALUE_STRING) {
            throw invalid("\"" + member + "\" is not a string");
        }
        String text = parser.getText();
        if (hasLoneSurrogate(text)) {
            throw invalid("\"" + member + "\" has half of a surrogate pair, which has no form in UTF-8");
        }
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static boolean hasLoneSurrogate(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (Character.isSurrogate(text.charAt(i))) {
                if (!Character.isHighSurrogate(text.charAt(i))
                        || i + 1 == text.length()
                        || !Character.isLowSurrogate(text.charAt(i + 1))) {
                    return true;
                }
                i++;
            }
        }
        return false;
    }

    private byte[] binary(JsonParser parser, JsonToken token) throws IOException {
        if (token == JsonToken.VALUE_NULL) {
            return null;
        }
        if (token == JsonToken.VALUE_STRING) {
            try {
                return Base64.getDecoder().decode(parser.getText());
            } catch (IllegalArgumentException malformed) {
                throw invalid("\"" + member + "\" is not Base64");
            }
        }
        throw invalid("\"" + member + "\" is not a string");
    }

    private long number(JsonParser parser, JsonToken token) throws IOException {
        if (token != JsonToken.VALUE_NUMBER_INT || parser.getText().length() > 18 || parser.getLongValue() < 0) {
            throw invalid("\"" + member + "\" is not a number of 0 or more");
        }
        return parser.getLongValue();
    }

    private static String shown(String name) {
        return name.length() <= 64 ? name : name.substring(0, 64) + "...";
    }

    static ProblemException invalid(String detail) {
        return new Problem(
                        ProblemType.INVALID_BODY,
                        detail,
                        "send records with the members key, value, partition, timestamp and headers")
                .exception();
    }
}
