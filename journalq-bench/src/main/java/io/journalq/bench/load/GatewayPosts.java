package io.journalq.bench.load;

import io.journalq.bench.BenchException;
import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Posts prebuilt requests to the HTTP gateway: one request in flight on each of several connections.
 * One thread.
 */
final class GatewayPosts implements AutoCloseable {
    private static final int READ_BUFFER_BYTES = 64 * 1024;
    private static final int SEND_BUFFER_BYTES = 256 * 1024;
    private static final long SELECT_TIMEOUT_MS = 100;
    private static final String LENGTH = "content-length: ";

    private final Selector selector;
    private final List<ByteBuffer> requests;
    private final List<Connection> connections;
    private long posted;
    private long responses;
    private long limit;

    /**
     * Connects.
     *
     * @param tls null for plain connections
     * @param requests complete requests, sent in turns
     */
    GatewayPosts(InetSocketAddress address, SslContext tls, List<ByteBuffer> requests, int connections)
            throws IOException {
        this.selector = Selector.open();
        this.requests = requests;
        this.connections = new ArrayList<>();
        for (int i = 0; i < connections; i++) {
            this.connections.add(new Connection(address, tls));
        }
    }

    /** A complete request with this body. */
    static ByteBuffer request(String topic, String type, String headers, byte[]... body) {
        int bodyBytes = 0;
        for (byte[] part : body) {
            bodyBytes += part.length;
        }
        byte[] head = ("POST /v1/topics/" + topic + "/records HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + type
                        + "\r\n" + headers + "Content-Length: " + bodyBytes + "\r\n\r\n")
                .getBytes(StandardCharsets.US_ASCII);
        ByteBuffer request = ByteBuffer.allocateDirect(head.length + bodyBytes).put(head);
        for (byte[] part : body) {
            request.put(part);
        }
        return request.flip().asReadOnlyBuffer();
    }

    /** Posts a number of requests, and returns when all have their responses. */
    void post(long count) throws IOException {
        limit = posted + count;
        for (Connection connection : connections) {
            connection.sendNext();
        }
        while (responses < limit) {
            turn();
        }
    }

    /** Requests that were sent. */
    long posted() {
        return posted;
    }

    private void turn() throws IOException {
        selector.select(SELECT_TIMEOUT_MS);
        for (SelectionKey key : selector.selectedKeys()) {
            ((Connection) key.attachment()).work();
        }
        selector.selectedKeys().clear();
    }

    @Override
    public void close() throws IOException {
        for (Connection connection : connections) {
            connection.socket.close();
        }
        selector.close();
    }

    private final class Connection {
        private final LoadSocket socket;
        private final SelectionKey key;
        private final ByteBuffer in = ByteBuffer.allocate(READ_BUFFER_BYTES);
        private ByteBuffer out;

        Connection(InetSocketAddress address, SslContext tls) throws IOException {
            socket = LoadSocket.connect(address, tls);
            socket.set(StandardSocketOptions.TCP_NODELAY, true);
            socket.set(StandardSocketOptions.SO_SNDBUF, SEND_BUFFER_BYTES);
            key = socket.register(selector, this);
        }

        void sendNext() throws IOException {
            if (posted < limit) {
                out = requests.get((int) (posted % requests.size())).duplicate();
                posted++;
                write();
            }
        }

        private void write() throws IOException {
            boolean sent = socket.write(out);
            key.interestOps(sent ? SelectionKey.OP_READ : SelectionKey.OP_WRITE | SelectionKey.OP_READ);
        }

        void work() throws IOException {
            if (key.isReadable()) {
                if (socket.read(in) < 0) {
                    throw new BenchException("the gateway closed a connection", "see the broker's log");
                }
                if (isComplete()) {
                    in.clear();
                    responses++;
                    sendNext();
                }
            } else if (key.isWritable()) {
                write();
            }
        }

        /** Whether the response is complete. One that is not 200 ends the load. */
        private boolean isComplete() {
            int headEnd = -1;
            byte[] bytes = in.array();
            for (int i = 3; i < in.position() && headEnd < 0; i++) {
                if (bytes[i] == '\n' && bytes[i - 2] == '\n') {
                    headEnd = i + 1;
                }
            }
            if (headEnd < 0) {
                return false;
            }
            String head = new String(bytes, 0, headEnd, StandardCharsets.US_ASCII);
            int length = head.toLowerCase(Locale.ROOT).indexOf(LENGTH);
            int lengthEnd = head.indexOf('\r', length);
            int bodyBytes = Integer.parseInt(head.substring(length + LENGTH.length(), lengthEnd));
            if (in.position() < headEnd + bodyBytes) {
                return false;
            }
            if (!head.startsWith("HTTP/1.1 200 ")) {
                throw new BenchException(
                        "the gateway refused a request: " + new String(bytes, 0, in.position(), StandardCharsets.UTF_8),
                        "see the broker's log");
            }
            return true;
        }
    }
}
