package io.journalq.server.broker;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.journalq.server.security.AuditLog;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.LoggerFactory;

/** What the brokers of this process write to the audit log, from the creation of this object on. One thread. */
final class AuditLines implements AutoCloseable {
    private static final long WAIT_SECONDS = 60;
    private static final Pattern EVENT = Pattern.compile("\\(event ([0-9a-f]{16})\\)");

    private final Logger logger = (Logger) LoggerFactory.getLogger(AuditLog.LOGGER);
    private final BlockingQueue<String> arriving = new LinkedBlockingQueue<>();
    private final List<String> seen = new ArrayList<>();
    private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            arriving.add(event.getFormattedMessage());
        }
    };

    AuditLines() {
        appender.start();
        logger.setLevel(Level.INFO);
        logger.setAdditive(false);
        logger.addAppender(appender);
    }

    /** The id of the event that a message to a client names. */
    static String eventIn(String message) {
        Matcher matcher = EVENT.matcher(message);
        if (!matcher.find()) {
            throw new AssertionError("no event in: " + message);
        }
        return matcher.group(1);
    }

    /** The line of the event that a message to a client names, once it has been written. */
    String lineOf(String message) throws InterruptedException {
        String field = "\"event\":\"" + eventIn(message) + "\"";
        for (String line : seen) {
            if (line.contains(field)) {
                return line;
            }
        }
        while (true) {
            String line = arriving.poll(WAIT_SECONDS, TimeUnit.SECONDS);
            if (line == null) {
                throw new AssertionError("the audit log has no line with " + field + ": " + seen);
            }
            seen.add(line);
            if (line.contains(field)) {
                return line;
            }
        }
    }

    /** All lines up to that of the event that a message to a client names, once it has been written. */
    List<String> linesUntil(String message) throws InterruptedException {
        lineOf(message);
        return List.copyOf(seen);
    }

    @Override
    public void close() {
        logger.detachAppender(appender);
        logger.setAdditive(true);
        logger.setLevel(null);
    }
}
