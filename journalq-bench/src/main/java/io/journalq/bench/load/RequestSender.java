package io.journalq.bench.load;

import io.journalq.bench.BenchException;
import io.journalq.bench.measure.Latency;
import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/** Sends prebuilt requests: one request in flight on each of several connections. One thread. */
final class RequestSender implements AutoCloseable {
    private static final int READ_BUFFER_BYTES = 64 * 1024;
    private static final int SEND_BUFFER_BYTES = 256 * 1024;
    private static final long SELECT_TIMEOUT_MS = 100;
    private static final long NANOS_PER_MS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long RESPONSE_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(60);

    private final LoadTarget target;
    private final Selector selector;
    private final List<ByteBuffer> requests;
    private final List<Connection> connections = new ArrayList<>();
    private int[] sent;
    private long posted;
    private long completed;
    private long limit;
    private long progressNs;
    private int nextConnection;
    /** Null unless requests are sent at a rate. */
    private Paced paced;

    /** The rate of requests. The number of the first one is {@code first}. */
    private record Paced(long first, Timetable times, Histogram latencies) {}

    /**
     * Connects.
     *
     * @param requests complete requests
     */
    RequestSender(LoadTarget target, List<ByteBuffer> requests, int connections) throws IOException {
        this.target = target;
        this.selector = Selector.open();
        this.requests = requests;
        this.sent = new int[requests.size()];
        for (int i = 0; i < connections; i++) {
            this.connections.add(new Connection(i));
        }
    }

    /** Sends a number of requests, and returns when all have their responses. */
    void send(long count) throws IOException {
        limit = posted + count;
        progressNs = System.nanoTime();
        for (Connection connection : connections) {
            if (!connection.waits) {
                connection.sendNext();
            }
        }
        while (completed < limit) {
            turn(SELECT_TIMEOUT_MS);
        }
    }

    /**
     * Sends a number of requests, each at its time or as soon as a connection is free after that. Returns when all have
     * their responses.
     *
     * @param latencies gets the times from when the requests were due until their responses were read
     */
    void send(long count, Timetable times, Histogram latencies) throws IOException {
        paced = new Paced(posted, times, latencies);
        long end = posted + count;
        progressNs = System.nanoTime();
        while (completed < end) {
            long nowNs = System.nanoTime();
            limit = Math.min(end, paced.first + times.dueBy(nowNs));
            for (int i = 0; posted < limit && i < connections.size(); i++) {
                nextConnection = nextConnection + 1 == connections.size() ? 0 : nextConnection + 1;
                if (!connections.get(nextConnection).waits) {
                    connections.get(nextConnection).sendNext();
                }
            }
            long leftNs = limit == end ? RESPONSE_TIMEOUT_NS : times.dueNs(limit - paced.first) - System.nanoTime();
            if (completed == posted) {
                LockSupport.parkNanos(leftNs);
            } else {
                turn(Math.min(SELECT_TIMEOUT_MS, leftNs / NANOS_PER_MS));
            }
        }
        paced = null;
    }

    /** How often each of the requests was sent since the last call. */
    int[] takeCounts() {
        int[] counts = sent;
        sent = new int[requests.size()];
        return counts;
    }

    /** Waits for a connection, with a timeout of 0 not at all. */
    private void turn(long timeoutMs) throws IOException {
        if ((timeoutMs > 0 ? selector.select(timeoutMs) : selector.selectNow()) > 0) {
            progressNs = System.nanoTime();
        } else if (System.nanoTime() - progressNs > RESPONSE_TIMEOUT_NS) {
            throw new BenchException("the broker did not respond for 60 s", "see its log");
        }
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
        private final int number;
        private final LoadSocket socket;
        private final SelectionKey key;
        private final Responses responses;
        private final Iterator<ByteBuffer> opening;
        private final ByteBuffer in = ByteBuffer.allocate(READ_BUFFER_BYTES);
        private final Queue<ByteBuffer> out = new ArrayDeque<>();
        /** Whether a response is outstanding. */
        private boolean waits;
        /** Whether that is the response to a request. */
        private boolean requested;
        /** When the request was due, if there is a rate. */
        private long dueNs;

        Connection(int number) throws IOException {
            this.number = number;
            responses = target.responses(number);
            opening = responses.opening().iterator();
            socket = LoadSocket.connect(target.address(), target.tls());
            socket.set(StandardSocketOptions.TCP_NODELAY, true);
            socket.set(StandardSocketOptions.SO_SNDBUF, SEND_BUFFER_BYTES);
            key = socket.register(selector, this);
        }

        void sendNext() throws IOException {
            if (opening.hasNext()) {
                waits = true;
                write(opening.next());
            } else if (posted < limit) {
                int request = target.nextRequest(number, posted, requests.size());
                sent[request]++;
                dueNs = paced == null ? 0 : paced.times.dueNs(posted - paced.first);
                posted++;
                waits = true;
                requested = true;
                write(requests.get(request).duplicate());
            }
        }

        private void write(ByteBuffer next) throws IOException {
            out.add(next);
            write();
        }

        private void write() throws IOException {
            while (!out.isEmpty() && socket.write(out.peek())) {
                out.remove();
            }
            key.interestOps(out.isEmpty() ? SelectionKey.OP_READ : SelectionKey.OP_WRITE | SelectionKey.OP_READ);
        }

        void work() throws IOException {
            if (key.isReadable()) {
                if (socket.read(in) < 0) {
                    throw new BenchException("the broker closed a connection", "see the broker's log");
                }
                boolean complete = responses.isComplete(in);
                ByteBuffer reply = responses.reply();
                if (reply != null) {
                    write(reply);
                }
                if (complete) {
                    waits = false;
                    if (requested && paced != null) {
                        paced.latencies.recordValue(Math.min(Latency.HIGHEST_NS, System.nanoTime() - dueNs));
                    }
                    completed += requested ? 1 : 0;
                    sendNext();
                }
            } else if (key.isWritable()) {
                write();
            }
        }
    }
}
