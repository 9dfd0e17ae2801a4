package io.journalq.server.api;

import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.security.Authorizer.Denial;
import io.journalq.server.security.ClientThrottles;
import io.journalq.server.security.Principal;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The state that the broker keeps for one client between its requests, independent of the transport. On the client's
 * loop.
 */
public final class ClientSession implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(ClientSession.class);

    /** Estimated heap of an open connection, without its requests. */
    static final int CONNECTION_BYTES = 4_000;

    /** Maximum length of a client id that is kept for the next request. */
    private static final int MAX_KEPT_NAME_BYTES = 256;

    /** Changes once: at the login, before any other request is served. */
    private Principal principal;
    /** Null if the client need not log in. */
    private Login login;

    private final KnownRights knownRights;
    private final RequestThrottle throttle;
    private final MemoryAccount memory;
    private final Map<Class<?>, Object> states = new HashMap<>();
    /** Null if the client had the right that was asked for last. */
    private Denial denial;

    private ByteBuf clientIdBytes = Unpooled.EMPTY_BUFFER;
    private String clientId = "";
    private long chargedBytes;
    private boolean closed;

    /**
     * Begins a session, which is charged as one connection in {@code memory}.
     *
     * @param pause delays the next request of a client that exceeded a quota by this number of ms. Any thread
     */
    public ClientSession(Principal principal, ClientThrottles throttles, MemoryAccount memory, IntConsumer pause) {
        this.principal = principal;
        this.throttle = new RequestThrottle(throttles, pause);
        this.memory = memory;
        this.knownRights = new KnownRights(memory);
        memory.add(CONNECTION_BYTES);
    }

    /** The identity of the client. */
    public Principal principal() {
        return principal;
    }

    /** The client has logged in. */
    void logIn(Principal user) {
        principal = user;
        knownRights.forget();
    }

    /** What the client is known to be allowed. */
    KnownRights knownRights() {
        return knownRights;
    }

    /** What the client is told about the newest denial of a right; null if it had that right. */
    String denial() {
        return denial == null ? null : denial.message();
    }

    void setDenial(Denial newest) {
        denial = newest;
    }

    /** Serves the client only within {@code required}. Called before the first request. */
    void require(Login required) {
        login = required;
    }

    /** The login of the client; null if it need not log in. */
    Login login() {
        return login;
    }

    /** Enforces the quotas of the client. */
    RequestThrottle throttle() {
        return throttle;
    }

    /** Decodes a client id. Usually it has the same bytes as last time; then the same string is returned. */
    String clientId(ByteBuf bytes, int index, int sizeBytes) {
        if (sizeBytes != clientIdBytes.readableBytes()
                || !ByteBufUtil.equals(clientIdBytes, 0, bytes, index, sizeBytes)) {
            byte[] copy = ByteBufUtil.getBytes(bytes, index, sizeBytes);
            if (sizeBytes > MAX_KEPT_NAME_BYTES) {
                return new String(copy, StandardCharsets.UTF_8);
            }
            clientIdBytes = Unpooled.wrappedBuffer(copy);
            clientId = new String(copy, StandardCharsets.UTF_8);
        }
        return clientId;
    }

    <T> T state(Class<T> type, Supplier<T> first) {
        Object state = states.get(type);
        if (state == null) {
            state = first.get();
            states.put(type, state);
        }
        return type.cast(state);
    }

    /**
     * Charges memory for what the broker keeps for the client outside of its connections, until the session ends.
     *
     * @param bytes are given back if negative
     * @return whether there is room. If not, nothing is charged
     */
    public boolean charge(long bytes) {
        if (!memory.hasRoom(bytes)) {
            return false;
        }
        chargedBytes += bytes;
        memory.add(bytes);
        return true;
    }

    /** Whether the client has left. */
    public boolean isClosed() {
        return closed;
    }

    /** Closes what handlers keep for the client. Called once. */
    @Override
    public void close() {
        closed = true;
        if (login != null) {
            login.close();
        }
        for (Object state : states.values()) {
            if (state instanceof AutoCloseable closeable) {
                try {
                    closeable.close();
                } catch (Exception failure) {
                    log.error("cannot close the state of a connection", failure);
                }
            }
        }
        states.clear();
        knownRights.close();
        memory.add(-CONNECTION_BYTES - chargedBytes);
    }
}
