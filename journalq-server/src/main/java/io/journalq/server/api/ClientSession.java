package io.journalq.server.api;

import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.network.Connection;
import io.journalq.server.security.ClientThrottles;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.util.AttributeKey;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What is kept for one connection between its requests. On the connection's loop. */
final class ClientSession {
    private static final Logger log = LoggerFactory.getLogger(ClientSession.class);
    private static final AttributeKey<ClientSession> KEY = AttributeKey.valueOf(ClientSession.class, "session");

    /** What an open connection takes of the heap without its requests, about. */
    static final int CONNECTION_BYTES = 4_000;

    /** Longest name of a client that is kept for its next request. */
    private static final int MAX_KEPT_NAME_BYTES = 256;

    private final RequestThrottle throttle;
    private final MemoryAccount memory;
    private final Map<Class<?>, Object> states = new HashMap<>();
    private ByteBuf clientIdBytes = Unpooled.EMPTY_BUFFER;
    private String clientId = "";

    private ClientSession(RequestThrottle throttle, MemoryAccount memory) {
        this.throttle = throttle;
        this.memory = memory;
    }

    static ClientSession of(Connection connection, ClientThrottles throttles, MemoryAccount memory) {
        ClientSession session = connection.channel().attr(KEY).get();
        if (session == null) {
            ClientSession created = new ClientSession(new RequestThrottle(connection, throttles), memory);
            memory.add(CONNECTION_BYTES);
            connection.channel().attr(KEY).set(created);
            connection.channel().closeFuture().addListener(closed -> created.close());
            session = created;
        }
        return session;
    }

    /** What holds the client to its quotas. */
    RequestThrottle throttle() {
        return throttle;
    }

    /** The name in {@code bytes}; the same string as last time when it is the same name, as it nearly always is. */
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

    private void close() {
        for (Object state : states.values()) {
            if (state instanceof AutoCloseable closeable) {
                try {
                    closeable.close();
                } catch (Exception failure) {
                    log.error("cannot close a connection's state", failure);
                }
            }
        }
        states.clear();
        memory.add(-CONNECTION_BYTES);
    }
}
