package io.journalq.cli.shell;

import io.netty.buffer.ByteBuf;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;

/**
 * The three streams of a command, always UTF-8. Standard output is buffered: {@link #flush()} sends it. One thread writes
 * results; progress and errors may come from any thread.
 */
public final class Terminal {
    /** Names the streams that are a terminal, as in {@code 012}; the start script knows, Java 17 does not. */
    public static final String TERMINALS_PROPERTY = "journalq.terminals";

    private static final int OUTPUT_BUFFER_BYTES = 64 * 1024;
    private static final String CLEAR_LINE = "\r\u001b[K";

    private final InputStream in;
    private final OutputBuffer out;
    private final PrintWriter err;
    private final boolean readsFromPerson;
    private final boolean writesToPerson;
    private final boolean showsProgress;
    private boolean progressShown;

    /**
     * The streams of a command.
     *
     * @param terminals the streams that are a terminal, as in {@code 012}
     */
    public Terminal(InputStream in, OutputStream out, OutputStream err, String terminals) {
        this.in = in;
        this.out = new OutputBuffer(out, OUTPUT_BUFFER_BYTES);
        this.err = new PrintWriter(err, true, StandardCharsets.UTF_8);
        this.readsFromPerson = terminals.contains("0");
        this.writesToPerson = terminals.contains("1");
        this.showsProgress = terminals.contains("2");
    }

    /** The streams of this process. */
    public static Terminal ofProcess() {
        return new Terminal(
                System.in,
                new FileOutputStream(FileDescriptor.out),
                new FileOutputStream(FileDescriptor.err),
                System.getProperty(TERMINALS_PROPERTY, ""));
    }

    public InputStream in() {
        return in;
    }

    /** Whether a person types the input, and may need to be told so. */
    public boolean readsFromPerson() {
        return readsFromPerson;
    }

    /** Whether a person sees the result as it comes, so that no progress may stand between its lines. */
    public boolean writesToPerson() {
        return writesToPerson;
    }

    /** Writes one line of the result. */
    public void printLine(String line) {
        print(line + "\n");
    }

    /** Writes a part of the result. */
    public void print(String text) {
        write(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Writes bytes of the result as they are. */
    public void write(byte[] bytes) {
        try {
            out.write(bytes);
        } catch (IOException closed) {
            throw new OutputClosed();
        }
    }

    /** Writes bytes of the result as they are, from where they lie; the buffer's indexes stay. */
    public void write(ByteBuf bytes) {
        try {
            out.write(bytes);
        } catch (IOException closed) {
            throw new OutputClosed();
        }
    }

    /** Writes one byte of the result. */
    public void write(char ascii) {
        try {
            out.write(ascii);
        } catch (IOException closed) {
            throw new OutputClosed();
        }
    }

    /** Standard output for those who write to a stream themselves; closing it only flushes. */
    public OutputStream stream() {
        return out;
    }

    /** Sends what is buffered to whoever reads it. */
    public void flush() {
        try {
            out.flush();
        } catch (IOException closed) {
            throw new OutputClosed();
        }
    }

    /** Writes a line to standard error, in place of a progress line that may stand there. */
    public synchronized void tell(String line) {
        endProgress();
        err.println(line);
    }

    /** Replaces the progress line; shown only where a person watches. */
    public synchronized void showProgress(String text) {
        if (showsProgress) {
            err.print(CLEAR_LINE + text);
            err.flush();
            progressShown = true;
        }
    }

    /** Takes the progress line away. */
    public synchronized void endProgress() {
        if (progressShown) {
            err.print(CLEAR_LINE);
            err.flush();
            progressShown = false;
        }
    }

    /** Standard output as the command-line parser wants it, for help texts. */
    public PrintWriter outWriter() {
        return new PrintWriter(out, true, StandardCharsets.UTF_8);
    }

    /** Standard error as the command-line parser wants it. */
    public PrintWriter errWriter() {
        return err;
    }
}
