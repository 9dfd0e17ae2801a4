package io.journalq.server.gateway.produce;

import static io.journalq.server.gateway.produce.JsonScanner.invalid;
import static io.journalq.server.gateway.produce.JsonScanner.notJson;
import static io.journalq.server.gateway.produce.JsonScanner.tooLarge;

import io.journalq.common.record.Header;
import io.journalq.server.gateway.problem.ProblemException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads records from JSON: objects with the members {@code key} or {@code keyBase64}, {@code value} or {@code
 * valueBase64}, {@code partition}, {@code timestamp} and {@code headers}. A value that is not a string is stored as its
 * JSON text.
 *
 * <p>A value without escapes is copied from the input to the batch at once. One thread.
 */
final class JsonRecord {
    /** Maximum size of the key, value and headers of a record together. */
    static final int MAX_BYTES = JsonScanner.MAX_BYTES;

    private static final int MAX_HEADERS = 1_000;
    private static final int MAX_SHOWN_CHARS = 64;

    private final JsonScanner json;
    private final Targets.Target target;
    private final Receiver receiver;

    private int sizeBytes;
    private byte[] key;
    private ByteBuf value;
    private long partition;
    private long timestampMs;
    private List<Header> headers;
    private boolean hasKey;
    private boolean hasValue;

    /** Receives records. */
    @FunctionalInterface
    interface Receiver {
        /**
         * Adds a record.
         *
         * @param key null for none
         * @param value copied; null for none
         */
        void add(int partition, long timestampMs, byte[] key, ByteBuf value, List<Header> headers);
    }

    JsonRecord(JsonScanner json, Targets.Target target, Receiver receiver) {
        this.json = json;
        this.target = target;
        this.receiver = receiver;
    }

    /**
     * Reads the record at the current index, and passes it on. Returns false, and changes nothing, if it is incomplete.
     *
     * @throws ProblemException if it is invalid
     */
    boolean read() {
        key = null;
        value = null;
        partition = -1;
        timestampMs = -1;
        headers = null;
        sizeBytes = 0;
        hasKey = false;
        hasValue = false;
        try {
            readMembers();
        } catch (JsonScanner.IncompleteException incomplete) {
            return json.forget();
        }
        int chosen = partition >= 0 ? (int) partition : target.partition(key);
        long time = timestampMs >= 0 ? timestampMs : target.epochMs().getAsLong();
        receiver.add(chosen, time, key, value, headers == null ? List.of() : headers);
        return true;
    }

    private void readMembers() {
        if (!json.take('{')) {
            throw invalid("a record is not an object");
        }
        json.next();
        if (json.take('}')) {
            return;
        }
        while (true) {
            String name = json.name();
            switch (name) {
                case "key" -> setKey(json.text(name));
                case "keyBase64" -> setKey(json.binary(name));
                case "value" -> setValue(json.value(name));
                case "valueBase64" -> {
                    byte[] bytes = json.binary(name);
                    setValue(bytes == null ? null : Unpooled.wrappedBuffer(bytes));
                }
                case "partition" -> {
                    checkFirst(partition < 0, name);
                    partition = target.checked(json.number(name));
                }
                case "timestamp" -> {
                    checkFirst(timestampMs < 0, name);
                    timestampMs = json.number(name);
                }
                case "headers" -> {
                    checkFirst(headers == null, name);
                    readHeaders();
                }
                default -> throw invalid("a record has no member \"" + shown(name) + "\"");
            }
            if (json.endsObject()) {
                return;
            }
        }
    }

    private static void checkFirst(boolean first, String name) {
        if (!first) {
            throw invalid("\"" + name + "\" is given twice");
        }
    }

    private void count(int bytes) {
        sizeBytes += bytes;
        if (sizeBytes > MAX_BYTES) {
            throw tooLarge();
        }
    }

    private void setKey(byte[] bytes) {
        checkFirst(!hasKey, "key");
        hasKey = true;
        key = bytes;
        count(bytes == null ? 0 : bytes.length);
    }

    private void setValue(ByteBuf bytes) {
        checkFirst(!hasValue, "value");
        hasValue = true;
        value = bytes;
        count(bytes == null ? 0 : bytes.readableBytes());
    }

    private void readHeaders() {
        if (!json.take('[')) {
            throw invalid("\"headers\" is not an array");
        }
        headers = new ArrayList<>();
        json.next();
        if (json.take(']')) {
            return;
        }
        while (true) {
            readHeader();
            json.next();
            if (json.take(']')) {
                return;
            }
            if (!json.take(',')) {
                throw notJson("headers are not separated by a comma");
            }
            json.next();
        }
    }

    private void readHeader() {
        if (!json.take('{')) {
            throw invalid("a header is not an object");
        }
        String headerName = null;
        byte[] headerValue = null;
        boolean hasHeaderValue = false;
        json.next();
        boolean ends = json.take('}');
        while (!ends) {
            String name = json.name();
            byte[] bytes =
                    switch (name) {
                        case "name" -> nameOfHeader();
                        case "value" -> json.text(name);
                        case "valueBase64" -> json.binary(name);
                        default -> throw invalid("a header has no member \"" + shown(name) + "\"");
                    };
            count(bytes == null ? 0 : bytes.length);
            if (name.equals("name")) {
                checkFirst(headerName == null, name);
                headerName = new String(bytes, StandardCharsets.UTF_8);
            } else {
                checkFirst(!hasHeaderValue, name);
                hasHeaderValue = true;
                headerValue = bytes;
            }
            ends = json.endsObject();
        }
        if (headerName == null) {
            throw invalid("a header has no name");
        }
        if (headers.size() == MAX_HEADERS) {
            throw invalid("a record has more than " + MAX_HEADERS + " headers");
        }
        headers.add(new Header(headerName, headerValue));
    }

    private byte[] nameOfHeader() {
        byte[] bytes = json.isNext('"') ? json.text("name") : null;
        if (bytes == null) {
            throw invalid("the name of a header is not a string");
        }
        return bytes;
    }

    private static String shown(String name) {
        return name.length() <= MAX_SHOWN_CHARS ? name : name.substring(0, MAX_SHOWN_CHARS) + "...";
    }
}
