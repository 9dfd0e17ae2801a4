package io.journalq.cli.shell;

import io.netty.buffer.ByteBuf;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * The three streams of a command, always in UTF-8. Standard output is buffered until {@link #flush()}. One thread
 * writes results; any thread may write progress and errors.
 */
public final class Terminal {
    /**
     * The reader of standard output has closed it, as in {@code | head}. This ends the command, but is not an error.
     */
    public static final class OutputClosed extends RuntimeException {
        private static final long serialVersionUID = 1L;

        public OutputClosed() {
            super("standard output was closed", null, false, false);
        }
    }

    /**
     * The streams that are a terminal, as in {@code 012}. The start script sets it, because Java 17 cannot determine
     * it.
     */
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
     * Creates the streams of a command.
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

    /** Whether a person types the input and may need a prompt. */
    public boolean readsFromPerson() {
        return readsFromPerson;
    }

    /** Whether a person watches the output, so that no progress may be written between its lines. */
    public boolean writesToPerson() {
        return writesToPerson;
    }

    /**
     * Text of others on one line, such as the name of a group or what a client has sent. A terminal would obey control
     * characters in it.
     */
    public static String printable(String text) {
        StringBuilder printable = new StringBuilder(text.length());
        text.codePoints().forEach(point -> printable.appendCodePoint(Character.isISOControl(point) ? '.' : point));
        return printable.toString();
    }

    /** Writes a line of the result. */
    public void printLine(String line) {
        print(line + "\n");
    }

    /** Writes a part of the result. */
    public void print(String text) {
        write(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Writes bytes of the result. */
    public void write(byte[] bytes) {
        try {
            out.write(bytes);
        } catch (IOException failed) {
            throw notWritten(failed);
        }
    }

    /** Writes the readable bytes of a buffer without changing its indexes. */
    public void write(ByteBuf bytes) {
        try {
            out.write(bytes);
        } catch (IOException failed) {
            throw notWritten(failed);
        }
    }

    /** Writes a byte of the result. */
    public void write(char ascii) {
        try {
            out.write(ascii);
        } catch (IOException failed) {
            throw notWritten(failed);
        }
    }

    /**
     * Returns what a failed write to standard output means: its reader has closed it, or the result is incomplete, for
     * example because the disk is full.
     */
    public static RuntimeException notWritten(IOException failed) {
        String reason = String.valueOf(failed.getMessage());
        // Java has no exception of its own for EPIPE, and the text can be in the language of the user.
        return reason.toLowerCase(Locale.ROOT).contains("pipe")
                ? new OutputClosed()
                : new CommandFailure("cannot write to standard output: " + reason + "; the result is incomplete");
    }

    /** Standard output as a stream. Closing it only flushes. */
    public OutputStream stream() {
        return out;
    }

    /** Writes the buffered output. */
    public void flush() {
        try {
            out.flush();
        } catch (IOException failed) {
            throw notWritten(failed);
        }
    }

    /**
     * Writes a line to standard error, which can contain texts of others. Replaces the progress line, if there is one.
     */
    public synchronized void tell(String line) {
        endProgress();
        err.println(printable(line));
    }

    /** Writes a warning to standard error. */
    public void warn(String text) {
        tell("journalq: warning: " + text);
    }

    /** Replaces the progress line. It is shown only on a terminal. */
    public synchronized void showProgress(String text) {
        if (showsProgress) {
            err.print(CLEAR_LINE + printable(text));
            err.flush();
            progressShown = true;
        }
    }

    /** Removes the progress line. */
    public synchronized void endProgress() {
        if (progressShown) {
            err.print(CLEAR_LINE);
            err.flush();
            progressShown = false;
        }
    }

    /** Standard output for help texts of the command-line parser. */
    public PrintWriter outWriter() {
        return new PrintWriter(out, true, StandardCharsets.UTF_8);
    }

    /** Standard error for the command-line parser. */
    public PrintWriter errWriter() {
        return err;
    }
}
