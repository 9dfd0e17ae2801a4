package io.journalq.server.gateway.produce;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.core.io.JsonEOFException;
import io.journalq.server.gateway.http.JsonOut;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemException;
import io.journalq.server.gateway.problem.ProblemType;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufInputStream;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/**
 * Reads JSON from input that arrives in parts. What is incomplete is read again from its start when more has arrived. One
 * thread.
 *
 * <p>A text is checked 8 bytes at a time, and one without escapes is not copied. Only objects and arrays as a whole
 * ({@link #value}) need a general parser.
 *
 * <p>Source: RFC 8259.
 */
final class JsonScanner {
    /** Maximum size of a text. */
    static final int MAX_BYTES = 1024 * 1024;

    private static final int MAX_NESTING = 200;
    private static final int MAX_NAME_CHARS = 10_000;
    private static final int LONGEST_LITERAL_BYTES = 6;

    private static final long EACH_BYTE = 0x0101010101010101L;
    private static final long HIGH_BITS = 0x8080808080808080L;

    private static final JsonFactory JSON = JsonFactory.builder()
            .disable(JsonFactory.Feature.CHARSET_DETECTION)
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxStringLength(MAX_BYTES)
                    .maxNestingDepth(MAX_NESTING)
                    .maxNameLength(MAX_NAME_CHARS)
                    .build())
            .build();

    private ByteBuf input;

    /** A view of a text in the input. */
    private ByteBuf view;

    private int at;
    private int end;

    /** Line of {@link #at}, from 1, and the index of its first character, which can be before the input. */
    private long line = 1;

    private long lineStart;

    /** The same for the start of what is being read, to which {@link #forget} returns. */
    private int markAt;

    private long markLine;
    private long markLineStart;

    /** What {@link #textEnd} has found. */
    private boolean escaped;

    private boolean notAscii;

    /** The input ends in the middle of what is being read. */
    static final class IncompleteException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        IncompleteException() {
            super(null, null, false, false);
        }
    }

    /** Continues with the readable bytes of this input. */
    void setInput(ByteBuf bytes) {
        lineStart += bytes.readerIndex() - at;
        input = bytes;
        view = bytes.duplicate();
        at = bytes.readerIndex();
        end = bytes.writerIndex();
    }

    /** The next input begins with the byte at this index. */
    void moveTo(int index) {
        at = index;
    }

    int index() {
        return at;
    }

    long line() {
        return line;
    }

    /** The column of the next byte, from 1. */
    long column() {
        return at - lineStart + 1;
    }

    boolean hasMore() {
        return at < end;
    }

    /** Skips spaces. Returns whether there is something behind them. */
    boolean skipSpace() {
        markAt = at;
        markLine = line;
        markLineStart = lineStart;
        return skip();
    }

    private boolean skip() {
        while (at < end) {
            byte each = input.getByte(at);
            if (each == '\n') {
                line++;
                lineStart = at + 1L;
            } else if (each != ' ' && each != '\r' && each != '\t') {
                return true;
            }
            at++;
        }
        return false;
    }

    /** Takes the next character if it is this one. There must be one. */
    boolean take(char wanted) {
        if (input.getByte(at) == wanted) {
            at++;
            return true;
        }
        return false;
    }

    /** Returns to the start of what is incomplete. Returns false. */
    boolean forget() {
        at = markAt;
        line = markLine;
        lineStart = markLineStart;
        return false;
    }

    /** Whether the next character is this one. */
    boolean isNext(char wanted) {
        return input.getByte(at) == wanted;
    }

    /** Behind a member. Returns whether the object ends; otherwise, another member follows. */
    boolean endsObject() {
        byte next = next();
        at++;
        if (next == '}') {
            return true;
        }
        if (next != ',') {
            throw notJson("members are not separated by a comma");
        }
        next();
        return false;
    }

    /** The next character that is no space. It is not taken. */
    byte next() {
        if (!skip()) {
            throw new IncompleteException();
        }
        return input.getByte(at);
    }

    /** Reads the name of a member, and the colon behind it. */
    String name() {
        if (input.getByte(at) != '"') {
            throw notJson("the name of a member is missing");
        }
        int start = at + 1;
        int stop = textEnd(start);
        String name = known(start, stop - start);
        if (name == null) {
            byte[] bytes = decoded(start, stop, "the name of a member");
            name = new String(bytes, StandardCharsets.UTF_8);
        }
        at = stop + 1;
        if (next() != ':') {
            throw notJson("a colon is missing");
        }
        at++;
        next();
        return name;
    }

    /** The most frequent names, without creating a text. */
    private String known(int start, int length) {
        if (length == 5
                && input.getByte(start) == 'v'
                && input.getInt(start + 1) == ('a' << 24 | 'l' << 16 | 'u' << 8 | 'e')) {
            return "value";
        }
        boolean isKey = length == 3
                && input.getByte(start) == 'k'
                && input.getByte(start + 1) == 'e'
                && input.getByte(start + 2) == 'y';
        return isKey ? "key" : null;
    }

    /**
     * Takes a value of any kind. Returns the text of a string, and of others their JSON text. It is valid until the next
     * call. Null for null.
     */
    ByteBuf value(String name) {
        int start = at;
        switch (input.getByte(at)) {
            case '"' -> {
                int stop = textEnd(++start);
                at = stop + 1;
                if (escaped) {
                    return Unpooled.wrappedBuffer(decoded(start, stop, quoted(name)));
                }
                checkUtf8(start, stop, quoted(name));
                return view.setIndex(start, stop);
            }
            case 'n' -> {
                literal("null");
                return null;
            }
            case 't' -> literal("true");
            case 'f' -> literal("false");
            case '{', '[' -> {
                return Unpooled.wrappedBuffer(nested());
            }
            default -> skipNumber(name);
        }
        return view.setIndex(start, at);
    }

    private void literal(String literal) {
        for (int i = 0; i < literal.length(); i++) {
            if (at == end) {
                throw new IncompleteException();
            }
            if (!take(literal.charAt(i))) {
                throw notJson("unknown literal");
            }
        }
    }

    /** Takes a number of any kind. */
    private void skipNumber(String name) {
        int start = at;
        takeIf('-');
        if (peek() == '0') {
            at++;
        } else {
            skipDigits(name);
        }
        if (takeIf('.')) {
            skipDigits(name);
        }
        if (takeIf('e') || takeIf('E')) {
            if (!takeIf('+')) {
                takeIf('-');
            }
            skipDigits(name);
        }
        byte behind = peek();
        if ((behind >= '0' && behind <= '9') || at - start > MAX_NAME_CHARS) {
            throw notJson("\"" + name + "\" is not a number");
        }
    }

    private boolean takeIf(char wanted) {
        if (peek() == wanted) {
            at++;
            return true;
        }
        return false;
    }

    private byte peek() {
        if (at == end) {
            throw new IncompleteException();
        }
        return input.getByte(at);
    }

    private void skipDigits(String name) {
        int start = at;
        while (peek() >= '0' && peek() <= '9') {
            at++;
        }
        if (at == start) {
            throw notJson("\"" + name + "\" is not valid JSON");
        }
    }

    /** Takes a whole number from 0 to 2⁶³−1. */
    long number(String name) {
        int start = at;
        byte first = input.getByte(at);
        if (first >= '0' && first <= '9') {
            skipNumber(name);
            try {
                return Long.parseLong(input.toString(start, at - start, StandardCharsets.US_ASCII));
            } catch (NumberFormatException fractionOrTooLarge) {
                // refused below
            }
        }
        throw invalid("\"" + name + "\" is not a whole number from 0 to " + Long.MAX_VALUE);
    }

    /** The text of a string, or null. */
    byte[] text(String name) {
        byte first = input.getByte(at);
        if (first == 'n') {
            literal("null");
            return null;
        }
        if (first != '"') {
            throw invalid("\"" + name + "\" is not a string");
        }
        int start = at + 1;
        int stop = textEnd(start);
        byte[] bytes = decoded(start, stop, "\"" + name + "\"");
        at = stop + 1;
        return bytes;
    }

    byte[] binary(String name) {
        byte[] text = text(name);
        try {
            return text == null ? null : Base64.getDecoder().decode(text);
        } catch (IllegalArgumentException malformed) {
            throw invalid("\"" + name + "\" is not Base64");
        }
    }

    /** The index of the quote behind a text. */
    private int textEnd(int start) {
        int index = start;
        long high = 0;
        escaped = false;
        while (true) {
            while (index <= end - Long.BYTES) {
                long bytes = input.getLongLE(index);
                high |= bytes;
                long found = (((bytes - ' ' * EACH_BYTE) & ~bytes)
                                | zeros(bytes ^ ('"' * EACH_BYTE))
                                | zeros(bytes ^ ('\\' * EACH_BYTE)))
                        & HIGH_BITS;
                if (found != 0) {
                    index += Long.numberOfTrailingZeros(found) / Byte.SIZE;
                    break;
                }
                index += Long.BYTES;
            }
            if (index >= end) {
                throw new IncompleteException();
            }
            byte each = input.getByte(index);
            if (each == '"') {
                notAscii = (high & HIGH_BITS) != 0;
                return index;
            }
            if (each == '\\') {
                escaped = true;
                index++; // the next character is part of the escape
            } else if (each >= 0 && each < ' ') {
                at = index;
                throw notJson("a text contains a control character");
            }
            high |= each;
            index++;
        }
    }

    /** Has the highest bit of the first byte set that is 0. Bytes of 0x80 and above are never reported. */
    private static long zeros(long bytes) {
        return (bytes - EACH_BYTE) & ~bytes;
    }

    /** Checks the text that {@link #textEnd} has found. */
    private void checkUtf8(int start, int stop, String name) {
        if (notAscii && !ByteBufUtil.isText(input, start, stop - start, StandardCharsets.UTF_8)) {
            throw notJson(name + " is not UTF-8");
        }
    }

    /** The bytes of the text that {@link #textEnd} has found, without escapes. */
    private byte[] decoded(int start, int stop, String name) {
        checkUtf8(start, stop, name);
        if (!escaped) {
            return ByteBufUtil.getBytes(input, start, stop - start);
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream(stop - start);
        int index = start;
        while (index < stop) {
            byte each = input.getByte(index);
            if (each != '\\') {
                out.write(each);
                index++;
                continue;
            }
            byte escape = input.getByte(index + 1);
            index += 2;
            switch (escape) {
                case '"', '\\', '/' -> out.write(escape);
                case 'b' -> out.write('\b');
                case 'f' -> out.write('\f');
                case 'n' -> out.write('\n');
                case 'r' -> out.write('\r');
                case 't' -> out.write('\t');
                case 'u' -> {
                    char unit = unit(index, stop, name);
                    index += 4;
                    if (!Character.isSurrogate(unit)) {
                        out.writeBytes(String.valueOf(unit).getBytes(StandardCharsets.UTF_8));
                    } else {
                        boolean pair = Character.isHighSurrogate(unit)
                                && index + 6 <= stop
                                && input.getByte(index) == '\\'
                                && input.getByte(index + 1) == 'u';
                        char second = pair ? unit(index + 2, stop, name) : 0;
                        if (!Character.isLowSurrogate(second)) {
                            throw invalid(name + " has " + JsonText.HALF_PAIR);
                        }
                        index += 6;
                        out.writeBytes(new String(new char[] {unit, second}).getBytes(StandardCharsets.UTF_8));
                    }
                }
                default -> throw notJson(name + " has an unknown escape");
            }
        }
        return out.toByteArray();
    }

    private char unit(int index, int stop, String name) {
        int unit = 0;
        for (int i = 0; i < 4; i++) {
            int digit = index + i < stop ? Character.digit(input.getByte(index + i), 16) : -1;
            if (digit < 0) {
                throw notJson(name + " has an unknown escape");
            }
            unit = unit << 4 | digit;
        }
        return (char) unit;
    }

    /** Takes an object or an array. Returns its text without spaces. */
    private byte[] nested() {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        InputStream stream = new ByteBufInputStream(input.slice(at, end - at));
        try (JsonParser parser = JSON.createParser(stream);
                JsonGenerator copy = JsonOut.generator(text)) {
            int depth = 0;
            do {
                JsonToken token = parser.nextToken();
                if (token.isNumeric()) {
                    copy.writeNumber(parser.getText()); // exactly as it was sent
                } else {
                    if (token == JsonToken.VALUE_STRING || token == JsonToken.FIELD_NAME) {
                        checkSurrogates(parser.getText());
                    }
                    copy.copyCurrentEvent(parser);
                }
                depth += token.isStructStart() ? 1 : 0;
                depth -= token.isStructEnd() ? 1 : 0;
                if (text.size() > MAX_BYTES) {
                    throw tooLarge();
                }
            } while (depth > 0);
            copy.flush();
            long lines = parser.currentLocation().getLineNr() - 1L;
            int stop = at + (int) parser.currentLocation().getByteOffset();
            if (!ByteBufUtil.isText(input, at, stop - at, StandardCharsets.UTF_8)) {
                throw notJson("\"value\" is not UTF-8"); // The parser takes more than one form of a character.
            }
            if (lines > 0) {
                line += lines;
                lineStart = stop - parser.currentLocation().getColumnNr() + 1L;
            }
            at = stop;
            return text.toByteArray();
        } catch (JsonEOFException incomplete) {
            throw new IncompleteException();
        } catch (StreamConstraintsException large) {
            throw new Problem(
                            ProblemType.RECORD_TOO_LARGE,
                            "a text of the body is larger than 1 MiB, or nested too deeply",
                            "send large values as raw bodies")
                    .exception();
        } catch (JsonProcessingException malformed) {
            // The parser does not distinguish a literal that ends with the input from an unknown one.
            long left = end - at - malformed.getLocation().getByteOffset();
            if (left < LONGEST_LITERAL_BYTES) {
                throw new IncompleteException();
            }
            throw notJson("\"value\" is not valid JSON");
        } catch (IOException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static void checkSurrogates(String text) {
        if (!StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
            throw invalid("\"value\" has half of a surrogate pair, which has no form in UTF-8");
        }
    }

    private static String quoted(String name) {
        return "\"" + name + "\"";
    }

    static ProblemException tooLarge() {
        return new Problem(
                        ProblemType.RECORD_TOO_LARGE,
                        "a record is larger than 1 MiB",
                        "send large values as raw bodies")
                .exception();
    }

    static ProblemException notJson(String detail) {
        return new Problem(ProblemType.INVALID_BODY, "it is not JSON: " + detail, "send valid JSON in UTF-8")
                .exception();
    }

    static ProblemException invalid(String detail) {
        return new Problem(
                        ProblemType.INVALID_BODY,
                        detail,
                        "send records with the members key, value, partition, timestamp and headers")
                .exception();
    }
}
