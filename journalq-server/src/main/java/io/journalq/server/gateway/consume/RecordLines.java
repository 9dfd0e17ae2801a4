package io.journalq.server.gateway.consume;

import com.fasterxml.jackson.core.JsonGenerator;
import io.journalq.common.record.BatchReader;
import io.journalq.common.record.Header;
import io.journalq.server.gateway.http.JsonOut;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufOutputStream;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Writes records as lines of JSON into parts of a response. Keys and values that are not UTF-8 are written in Base64, as
 * {@code keyBase64} and {@code valueBase64}. On the loop of the reader.
 */
final class RecordLines {
    /** Size of a part, unless a record is larger. */
    static final int PART_BYTES = 16 * 1024;

    /** Size of parts after which other connections have their turns. */
    static final int TURN_BYTES = 256 * 1024;

    private static final int FIRST_PART_BYTES = 1024;

    private final ByteBufAllocator allocator;
    private int partBytes = FIRST_PART_BYTES;
    private ByteBuf part;
    private JsonGenerator json;

    RecordLines(ByteBufAllocator allocator) {
        this.allocator = allocator;
    }

    /** Size of the part so far. */
    int sizeBytes() {
        return part == null ? 0 : part.readableBytes() + json.getOutputBuffered();
    }

    /** Adds the reader's current record. */
    void add(int partition, BatchReader record) {
        addObject(line -> {
            line.writeNumberField("partition", partition);
            line.writeNumberField("offset", record.offset());
            line.writeNumberField("timestamp", record.timestampMs());
            write(line, "key", record.key());
            write(line, "value", record.value());
            List<Header> headers = record.headers();
            if (!headers.isEmpty()) {
                line.writeArrayFieldStart("headers");
                for (Header header : headers) {
                    line.writeStartObject();
                    line.writeStringField("name", header.key());
                    write(line, "value", header.value() == null ? null : Unpooled.wrappedBuffer(header.value()));
                    line.writeEndObject();
                }
                line.writeEndArray();
            }
        });
    }

    /** Adds a line that is an object with these members. */
    void addObject(JsonOut.Document members) {
        try {
            beginPart();
            json.writeStartObject();
            members.write(json);
            json.writeEndObject();
            json.writeRaw('\n');
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }

    /** Adds text that is not JSON. */
    void addText(String text) {
        try {
            beginPart();
            json.writeRaw(text);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }

    private void beginPart() throws IOException {
        if (part == null) {
            part = allocator.buffer(partBytes);
            json = JsonOut.generator(new ByteBufOutputStream(part));
        }
    }

    private static void write(JsonGenerator line, String name, ByteBuf bytes) throws IOException {
        if (bytes == null) {
            line.writeNullField(name);
        } else if (ByteBufUtil.isText(bytes, bytes.readerIndex(), bytes.readableBytes(), StandardCharsets.UTF_8)) {
            byte[] text = ByteBufUtil.getBytes(bytes);
            line.writeFieldName(name);
            line.writeUTF8String(text, 0, text.length);
        } else {
            line.writeFieldName(name + "Base64");
            line.writeBinary(ByteBufUtil.getBytes(bytes));
        }
    }

    /** Returns the part, which the caller owns, and begins another; null if it has no lines. */
    ByteBuf take() {
        if (part == null) {
            return null;
        }
        ByteBuf taken = part;
        part = null;
        try {
            json.close();
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        partBytes = PART_BYTES + PART_BYTES / 4;
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
