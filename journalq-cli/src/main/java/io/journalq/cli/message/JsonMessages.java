package io.journalq.cli.message;

import com.fasterxml.jackson.core.JsonGenerator;
import io.journalq.cli.shell.Json;
import io.journalq.cli.shell.Terminal;
import io.journalq.common.record.Header;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/** Writes messages as JSON objects, one per line. {@code produce --format json} can read them. Reuses its buffers. */
final class JsonMessages implements MessageFormat {
    private static final int INITIAL_SIZE_BYTES = 1024;

    private final Terminal terminal;
    private final CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();
    private JsonGenerator generator;
    private byte[] bytes = new byte[INITIAL_SIZE_BYTES];
    private char[] characters = new char[INITIAL_SIZE_BYTES];

    JsonMessages(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public void print(ConsumedMessage message) {
        try {
            if (generator == null) {
                generator = Json.lines(terminal.stream());
            }
            write(message);
            generator.flush();
        } catch (IOException failed) {
            throw Terminal.notWritten(failed);
        }
    }

    private void write(ConsumedMessage message) throws IOException {
        generator.writeStartObject();
        generator.writeStringField("topic", message.topic());
        generator.writeNumberField("partition", message.partition());
        generator.writeNumberField("offset", message.offset());
        generator.writeNumberField("timestamp", message.timestampMs());
        writeBytes("key", "keyBase64", message.key());
        writeBytes("value", "valueBase64", message.value());
        if (!message.headers().isEmpty()) {
            // A list instead of an object, because a name can occur more than once.
            generator.writeArrayFieldStart("headers");
            for (Header header : message.headers()) {
                generator.writeStartObject();
                generator.writeStringField("name", header.key());
                byte[] value = header.value();
                writeBytes("value", "valueBase64", value, value == null ? -1 : value.length);
                generator.writeEndObject();
            }
            generator.writeEndArray();
        }
        generator.writeEndObject();
        generator.writeRaw('\n');
    }

    private void writeBytes(String name, String base64Name, ByteBuf view) throws IOException {
        int length = view == null ? -1 : view.readableBytes();
        if (length > bytes.length) {
            bytes = new byte[Math.max(length, 2 * bytes.length)];
        }
        if (length >= 0) {
            view.getBytes(view.readerIndex(), bytes, 0, length);
        }
        writeBytes(name, base64Name, bytes, length);
    }

    /** Writes bytes as text if they are text, otherwise in base64 under another name. A length of -1 is null. */
    private void writeBytes(String name, String base64Name, byte[] content, int length) throws IOException {
        if (length < 0) {
            generator.writeNullField(name);
        } else if (isAscii(content, length)) {
            generator.writeFieldName(name);
            generator.writeUTF8String(content, 0, length);
        } else if (!writeText(name, content, length)) {
            byte[] exact = length == content.length ? content : java.util.Arrays.copyOf(content, length);
            generator.writeStringField(base64Name, Base64.getEncoder().encodeToString(exact));
        }
    }

    private static boolean isAscii(byte[] content, int length) {
        int all = 0;
        for (int i = 0; i < length; i++) {
            all |= content[i];
        }
        return all >= 0;
    }

    /** Returns whether the bytes were text. */
    private boolean writeText(String name, byte[] content, int length) throws IOException {
        if (length > characters.length) {
            characters = new char[Math.max(length, 2 * characters.length)];
        }
        CharBuffer text = CharBuffer.wrap(characters);
        CoderResult result = decoder.reset().decode(ByteBuffer.wrap(content, 0, length), text, true);
        if (result.isError()) {
            return false;
        }
        generator.writeFieldName(name);
        generator.writeString(characters, 0, text.position());
        return true;
    }
}
