package io.journalq.bench.load;

import io.journalq.bench.BenchException;
import io.journalq.bench.driver.ConnectionSecurity;
import io.journalq.bench.measure.MetricsPage;
import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Clients of the HTTP gateway that are a burden: readers that subscribe to a topic and read nothing, every second one over a
 * WebSocket and the others as server-sent events, and posters whose bodies arrive slowly. The bodies are documents of JSON,
 * which the broker must hold until they are complete. Posters send at different times.
 */
public final class StuckClients implements AutoCloseable {
    private static final int RESPONSE_BYTES = 4096;
    /** It takes 64 s to arrive. */
    private static final int BODY_BYTES = 128 * 1024;
    /** Twice the slowest rate at which the broker lets a body arrive. */
    private static final int PART_BYTES = 512;

    private static final long ROUND_NANOS = TimeUnit.MILLISECONDS.toNanos(250);
    /** More than the kernel holds for a connection within a machine. */
    private static final int FILLING_BYTES = 8 * 1024 * 1024;
    /** The broker takes no more in a request. */
    private static final int MAX_FILLING_MESSAGES = 100_000;

    private static final long STUCK_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** Looks that find that nothing was read since the one before. Readers that wait for memory go on earlier. */
    private static final int QUIET_LOOKS = 3;

    private static final long STOP_TIMEOUT_MS = 10_000;
    private static final long CREDIT = 1_000_000_000;

    private final List<LoadSocket> readers = new ArrayList<>();
    private final List<LoadSocket> posters = new ArrayList<>();
    private final Thread thread = new Thread(this::post, "slow-posters");
    private volatile boolean closed;
    private volatile IOException failure;

    /**
     * Connects. {@code security} says how to connect to {@code address}, which is that of the gateway.
     *
     * @param topic that readers read and posters append to
     */
    public StuckClients(
            InetSocketAddress address, ConnectionSecurity security, String topic, int readerCount, int posterCount)
            throws IOException {
        byte[] events = ascii("GET /v1/topics/" + topic + "/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
        byte[] upgrade = WebSocketFrame.upgrade("/v1/ws", "Sec-WebSocket-Protocol: journalq.json.v1\r\n");
        byte[] subscription = WebSocketFrame.of(
                WebSocketFrame.TEXT, "{\"type\":\"subscribe\",\"topic\":\"" + topic + "\",\"credit\":" + CREDIT + "}");
        byte[] post = ascii("POST /v1/topics/" + topic + "/records HTTP/1.1\r\nHost: localhost\r\n"
                + "Content-Type: application/json\r\nContent-Length: " + BODY_BYTES + "\r\n\r\n"
                + "{\"records\":[{\"value\":\"");
        try {
            SslContext tls = security.loadContext();
            for (int i = 0; i < readerCount; i++) {
                LoadSocket reader = LoadSocket.connect(address, tls);
                readers.add(reader);
                if (i % 2 == 0) {
                    send(reader, events);
                } else {
                    send(reader, upgrade);
                    send(reader, subscription);
                }
            }
            for (int i = 0; i < posterCount; i++) {
                LoadSocket poster = LoadSocket.connect(address, tls);
                posters.add(poster);
                send(poster, post);
            }
        } catch (IOException | RuntimeException failed) {
            close();
            throw failed;
        }
        thread.setDaemon(true);
        thread.start();
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static void send(LoadSocket socket, byte[] bytes) throws IOException {
        if (!socket.write(ByteBuffer.wrap(bytes))) {
            throw new IOException("the broker does not read what a client sends");
        }
    }

    private void post() {
        byte[] part = ascii("x".repeat(PART_BYTES));
        try {
            long dueNanos = System.nanoTime();
            for (int next = 0; !closed; next++) {
                if (!posters.isEmpty()) {
                    send(posters.get(next % posters.size()), part);
                }
                dueNanos += ROUND_NANOS / Math.max(1, posters.size());
                while (!closed && dueNanos - System.nanoTime() > 0) {
                    LockSupport.parkNanos(dueNanos - System.nanoTime());
                }
            }
        } catch (IOException failed) {
            failure = closed ? null : failed;
        }
    }

    /**
     * Appends so much to the topic that the sockets of all readers are full, and returns when the broker has stopped to
     * read the topic for them.
     *
     * @param metricsAddress {@code host:port} of the broker's metrics
     */
    public static void fill(LoadTarget batches, int messageBytes, String metricsAddress) throws IOException {
        int count = Math.min(MAX_FILLING_MESSAGES, Math.max(1, FILLING_BYTES / messageBytes));
        ByteBuffer request = batches.request(0, new CheckedMessages(messageBytes, count), 0, count);
        try (RequestSender sender = new RequestSender(batches, List.of(request), 1)) {
            sender.send(1);
        }
        MetricsPage page = new MetricsPage(metricsAddress);
        long endNs = System.nanoTime() + STUCK_TIMEOUT_NS;
        long before;
        long read = -1;
        int quiet = 0;
        while (quiet < QUIET_LOOKS) {
            if (System.nanoTime() - endNs > 0) {
                throw new BenchException("the readers are not stuck after 60 s", "see the broker's log");
            }
            before = read;
            LockSupport.parkNanos(LOOK_NANOS);
            page.load();
            read = page.sum("journalq_gateway_read_records_total");
            quiet = read >= 0 && read == before ? quiet + 1 : 0;
        }
    }

    /** Throws if the broker has responded to a poster, or has closed its connection. */
    public void requireWaiting() throws IOException {
        for (LoadSocket poster : posters) {
            ByteBuffer in = ByteBuffer.allocate(RESPONSE_BYTES);
            if (poster.read(in) != 0) {
                throw new BenchException(
                        "the broker ended a slow request: " + Responses.text(in, in.position()),
                        "see the broker's log");
            }
        }
        if (failure != null) {
            throw new BenchException("a slow request failed: " + failure.getMessage(), "see the broker's log");
        }
    }

    @Override
    public void close() throws IOException {
        closed = true;
        try {
            LockSupport.unpark(thread);
            thread.join(STOP_TIMEOUT_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        for (LoadSocket reader : readers) {
            reader.close();
        }
        for (LoadSocket poster : posters) {
            poster.close();
        }
    }
}
