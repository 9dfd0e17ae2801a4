package io.journalq.sim;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.UnsynchronizedAppenderBase;
import io.journalq.sim.disk.SimDisk;
import io.journalq.sim.world.Violations;
import java.io.IOException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.slf4j.LoggerFactory;

/**
 * Finds defects that the broker survives and only logs. An unexpected exception is a defect, an operating error is not.
 * A defect is reported to the simulation that runs on the logging thread, or that has started that thread.
 */
public final class Defects extends UnsynchronizedAppenderBase<ILoggingEvent> {
    private static final Defects LISTENER = new Defects();
    private static final int MAX_WORDS = 2_000;
    private static final ThreadLocal<Violations> VIOLATIONS = new InheritableThreadLocal<>();
    private static final ThreadLocal<Consumer<String>> LOG = new InheritableThreadLocal<>();

    private Defects() {}

    /** Like {@link #listen(Violations, Consumer)}, without a reader of the log. */
    public static void listen(Violations violations) {
        listen(violations, null);
    }

    /**
     * Reports defects of this thread to {@code violations} from now on. Nothing else is logged, unless the environment has
     * {@code JOURNALQ_LOG_LEVEL}. Any thread.
     *
     * @param log takes the errors and warnings of this thread; null for none
     */
    public static synchronized void listen(Violations violations, Consumer<String> log) {
        VIOLATIONS.set(violations);
        LOG.set(log);
        if (!LISTENER.isStarted()) {
            Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
            LISTENER.setContext(root.getLoggerContext());
            LISTENER.start();
            if (System.getenv("JOURNALQ_LOG_LEVEL") == null) {
                root.detachAndStopAllAppenders();
                root.setLevel(Level.WARN);
            }
            root.addAppender(LISTENER);
        }
    }

    @Override
    protected void append(ILoggingEvent event) {
        IThrowableProxy thrown = event.getThrowableProxy();
        Violations mine = VIOLATIONS.get();
        Consumer<String> log = LOG.get();
        if (log != null && event.getLevel().isGreaterOrEqual(Level.WARN)) {
            log.accept(event.getFormattedMessage());
        }
        if (mine != null && thrown != null && event.getLevel().isGreaterOrEqual(Level.ERROR) && isDefect(thrown)) {
            mine.report("NoDefects", event.getFormattedMessage() + ": " + ThrowableProxyUtil.asString(thrown));
        }
    }

    private static boolean isDefect(IThrowableProxy thrown) {
        try {
            Class<?> type = Class.forName(thrown.getClassName());
            if (CompletionException.class.isAssignableFrom(type) && thrown.getCause() != null) {
                return isDefect(thrown.getCause());
            }
            boolean expected = IOException.class.isAssignableFrom(type)
                    || java.io.UncheckedIOException.class.isAssignableFrom(type)
                    || RejectedExecutionException.class.isAssignableFrom(type)
                    || SimDisk.Crash.class.isAssignableFrom(type);
            return !expected;
        } catch (ClassNotFoundException unknown) {
            return true;
        }
    }

    static String describe(Throwable defect) {
        java.io.StringWriter text = new java.io.StringWriter();
        defect.printStackTrace(new java.io.PrintWriter(text));
        String all = text.toString();
        return all.substring(0, Math.min(MAX_WORDS, all.length()));
    }
}
