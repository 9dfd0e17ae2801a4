package io.journalq.bench.load;

import io.journalq.bench.BenchException;
import io.journalq.bench.driver.ConnectionSecurity;
import io.journalq.bench.measure.Latency;
import io.netty.handler.ssl.SslContext;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * Readers of the server-sent events of a topic. Each must get each message once, and the checksum of each is checked. Runs
 * in its own thread.
 */
final class EventReaders implements Runnable, AutoCloseable {
    private static final int BUFFER_BYTES = 32 * 1024;
    private static final long SELECT_TIMEOUT_MS = 100;
    private static final long OPEN_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(60);
    /** The first event, which has no message: the position of the reader. */
    private static final String OPENED = "\nid: ";

    private final Selector selector = Selector.open();
    private final List<Reader> readers = new ArrayList<>();
    private final CheckedMessages messages;
    private final Received received = new Received();
    private final Histogram latencies = new Histogram(Latency.HIGHEST_NS, Latency.DIGITS);
    private volatile Timetable times;
    private volatile boolean closed;
    private int opened;

    /** Connects, and returns when the broker has responded to each reader. */
    EventReaders(
            InetSocketAddress address, ConnectionSecurity security, String topic, int count, CheckedMessages messages)
            throws IOException {
        this.messages = messages;
        byte[] request = ("GET /v1/topics/" + topic + "/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
                .getBytes(StandardCharsets.US_ASCII);
        try {
            SslContext tls = security.loadContext();
            for (int i = 0; i < count; i++) {
                readers.add(new Reader(LoadSocket.connect(address, tls), request));
            }
            long endNs = System.nanoTime() + OPEN_TIMEOUT_NS;
            while (opened < count) {
                if (System.nanoTime() - endNs > 0) {
                    throw new BenchException(
                            "only " + opened + " of " + count + " streams of events have begun",
                            "see the broker's log");
                }
                turn();
            }
        } catch (IOException | RuntimeException failed) {
            close();
            throw failed;
        }
    }

    /** Forgets what was received, and expects messages at these times. Only while nothing is sent. */
    void begin(Timetable newTimes) {
        messages.reset();
        latencies.reset();
        readers.forEach(reader -> reader.seen.clear());
        received.reset();
        times = newTimes;
    }

    /** Waits until each reader has received {@code count} messages. */
    void await(int count, long timeoutNs) {
        received.await((long) count * readers.size(), timeoutNs);
    }

    int count() {
        return readers.size();
    }

    /** The times from when messages were due until readers had them. Only while nothing is sent. */
    Histogram latencies() {
        return latencies;
    }

    @Override
    public void run() {
        try {
            while (!closed) {
                turn();
            }
        } catch (IOException | RuntimeException failed) {
            received.fail(failed.toString());
        }
    }

    private void turn() throws IOException {
        try {
            selector.select(SELECT_TIMEOUT_MS);
            for (SelectionKey key : selector.selectedKeys()) {
                ((Reader) key.attachment()).read();
            }
            selector.selectedKeys().clear();
        } catch (ClosedSelectorException e) {
            throw new EOFException("closed");
        }
    }

    @Override
    public void close() throws IOException {
        closed = true;
        for (Reader reader : readers) {
            reader.socket.close();
        }
        selector.close();
    }

    private final class Reader {
        private final LoadSocket socket;
        private final ByteBuffer in = ByteBuffer.allocate(BUFFER_BYTES);
        private final BitSet seen = new BitSet();
        private boolean open;

        Reader(LoadSocket socket, byte[] request) throws IOException {
            this.socket = socket;
            socket.register(selector, this);
            if (!socket.write(ByteBuffer.wrap(request))) {
                throw new IOException("a new connection took no request");
            }
        }

        void read() throws IOException {
            do {
                if (socket.read(in) < 0) {
                    throw new EOFException("the broker closed a stream of events");
                }
                if (open) {
                    take(System.nanoTime());
                } else {
                    takeHead();
                }
            } while (socket.hasMore());
        }

        private void takeHead() throws IOException {
            if (Responses.headBytes(in) < 0) {
                return;
            }
            String head = Responses.text(in, in.position());
            if (!head.startsWith("HTTP/1.1 200 ")) {
                throw new IOException("the gateway refused a reader: " + head);
            }
            if (head.contains(OPENED)) {
                open = true;
                opened++;
                in.clear();
            }
        }

        private void take(long nowNs) throws IOException {
            byte[] bytes = in.array();
            int end = in.position();
            int taken = 0;
            int count = 0;
            int next = JsonValues.next(bytes, taken, end);
            while (next >= 0 && next + messages.messageBytes() <= end) {
                int number = messages.arrived(bytes, next, end);
                if (seen.get(number)) {
                    throw new IOException("a reader has received message " + number + " twice");
                }
                seen.set(number);
                latencies.recordValue(Math.min(Latency.HIGHEST_NS, nowNs - times.dueNs(number)));
                count++;
                taken = next + messages.messageBytes();
                next = JsonValues.next(bytes, taken, end);
            }
            // What is left can be the beginning of a value, or of what stands before it.
            int keep = next >= 0 ? next - JsonValues.PREFIX_BYTES : Math.max(taken, end - JsonValues.PREFIX_BYTES);
            in.limit(end).position(keep).compact();
            received.add(count);
        }
    }
}
