package io.journalq.server.broker;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.MessageReader;
import io.journalq.common.protocol.frame.Frames;
import io.journalq.common.protocol.message.ApiMessages;
import io.journalq.common.protocol.message.ResponseHeader;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.function.Consumer;

/**
 * Thousands of sockets of one thread, each with requests in flight. To the broker they look like thousands of clients,
 * but they need no threads. Responses are read in {@link #poll}. One thread.
 */
final class MemberSockets implements AutoCloseable {
    private static final int FIRST_BUFFER_SIZE_BYTES = 1 << 10;

    private final int port;
    private final Selector selector;
    private final List<Connection> connections = new ArrayList<>();

    MemberSockets(int port) throws IOException {
        this.port = port;
        this.selector = Selector.open();
    }

    /** A new connection. */
    Connection connect() throws IOException {
        SocketChannel channel = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.configureBlocking(false);
        Connection connection = new Connection(channel);
        channel.register(selector, SelectionKey.OP_READ, connection);
        connections.add(connection);
        return connection;
    }

    /** Reads the responses that have arrived, or that arrive within the given time. */
    void poll(long timeoutMs) throws IOException {
        selector.select(key -> ((Connection) key.attachment()).read(), timeoutMs);
    }

    @Override
    public void close() throws IOException {
        for (Connection connection : connections) {
            connection.channel.close();
        }
        selector.close();
    }

    /** A request that waits for its response. */
    private record Waiting(int correlationId, ApiKey key, short version, Consumer<ApiMessage> taken) {}

    /** One socket. */
    static final class Connection {
        private final SocketChannel channel;
        private final Queue<Waiting> waiting = new ArrayDeque<>();
        private ByteBuffer received = ByteBuffer.allocate(FIRST_BUFFER_SIZE_BYTES);
        private int correlationId;

        private Connection(SocketChannel channel) {
            this.channel = channel;
        }

        /** Sends a request; its response is passed to {@code taken}. */
        <T extends ApiMessage> void send(ApiMessage request, int version, Class<T> type, Consumer<T> taken) {
            correlationId++;
            waiting.add(new Waiting(
                    correlationId, request.apiKey(), (short) version, response -> taken.accept(type.cast(response))));
            try {
                ByteBuffer frame = ByteBuffer.wrap(WireClient.frame(correlationId, request, version));
                while (frame.hasRemaining()) {
                    channel.write(frame);
                }
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            }
        }

        private void read() {
            try {
                if (channel.read(received) < 0) {
                    throw new IOException("the broker closed a connection");
                }
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            }
            received.flip();
            while (received.remaining() >= Integer.BYTES
                    && received.remaining() - Integer.BYTES >= received.getInt(received.position())) {
                byte[] frame = new byte[received.getInt()];
                received.get(frame);
                take(frame);
            }
            received.compact();
            if (!received.hasRemaining()) {
                received = ByteBuffer.allocate(2 * received.capacity()).put(received.flip());
            }
        }

        private void take(byte[] frame) {
            Waiting next = waiting.remove();
            MessageReader reader = new MessageReader(Unpooled.wrappedBuffer(frame));
            ResponseHeader header = Frames.readResponseHeader(reader, next.key(), next.version());
            if (header.correlationId() != next.correlationId()) {
                throw new AssertionError("responses in another order than requests");
            }
            ApiMessage response = ApiMessages.readResponse(next.key(), reader, next.version());
            reader.expectEnd();
            next.taken().accept(response);
        }
    }
}
