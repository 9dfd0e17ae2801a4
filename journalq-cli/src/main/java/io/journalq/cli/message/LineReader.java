package io.journalq.cli.message;

import io.journalq.cli.shell.CommandFailure;
import io.journalq.cli.shell.Quantity;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/** Reads lines as bytes, without their line terminator ({@code \n} or {@code \r\n}). One thread. */
final class LineReader {
    private static final int INITIAL_BUFFER_BYTES = 64 * 1024;

    private final InputStream in;
    private final int maxLineBytes;
    private final Runnable beforeRead;
    private byte[] buffer = new byte[INITIAL_BUFFER_BYTES];
    /** The unread bytes are from {@code start} to {@code end}. */
    private int start;

    private int end;
    private boolean exhausted;
    private long lineNumber;

    /**
     * Creates a reader.
     *
     * @param maxLineBytes the maximum size of a line; a message cannot be larger
     * @param beforeRead runs before the input is read, which can block
     */
    LineReader(InputStream in, int maxLineBytes, Runnable beforeRead) {
        this.in = in;
        this.maxLineBytes = maxLineBytes;
        this.beforeRead = beforeRead;
    }

    /** Returns the next line, or null at the end of the input. */
    byte[] next() throws IOException {
        int scanned = start;
        while (true) {
            while (scanned < end && buffer[scanned] != '\n') {
                scanned++;
            }
            if (scanned < end || exhausted) {
                return take(scanned);
            }
            refuseLongerThanAllowed(scanned);
            int shift = start;
            fill();
            scanned -= shift - start;
        }
    }

    private byte[] take(int lineEnd) {
        if (start == end) {
            return null;
        }
        refuseLongerThanAllowed(lineEnd);
        lineNumber++;
        int contentEnd = lineEnd > start && buffer[lineEnd - 1] == '\r' ? lineEnd - 1 : lineEnd;
        byte[] line = Arrays.copyOfRange(buffer, start, contentEnd);
        start = Math.min(end, lineEnd + 1);
        return line;
    }

    private void refuseLongerThanAllowed(int lineEnd) {
        if (lineEnd - start > maxLineBytes) {
            throw new CommandFailure("line " + (lineNumber + 1) + " is longer than " + Quantity.size(maxLineBytes)
                    + "; raise --max-line-size if the topic's max.message.bytes allows it");
        }
    }

    /** Reads more bytes after moving the unread ones to the front. Enlarges the buffer if a line fills it. */
    private void fill() throws IOException {
        if (start > 0) {
            System.arraycopy(buffer, start, buffer, 0, end - start);
            end -= start;
            start = 0;
        }
        if (end == buffer.length) {
            buffer = Arrays.copyOf(buffer, (int) Math.min(2L * buffer.length, Integer.MAX_VALUE - 8));
        }
        beforeRead.run();
        int read = in.read(buffer, end, buffer.length - end);
        if (read < 0) {
            exhausted = true;
        } else {
            end += read;
        }
    }

    /** The number of the line that {@link #next()} returned last, counted from 1. */
    long lineNumber() {
        return lineNumber;
    }
}
