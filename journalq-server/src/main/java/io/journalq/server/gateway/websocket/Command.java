package io.journalq.server.gateway.websocket;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.JsonOut;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemException;
import io.journalq.server.gateway.problem.ProblemType;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A message of a client: an object whose members are texts and numbers. The member {@code records}, which must be the
 * last one, is left to its reader. On the connection's loop.
 */
final class Command implements AutoCloseable {
    private static final int MAX_MEMBERS = 16;
    private static final int MAX_NAME_CHARS = 64;
    private static final int MAX_TEXT_CHARS = 1024 * 1024;
    private static final int MAX_NESTING = 200;
    private static final int MAX_NUMBER_DIGITS = 18;
    private static final int MAX_ID_CHARS = 64;
    private static final String RECORDS = "records";
    private static final String ID = "id";
    private static final String TYPE = "type";

    private static final JsonFactory JSON = JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxStringLength(MAX_TEXT_CHARS)
                    .maxNestingDepth(MAX_NESTING)
                    .maxNameLength(MAX_NAME_CHARS)
                    .build())
            .build();

    private final JsonParser parser;
    private final Map<String, String> members = new HashMap<>();
    private boolean hasRecords;
    private boolean hasNumericId;

    private Command(JsonParser parser) {
        this.parser = parser;
    }

    /**
     * Reads the members of a message.
     *
     * @param json borrowed until {@link #close}
     * @throws IOException if it is not JSON
     * @throws ProblemException if it is not a message
     */
    static Command read(ByteBuf json) throws IOException {
        Command command = new Command(JSON.createParser((InputStream) new ByteBufInputStream(json)));
        try {
            command.readMembers();
        } catch (IOException | RuntimeException invalid) {
            command.close();
            throw invalid;
        }
        return command;
    }

    private void readMembers() throws IOException {
        if (parser.nextToken() != JsonToken.START_OBJECT) {
            throw invalid("the message is not an object");
        }
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String name = parser.currentName();
            JsonToken value = parser.nextToken();
            if (name.equals(RECORDS) && value == JsonToken.START_ARRAY) {
                hasRecords = true;
                return;
            }
            if (value.isStructStart()) {
                throw invalid("\"" + name + "\" is neither a text nor a number");
            }
            String text = value == JsonToken.VALUE_NULL ? null : parser.getText();
            if (members.size() == MAX_MEMBERS || members.containsKey(name)) {
                throw invalid("\"" + name + "\" is given twice, or the message has more than 16 members");
            }
            members.put(name, text);
            hasNumericId |= name.equals(ID) && value.isNumeric();
        }
        if (parser.nextToken() != null) {
            throw invalid("there is something behind the message");
        }
    }

    /** The bytes of the message up to the start of the array of records; -1 if it has none. */
    int recordsIndex() {
        return hasRecords ? (int) parser.currentLocation().getByteOffset() : -1;
    }

    /** The text of a member; null if there is none. */
    String text(String name) {
        return members.get(name);
    }

    /** The text of a member that is needed. */
    String needed(String name) {
        String text = members.get(name);
        if (text == null) {
            throw invalid("the message has no \"" + name + "\"");
        }
        return text;
    }

    /** The number of a member; null if there is none. */
    Long number(String name) {
        String text = members.get(name);
        if (text == null) {
            return null;
        }
        if (text.isEmpty() || text.length() > MAX_NUMBER_DIGITS || !text.chars().allMatch(c -> c >= '0' && c <= '9')) {
            throw invalid("\"" + name + "\" is not a number of 0 or more");
        }
        return Long.valueOf(text);
    }

    String type() {
        return needed(TYPE);
    }

    /** Writes the id of the message, if it has one, as the client has sent it. */
    JsonOut.Document id() {
        String id = members.get(ID);
        boolean numeric = hasNumericId;
        if (id == null || id.length() > MAX_ID_CHARS) {
            return json -> {};
        }
        return json -> {
            json.writeFieldName(ID);
            if (numeric) {
                json.writeNumber(id);
            } else {
                json.writeString(id);
            }
        };
    }

    /** Refuses members that the message does not have, because they are probably misspelled. */
    void checkMembers(List<String> known) {
        for (String name : members.keySet()) {
            if (!known.contains(name) && !name.equals(TYPE) && !name.equals(ID)) {
                throw HttpExchange.invalid(
                        "there is no member \"" + name + "\"", "use one of id, type, " + String.join(", ", known));
            }
        }
        if (hasRecords && !known.contains(RECORDS)) {
            throw invalid("this type of message has no records");
        }
    }

    static ProblemException invalid(String detail) {
        return new Problem(
                        ProblemType.INVALID_BODY,
                        detail,
                        "see docs/guides/http.md for the messages; \"records\" is the last member")
                .exception();
    }

    @Override
    public void close() {
        try {
            parser.close();
        } catch (IOException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
