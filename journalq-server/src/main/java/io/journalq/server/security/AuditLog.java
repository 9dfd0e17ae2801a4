package io.journalq.server.security;

import io.journalq.common.id.Uuid;
import io.journalq.server.security.Authorizer.Asker;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HexFormat;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes decisions on rights, and logins that were refused, to the logger {@code journalq.audit}, one JSON object in a
 * line. Each event has a random id, which a client that was refused gets instead of the reason. Each line contains the
 * hash of the line before it ({@link AuditChain}), so that a line that is changed, removed or moved is noticed. Events
 * wait in a bounded queue; those that do not fit are counted, and the next line says how many they were. Any thread.
 */
public final class AuditLog {
    /** The name of the logger. */
    public static final String LOGGER = "journalq.audit";

    /** Writes nothing. */
    public static final AuditLog OFF = new AuditLog(null, null, null, false, line -> {});

    /** Maximum number of events that wait to be written. */
    static final int MAX_WAITING = 10_000;

    /** Maximum length of a name in a line, in characters. */
    static final int MAX_NAME_LENGTH = 1_024;

    private static final Logger log = LoggerFactory.getLogger(LOGGER);

    private final Clock clock;
    private final Executor writer;
    private final Supplier<Uuid> ids;
    private final boolean logsAllowed;
    private final Consumer<String> lines;
    private final AtomicLong dropped = new AtomicLong();
    private final Deque<Event> waiting = new ArrayDeque<>();
    /** Whether a task that writes is running or scheduled. */
    private boolean writing;
    /** Used by the task that writes only, one at a time. */
    private AuditChain chain;

    private long droppedInLines;

    /**
     * A decision.
     *
     * @param principal who asks, or for a login, who the client claims to be
     * @param right null for a login
     * @param name of the resource; for a login, of the mechanism
     */
    private record Event(
            Instant time,
            String id,
            boolean allowed,
            String principal,
            Asker asker,
            Right right,
            String name,
            String reason) {}

    private AuditLog(Clock clock, Executor writer, Supplier<Uuid> ids, boolean logsAllowed, Consumer<String> lines) {
        this.clock = clock;
        this.writer = writer;
        this.ids = ids;
        this.logsAllowed = logsAllowed;
        this.lines = lines;
    }

    /**
     * Creates a log.
     *
     * @param writer runs the task that writes, which may block
     * @param ids supplies random ids
     * @param logsAllowed whether operations that are allowed are logged, too
     */
    public static AuditLog to(Clock clock, Executor writer, Supplier<Uuid> ids, boolean logsAllowed) {
        return new AuditLog(clock, writer, ids, logsAllowed, log::info);
    }

    /** As {@link #to(Clock, Executor, Supplier, boolean)}, with another receiver of lines. */
    static AuditLog to(Clock clock, Executor writer, Supplier<Uuid> ids, boolean logsAllowed, Consumer<String> lines) {
        return new AuditLog(clock, writer, ids, logsAllowed, lines);
    }

    /** Number of events that did not fit into the queue. */
    public long dropped() {
        return dropped.get();
    }

    void allowed(Asker asker, Right right, String name, String reason) {
        if (logsAllowed) {
            add(true, asker.principal().toString(), asker, right, name, reason);
        }
    }

    /** A client does not have a right. Returns the id of the event; null if it is not logged. */
    String denied(Asker asker, Right right, String name, String reason) {
        return add(false, asker.principal().toString(), asker, right, name, reason);
    }

    /**
     * A login was refused.
     *
     * @param user the user that the client claims to be; null if it has named none
     * @param mechanism by which the client wanted to prove that
     * @param reason a constant text, without anything that the client has sent
     * @return the id of the event; null if it is not logged
     */
    public String loginRefused(Asker asker, String user, String mechanism, String reason) {
        Principal claimed = user == null ? Principal.ANONYMOUS : Principal.user(shortened(user));
        return add(false, claimed.toString(), asker, null, mechanism, reason);
    }

    private String add(boolean allowed, String principal, Asker asker, Right right, String name, String reason) {
        if (writer == null) {
            return null;
        }
        String id = HexFormat.of().toHexDigits(ids.get().leastSignificantBits());
        Event event =
                new Event(clock.instant(), id, allowed, principal, shortened(asker), right, shortened(name), reason);
        synchronized (waiting) {
            if (waiting.size() >= MAX_WAITING) {
                dropped.incrementAndGet();
                return null;
            }
            waiting.add(event);
            if (writing) {
                return id;
            }
            writing = true;
        }
        try {
            writer.execute(this::write);
        } catch (RejectedExecutionException closing) {
            write();
        } catch (OutOfMemoryError noThread) {
            // The next event tries again. The decision does not depend on it.
            synchronized (waiting) {
                writing = false;
            }
        }
        return id;
    }

    /** A client chooses its id, which may be long. Events that wait keep no more of it than their lines contain. */
    private static Asker shortened(Asker asker) {
        String id = asker.clientId();
        return id == null || id.length() <= MAX_NAME_LENGTH
                ? asker
                : new Asker(asker.principal(), asker.host(), asker.api(), shortened(id), asker.correlationId());
    }

    private static String shortened(String name) {
        return name.length() <= MAX_NAME_LENGTH ? name : name.substring(0, MAX_NAME_LENGTH);
    }

    private void write() {
        while (true) {
            Event event;
            synchronized (waiting) {
                event = waiting.poll();
                if (event == null) {
                    writing = false;
                    return;
                }
            }
            if (chain == null) {
                chain = new AuditChain();
            }
            try {
                lines.accept(chain.next(json(event)));
            } catch (RuntimeException | Error unwritten) {
                // Events behind this one must not wait forever.
                dropped.incrementAndGet();
            }
        }
    }

    /** The fields of an event, without braces. */
    private String json(Event event) {
        long droppedNow = dropped.get();
        StringBuilder json = new StringBuilder(300);
        field(json, "time", event.time().toString());
        field(json, "event", event.id());
        field(json, "result", event.allowed() ? "ALLOWED" : "DENIED");
        field(json, "principal", event.principal());
        field(json, "host", event.asker().host());
        field(json, "api", event.asker().api());
        if (event.asker().clientId() != null) {
            field(json, "clientId", event.asker().clientId());
        }
        json.append(",\"correlationId\":").append(event.asker().correlationId());
        if (event.right() == null) {
            field(json, "mechanism", event.name());
            field(json, "reason", event.reason());
        } else {
            field(json, "operation", event.right().operation().name());
            field(json, "resourceType", event.right().type().name());
            field(json, "resourceName", event.name());
            field(json, "rule", event.reason());
        }
        if (droppedNow > droppedInLines) {
            json.append(",\"dropped\":").append(droppedNow - droppedInLines);
            droppedInLines = droppedNow;
        }
        return json.toString();
    }

    private static void field(StringBuilder json, String name, String value) {
        json.append(json.isEmpty() ? "\"" : ",\"").append(name).append("\":\"");
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '"' || c == '\\') {
                json.append('\\').append(c);
            } else if (c < ' ' || c > '~') {
                json.append(String.format("\\u%04x", (int) c));
            } else {
                json.append(c);
            }
        }
        json.append('"');
    }

    /** The hash of a text, in hexadecimal digits. */
    static String hash(String text) {
        try {
            MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
            return HexFormat.of().formatHex(sha256.digest(text.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException("every JDK has SHA-256", missing);
        }
    }
}
