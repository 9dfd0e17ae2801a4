package io.journalq.server.cli;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;

/** Lines as bytes, without their line end ({@code \n} or {@code \r\n}). One thread. */
final class LineReader {
    private static final int INPUT_BUFFER_BYTES = 64 * 1024;

    private final InputStream in;
    private final int maxLineBytes;
    private final ByteArrayOutputStream line = new ByteArrayOutputStream();
    private long lineNumber;

    /**
     * Reads lines of an input.
     *
     * @param maxLineBytes what a longer line is refused at: a message could not be that long
     */
    LineReader(InputStream in, int maxLineBytes) {
        this.in = new BufferedInputStream(in, INPUT_BUFFER_BYTES);
        this.maxLineBytes = maxLineBytes;
    }

    /** The next line, or null at the end of the input. */
    byte[] next() throws IOException {
        line.reset();
        int read = in.read();
        if (read < 0) {
            return null;
        }
        lineNumber++;
        while (read >= 0 && read != '\n') {
            if (line.size() == maxLineBytes) {
                throw new CommandFailure("line " + lineNumber + " is longer than " + Quantity.size(maxLineBytes)
                        + "; raise --max-line-size if the topic's max.message.bytes allows it");
            }
            line.write(read);
            read = in.read();
        }
        byte[] bytes = line.toByteArray();
        if (bytes.length > 0 && bytes[bytes.length - 1] == '\r') {
            return java.util.Arrays.copyOf(bytes, bytes.length - 1);
        }
        return bytes;
    }

    /** The number of the line that {@link #next()} returned last, from 1. */
    long lineNumber() {
        return lineNumber;
    }

    /** Whether more can be read without waiting. */
    boolean ready() throws IOException {
        return in.available() > 0;
    }
}
