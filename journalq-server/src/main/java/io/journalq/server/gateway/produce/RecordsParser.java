package io.journalq.server.gateway.produce;

import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;

/**
 * Parses records in JSON that arrive in parts: a document {@code {"records": [...]}}, the rest of one behind the start of
 * its array, or a record in each line. Each record is added when it is complete. A record that is not complete is parsed
 * again from its start when more has arrived, if that can be its end. One thread.
 */
final class RecordsParser implements AutoCloseable {
    /** Maximum size of a record as it is sent, with its escapes. */
    private static final int MAX_TEXT_BYTES = 2 * 1024 * 1024;

    /** What is left of a record is parsed again only with a closing brace, without which the record does not end. */
    private static final int LARGE_REST_BYTES = 2 * 1024;

    private static final String RECORDS = "\"records\"";

    private final ByteBufAllocator allocator;
    private final JsonScanner json = new JsonScanner();
    private final JsonRecord record;
    private final Form form;
    private Place place;

    /** What has arrived and is not parsed; null if nothing. */
    private ByteBuf rest;

    private long scannedBytes;

    /** What arrives. */
    enum Form {
        DOCUMENT,
        /** A document behind the start of its array. */
        ARRAY,
        LINES
    }

    private enum Place {
        BEFORE_DOCUMENT,
        BEFORE_FIRST,
        BEFORE_RECORD,
        BEHIND_RECORD,
        BEHIND_ARRAY,
        BEHIND_DOCUMENT,
        BETWEEN_LINES
    }

    RecordsParser(ByteBufAllocator allocator, Form form, Targets.Target target, JsonRecord.Receiver receiver) {
        this.allocator = allocator;
        this.form = form;
        this.record = new JsonRecord(json, target, receiver);
        this.place = switch (form) {
            case DOCUMENT -> Place.BEFORE_DOCUMENT;
            case ARRAY -> Place.BEFORE_FIRST;
            case LINES -> Place.BETWEEN_LINES;
        };
    }

    /**
     * A part has arrived.
     *
     * @param data borrowed
     * @throws ProblemException if it is invalid; nothing more may be parsed then
     */
    void parse(ByteBuf data) {
        ByteBuf input = data;
        if (rest != null) {
            input = rest.writeBytes(data, data.readerIndex(), data.readableBytes());
            if (input.readableBytes() > LARGE_REST_BYTES && data.bytesBefore((byte) '}') < 0) {
                scannedBytes += data.readableBytes();
                checkSize(input.readableBytes());
                return;
            }
        }
        scannedBytes += input.readableBytes();
        int parsed = parseAll(input);
        int left = input.writerIndex() - parsed;
        checkSize(left);
        json.moveTo(parsed);
        if (left == 0) {
            dropRest();
        } else if (rest == null) {
            rest = allocator.directBuffer(Math.max(left, data.readableBytes())).writeBytes(input, parsed, left);
        } else {
            rest.readerIndex(parsed).discardReadBytes();
        }
    }

    private void checkSize(int leftBytes) {
        if (leftBytes > MAX_TEXT_BYTES) {
            throw located(JsonScanner.tooLarge());
        }
    }

    /**
     * Nothing more arrives.
     *
     * @throws ProblemException if the end is missing
     */
    void end() {
        boolean complete = place == (form == Form.LINES ? Place.BETWEEN_LINES : Place.BEHIND_DOCUMENT);
        if (rest != null) {
            parseAll(rest); // finds out whether anything else is wrong
        }
        if (rest != null || !complete) {
            throw located(JsonScanner.invalid(
                    "it ends in the middle of " + (form == Form.LINES ? "a record" : "the document")));
        }
    }

    /** Bytes that were scanned since the last call, those of incomplete records several times. */
    long takeScannedBytes() {
        long bytes = scannedBytes;
        scannedBytes = 0;
        return bytes;
    }

    /** Returns the index up to which the input is parsed. */
    private int parseAll(ByteBuf input) {
        json.setInput(input);
        int parsed = input.readerIndex();
        try {
            while (json.skipSpace()) {
                if (!step()) {
                    return parsed;
                }
                parsed = json.index();
            }
            return json.index();
        } catch (ProblemException refusal) {
            throw located(refusal);
        }
    }

    /** Parses what begins at the next character that is no space. Returns whether it is complete. */
    private boolean step() {
        switch (place) {
            case BEFORE_DOCUMENT -> {
                if (!beginDocument()) {
                    return false;
                }
                place = Place.BEFORE_FIRST;
            }
            case BEFORE_FIRST, BEFORE_RECORD, BETWEEN_LINES -> {
                if (place == Place.BEFORE_FIRST && json.take(']')) {
                    place = Place.BEHIND_ARRAY;
                    return true;
                }
                if (!record.read()) {
                    return false;
                }
                place = form == Form.LINES ? Place.BETWEEN_LINES : Place.BEHIND_RECORD;
            }
            case BEHIND_RECORD -> {
                boolean ends = json.take(']');
                if (!ends && !json.take(',')) {
                    throw JsonScanner.notJson("records are not separated by a comma");
                }
                place = ends ? Place.BEHIND_ARRAY : Place.BEFORE_RECORD;
            }
            case BEHIND_ARRAY -> {
                if (!json.take('}')) {
                    throw JsonScanner.invalid("there is something behind \"records\"");
                }
                place = Place.BEHIND_DOCUMENT;
            }
            case BEHIND_DOCUMENT -> throw JsonScanner.invalid("there is something behind the document");
        }
        return true;
    }

    /** Reads the start of the document and of its array. Returns whether it is complete. */
    private boolean beginDocument() {
        if (!json.take('{')) {
            throw JsonScanner.invalid("the document is not an object");
        }
        if (!json.skipSpace()) {
            return json.forget();
        }
        for (int i = 0; i < RECORDS.length(); i++) {
            if (!json.hasMore()) {
                return json.forget();
            }
            if (!json.take(RECORDS.charAt(i))) {
                throw JsonScanner.invalid("the document has no member \"records\", or another one");
            }
        }
        if (!json.skipSpace()) {
            return json.forget();
        }
        if (!json.take(':')) {
            throw JsonScanner.notJson("a colon is missing");
        }
        if (!json.skipSpace()) {
            return json.forget();
        }
        if (!json.take('[')) {
            throw JsonScanner.invalid("\"records\" is not an array");
        }
        return true;
    }

    private ProblemException located(ProblemException refusal) {
        Problem problem = refusal.problem();
        String where = "line " + json.line() + (form == Form.LINES ? ": " : ", column " + json.column() + ": ");
        return new Problem(problem.type(), where + problem.detail(), problem.remedy()).exception();
    }

    private void dropRest() {
        if (rest != null) {
            rest.release();
            rest = null;
        }
    }

    @Override
    public void close() {
        dropRest();
    }
}
