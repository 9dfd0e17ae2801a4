package io.journalq.server.gateway.http;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonGenerator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;

/** Writes JSON to buffers. Stateless, any thread. */
public final class JsonOut {
    private static final JsonFactory JSON =
            new JsonFactoryBuilder().rootValueSeparator("").build();

    private JsonOut() {}

    /** Writes one document. */
    @FunctionalInterface
    public interface Document {
        void write(JsonGenerator json) throws IOException;
    }

    /** A generator that writes root values without anything between them. */
    public static JsonGenerator generator(OutputStream out) throws IOException {
        return JSON.createGenerator(out);
    }

    /** Writes an object. */
    public static void write(ByteBuf buffer, Document members) {
        try (JsonGenerator json = generator(new ByteBufOutputStream(buffer))) {
            json.writeStartObject();
            members.write(json);
            json.writeEndObject();
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }

    /** Writes an object and the end of its line to a new buffer, which the caller owns. */
    public static ByteBuf object(ByteBufAllocator allocator, Document members) {
        ByteBuf buffer = allocator.buffer();
        try {
            write(buffer, members);
            buffer.writeByte('\n');
        } catch (RuntimeException failure) {
            buffer.release();
            throw failure;
        }
        return buffer;
    }
}
