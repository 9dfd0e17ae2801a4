package io.journalq.cli.shell;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.util.MinimalPrettyPrinter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;

/**
 * Writes maps, lists, strings, numbers, booleans and null as JSON. Uses the streaming generator, because an object
 * mapper would take longer to start than a command runs.
 */
public final class Json {
    /** Without the limit of 20 million characters that Jackson has: what is read has a limit of its own. */
    public static final JsonFactory FACTORY = JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxStringLength(Integer.MAX_VALUE)
                    .build())
            .build();

    private Json() {}

    /** Returns a value on one line. */
    public static String line(Object value) {
        return text(value, false);
    }

    /** Returns a value on several lines, for a result that is one document. */
    public static String document(Object value) {
        return text(value, true);
    }

    /**
     * Returns a generator for a sequence of values without separators; the caller terminates each line. Flushing it
     * passes its content to the stream, but does not flush the stream.
     */
    public static JsonGenerator lines(OutputStream out) throws IOException {
        JsonGenerator generator = FACTORY.createGenerator(out);
        generator.disable(JsonGenerator.Feature.FLUSH_PASSED_TO_STREAM);
        generator.setPrettyPrinter(new MinimalPrettyPrinter(""));
        return generator;
    }

    private static String text(Object value, boolean indented) {
        StringWriter text = new StringWriter();
        try (JsonGenerator generator = FACTORY.createGenerator(text)) {
            if (indented) {
                generator.useDefaultPrettyPrinter();
            }
            write(generator, value);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return text.toString();
    }

    private static void write(JsonGenerator generator, Object value) throws IOException {
        if (value instanceof Map<?, ?> map) {
            generator.writeStartObject();
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                generator.writeFieldName(String.valueOf(entry.getKey()));
                write(generator, entry.getValue());
            }
            generator.writeEndObject();
        } else if (value instanceof List<?> list) {
            generator.writeStartArray();
            for (Object item : list) {
                write(generator, item);
            }
            generator.writeEndArray();
        } else if (value instanceof Integer || value instanceof Long || value instanceof Short) {
            generator.writeNumber(((Number) value).longValue());
        } else if (value instanceof Number number) {
            generator.writeNumber(number.doubleValue());
        } else if (value instanceof Boolean truth) {
            generator.writeBoolean(truth);
        } else if (value == null) {
            generator.writeNull();
        } else {
            generator.writeString(value.toString());
        }
    }
}
