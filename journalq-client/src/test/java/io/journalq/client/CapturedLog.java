package io.journalq.client;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** What the client logs through {@link System.Logger}, whose backend in tests is {@code java.util.logging}. */
final class CapturedLog extends Handler implements AutoCloseable {
    // The log manager holds loggers weakly.
    private final Logger logger = Logger.getLogger("io.journalq.client");
    private final List<LogRecord> records = new CopyOnWriteArrayList<>();

    CapturedLog() {
        logger.setUseParentHandlers(false);
        logger.addHandler(this);
    }

    /** The messages so far, in order. */
    List<String> lines() {
        return records.stream().map(LogRecord::getMessage).toList();
    }

    /** The messages so far that contain a text. */
    List<String> lines(String text) {
        return lines().stream().filter(line -> line.contains(text)).toList();
    }

    /** The names of the loggers so far, and their levels. */
    List<String> origins() {
        return records.stream()
                .map(written -> written.getLoggerName() + " " + written.getLevel())
                .distinct()
                .toList();
    }

    @Override
    public void publish(LogRecord written) {
        if (written.getLevel().intValue() >= Level.INFO.intValue()) {
            records.add(written);
        }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
        logger.removeHandler(this);
        logger.setUseParentHandlers(true);
    }
}
