package io.journalq.server.gateway.consume;

import io.journalq.common.record.BatchReader;
import io.journalq.server.gateway.http.JsonOut;
import io.journalq.server.gateway.problem.Problem;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.charset.StandardCharsets;

/** Writes records as lines of JSON into parts of a response. On the loop of the reader. */
final class RecordLines {
    /** Usual size of a part, unless a record is larger. */
    static final int PART_BYTES = 16 * 1024;

    /** Size of parts after which other connections have their turns. */
    static final int TURN_BYTES = 256 * 1024;

    private static final int FIRST_PART_BYTES = 1024;

    private final ByteBufAllocator allocator;
    private int fullBytes = PART_BYTES;
    private int partBytes = FIRST_PART_BYTES;
    private ByteBuf part;

    RecordLines(ByteBufAllocator allocator) {
        this.allocator = allocator;
    }

    /** Sets the size of a part, unless a record is larger. */
    void setPartBytes(int sizeBytes) {
        fullBytes = sizeBytes;
    }

    /** Whether the part has its size. */
    boolean isFull() {
        return sizeBytes() >= fullBytes;
    }

    /** Size of the part so far. */
    int sizeBytes() {
        return part == null ? 0 : part.readableBytes();
    }

    /** Adds the reader's current record. */
    void add(int partition, BatchReader record) {
        beginPart();
        RecordJson.write(part, partition, record);
        part.writeByte('\n');
    }

    /** Adds a line that is an object with these members. */
    void addObject(JsonOut.Document members) {
        beginPart();
        JsonOut.write(part, members);
        part.writeByte('\n');
    }

    /** Adds a line that says why the reading ends early. */
    void addError(Problem problem) {
        addObject(json -> {
            json.writeObjectFieldStart("error");
            problem.writeMembers(json);
            json.writeEndObject();
        });
    }

    /**
     * Adds the last line.
     *
     * @param cursor where another request can continue
     * @param atEnd whether everything up to the ends of the partitions was read
     */
    void addEnd(String cursor, boolean atEnd) {
        addObject(json -> {
            json.writeStringField("cursor", cursor);
            json.writeBooleanField("atEnd", atEnd);
        });
    }

    /** Adds text that is not JSON. */
    void addText(String text) {
        beginPart();
        part.writeCharSequence(text, StandardCharsets.UTF_8);
    }

    private void beginPart() {
        if (part == null) {
            part = allocator.buffer(partBytes);
        }
    }

    /** Returns the part, which the caller owns, and begins another; null if it has no lines. */
    ByteBuf take() {
        ByteBuf taken = part;
        if (taken != null) {
            part = null;
            partBytes = fullBytes + fullBytes / 4;
        }
        return taken;
    }

    /** Drops the part. */
    void close() {
        ByteBuf unsent = take();
        if (unsent != null) {
            unsent.release();
        }
    }
}
