package io.journalq.client.internal.network;

import io.journalq.client.error.ClientClosedException;
import io.journalq.client.error.JournalQException;
import io.journalq.common.protocol.ErrorCode;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * Logs and counts the failures that a client retries, because the application does not learn of them otherwise. Each
 * cause is logged at once and then at most every {@link #INTERVAL_NANOS}, so that a broker that is down for an hour does
 * not fill the log. Leaders and coordinators move routinely, so the errors of a move are logged only if they last. Runs
 * only when something fails. Thread-safe.
 */
public final class FailureLog {
    /** The minimum time between two log lines about the same cause and subject. */
    static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(30);

    /**
     * How long the errors of a move last before they are logged. They belong to the same move if the time between two of
     * them is shorter than this.
     */
    static final long MOVE_NANOS = TimeUnit.SECONDS.toNanos(5);

    /** The maximum number of causes and subjects whose intervals are remembered. The least recent one is dropped. */
    static final int MAX_SUBJECTS = 1_000;

    /** Why the client cannot do its work at the moment. */
    public enum Cause {
        /** No broker can be reached: neither a known one nor a bootstrap address. */
        NO_BROKER,
        /** A topic or partition that the client uses does not exist. */
        UNKNOWN_TOPIC,
        /** A Fetch request failed, or its response contained an error. */
        FAILED_FETCH,
        /** The coordinator of a group or transactional id cannot be reached, or is now another broker. */
        LOST_COORDINATOR,
        /** A broker refused authorization. */
        NOT_AUTHORIZED
    }

    private record Subject(Cause cause, String name) {}

    /** What is remembered about a subject. Guarded by the lock. */
    private static final class History {
        private long firstNanos;
        private long lastNanos;
        private boolean logged;
        private long loggedNanos;
        /** The failures that were not logged since the last line. */
        private long unlogged;

        private History(long nowNanos) {
            this.firstNanos = nowNanos;
            this.lastNanos = nowNanos;
        }
    }

    private final System.Logger logger;
    private final String clientId;
    private final LongSupplier clock;
    private final Map<Cause, LongAdder> counts = new EnumMap<>(Cause.class);
    private final ReentrantLock lock = new ReentrantLock();
    private volatile JournalQException lastFailure;

    // Guarded by lock.
    private final Map<Subject, History> histories = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Subject, History> eldest) {
            return size() > MAX_SUBJECTS;
        }
    };

    /** Creates a log for a client. */
    FailureLog(ClientConfig config) {
        this(System.getLogger(config.api().getName()), config.clientId(), System::nanoTime);
    }

    /**
     * Creates a log.
     *
     * @param clock the current time in nanoseconds, from any origin
     */
    FailureLog(System.Logger logger, String clientId, LongSupplier clock) {
        this.logger = logger;
        this.clientId = clientId;
        this.clock = clock;
        for (Cause cause : Cause.values()) {
            counts.put(cause, new LongAdder());
        }
    }

    /**
     * Counts a failure, and logs it unless its interval has not passed or it may be a routine move. A refused
     * authorization counts as {@link Cause#NOT_AUTHORIZED} as well, and is logged as such.
     *
     * @param subject what fails, such as "group billing"
     */
    public void report(Cause cause, String subject, JournalQException failure) {
        if (failure instanceof ClientClosedException) {
            return;
        }
        count(cause);
        if (cause != Cause.NOT_AUTHORIZED && isRefusal(failure.errorCode())) {
            report(Cause.NOT_AUTHORIZED, subject, failure);
            return;
        }
        boolean ofMove = cause != Cause.UNKNOWN_TOPIC && isOfMove(failure.errorCode());
        long nowNanos = clock.getAsLong();
        long unlogged;
        lock.lock();
        try {
            History history = histories.computeIfAbsent(new Subject(cause, subject), key -> new History(nowNanos));
            if (nowNanos - history.lastNanos >= MOVE_NANOS) {
                history.firstNanos = nowNanos;
            }
            history.lastNanos = nowNanos;
            if (ofMove && nowNanos - history.firstNanos < MOVE_NANOS) {
                history.unlogged++;
                return;
            }
            lastFailure = failure;
            if (history.logged && nowNanos - history.loggedNanos < INTERVAL_NANOS) {
                history.unlogged++;
                return;
            }
            unlogged = history.unlogged;
            history.logged = true;
            history.loggedNanos = nowNanos;
            history.unlogged = 0;
        } finally {
            lock.unlock();
        }
        logger.log(
                System.Logger.Level.WARNING,
                "[" + clientId + "] " + prefix(cause, subject) + failure.getMessage()
                        + (unlogged == 0 ? "" : " (failures not logged before: " + unlogged + ")"));
    }

    /** Reports a failure if it is a refused authorization. */
    public void reportIfRefused(String subject, JournalQException failure) {
        if (isRefusal(failure.errorCode())) {
            report(Cause.NOT_AUTHORIZED, subject, failure);
        }
    }

    /** Counts a failure that is routine and retried at once, so it is not logged. */
    public void count(Cause cause) {
        counts.get(cause).increment();
    }

    /** Returns the number of failures. */
    public long total(Cause cause) {
        return counts.get(cause).sum();
    }

    /** Returns the last failure that was reported, or null. Errors of a move count only if they last. */
    public JournalQException lastFailure() {
        return lastFailure;
    }

    private static String prefix(Cause cause, String subject) {
        return switch (cause) {
            case NO_BROKER -> "no broker of " + subject + " can be reached: ";
            case UNKNOWN_TOPIC -> "";
            case FAILED_FETCH -> "a fetch from " + subject + " failed: ";
            case LOST_COORDINATOR -> "the coordinator of " + subject + " is lost: ";
            case NOT_AUTHORIZED -> "authorization was refused: ";
        };
    }

    /** Whether a leader or coordinator moves, or the broker or the client does not know yet that it has moved. */
    private static boolean isOfMove(ErrorCode error) {
        return switch (error) {
            case NOT_LEADER_OR_FOLLOWER,
                    LEADER_NOT_AVAILABLE,
                    REPLICA_NOT_AVAILABLE,
                    FENCED_LEADER_EPOCH,
                    UNKNOWN_LEADER_EPOCH,
                    OFFSET_NOT_AVAILABLE,
                    UNKNOWN_TOPIC_OR_PARTITION,
                    UNKNOWN_TOPIC_ID,
                    NOT_COORDINATOR,
                    COORDINATOR_NOT_AVAILABLE,
                    COORDINATOR_LOAD_IN_PROGRESS -> true;
            default -> false;
        };
    }

    private static boolean isRefusal(ErrorCode error) {
        return switch (error) {
            case TOPIC_AUTHORIZATION_FAILED,
                    GROUP_AUTHORIZATION_FAILED,
                    CLUSTER_AUTHORIZATION_FAILED,
                    TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
                    DELEGATION_TOKEN_AUTHORIZATION_FAILED,
                    SASL_AUTHENTICATION_FAILED -> true;
            default -> false;
        };
    }
}
