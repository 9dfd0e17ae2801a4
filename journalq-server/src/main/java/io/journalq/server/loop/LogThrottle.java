package io.journalq.server.loop;

import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;

/**
 * Limits warnings of one kind that clients can cause, by default to {@value #MAX_LINES_A_SECOND} a second, so that a
 * flood of requests does not flood the log. Any thread.
 */
public final class LogThrottle {
    static final int MAX_LINES_A_SECOND = 10;

    private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Logger log;
    private final int maxLinesASecond;
    private long secondBeganNanos = System.nanoTime();
    private int linesInSecond;
    private long omitted;

    public LogThrottle(Logger log) {
        this(log, MAX_LINES_A_SECOND);
    }

    /** A throttle with another limit. */
    public LogThrottle(Logger log, int maxLinesASecond) {
        this.log = log;
        this.maxLinesASecond = maxLinesASecond;
    }

    /** Logs a warning: what happened, to or by which client, and why. The reason may contain text from the client. */
    public void warn(String what, Object client, String reason) {
        long omittedSince;
        synchronized (this) {
            long nowNanos = System.nanoTime();
            if (nowNanos - secondBeganNanos >= SECOND_NANOS) {
                secondBeganNanos = nowNanos;
                linesInSecond = 0;
            }
            if (linesInSecond == maxLinesASecond) {
                omitted++;
                return;
            }
            linesInSecond++;
            omittedSince = omitted;
            omitted = 0;
        }
        String rest = omittedSince == 0 ? "" : " omittedSince=" + omittedSince;
        log.warn("{}: client={} reason=\"{}\"{}", what, client, printable(String.valueOf(reason)), rest);
    }

    /** Escapes the text of a client, so that it cannot end the line or the quotes. */
    private static String printable(String text) {
        StringBuilder safe = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            safe.append(c >= ' ' && c < 0x7f && c != '"' ? c : '?');
        }
        return safe.toString();
    }
}
