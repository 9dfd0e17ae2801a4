package io.journalq.bench.load;

import io.journalq.bench.BenchException;
import io.journalq.bench.measure.Latency;
import io.journalq.bench.measure.ResourceUse;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.common.protocol.RecordsData;
import io.journalq.common.protocol.frame.Frames;
import io.journalq.common.protocol.message.ProduceRequest;
import io.journalq.common.protocol.message.ProduceRequest.PartitionProduceData;
import io.journalq.common.protocol.message.ProduceRequest.TopicProduceData;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.ReferenceCounted;
import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * Keeps a number of produce requests in flight on each of several connections. Each request has one message for each of
 * its partitions. One thread.
 */
public final class BrokerLoad {
    private static final short PRODUCE_VERSION = 9;
    private static final short ACKS_LEADER = 1;
    private static final int TIMEOUT_MS = 30_000;
    /** The distance between the first partitions of two connections. */
    private static final int SPREAD = 7;

    private static final int READ_BUFFER_BYTES = 64 * 1024;
    private static final long SELECT_TIMEOUT_MS = 100;
    private static final Duration AFTER_METRICS = Duration.ofMillis(200);
    /** Size of a partition without an error in a response. */
    private static final int PARTITION_BYTES = Integer.BYTES + Short.BYTES + 3 * Long.BYTES + 3;

    private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);

    private final LoadListener listener;
    private final ByteBuffer[] requests;
    private final int partitionsPerRequest;
    private final int inFlight;
    private final Histogram latencies = new Histogram(Latency.HIGHEST_NS, Latency.DIGITS);
    private long responses;
    private boolean measuring;
    private String problem;

    /**
     * Prepares the requests.
     *
     * @param topic an existing topic with {@code partitions} partitions
     * @param partitionsPerRequest number of consecutive partitions that a request writes to, at most {@code partitions}
     * @param inFlight requests in flight on each connection
     */
    public BrokerLoad(
            LoadListener listener,
            String topic,
            int partitions,
            int partitionsPerRequest,
            PayloadPool pool,
            int inFlight) {
        this.listener = listener;
        this.partitionsPerRequest = partitionsPerRequest;
        this.inFlight = inFlight;
        this.requests = new ByteBuffer[partitions];
        for (int first = 0; first < partitions; first++) {
            requests[first] = request(topic, first, pool);
        }
    }

    /**
     * The result of a run.
     *
     * @param requests requests that received a response
     * @param seconds duration of the measured interval
     * @param latency time from the write of a request until its response was read
     */
    public record Result(long requests, double seconds, Latency latency, ResourceUse use) {
        /** Requests per second that received a response. */
        public double requestsPerSecond() {
            return requests / seconds;
        }

        /** The broker's processor time per request, user and system. */
        public double brokerMicrosPerRequest() {
            return use.brokerMicrosPer(requests);
        }
    }

    /**
     * Warms up, measures and disconnects. Counts every response and checks its error codes.
     *
     * @param metricsAddress {@code host:port} of the broker's metrics; null if there are none
     */
    public Result run(int connections, long brokerPid, String metricsAddress, Duration warmup, Duration duration)
            throws IOException {
        try (Selector selector = Selector.open()) {
            List<Connection> open = new ArrayList<>();
            try {
                for (int i = 0; i < connections; i++) {
                    open.add(new Connection(selector, i));
                }
                turn(selector, warmup);
                ResourceUse.Meter meter = ResourceUse.start(brokerPid, metricsAddress);
                // The meter has read the metrics of brokers that have them. What was in flight then does not count.
                turn(selector, AFTER_METRICS);
                measuring = true;
                long before = responses;
                long startNs = System.nanoTime();
                turn(selector, duration);
                double seconds = (System.nanoTime() - startNs) / 1e9;
                long completed = responses - before;
                ResourceUse use = meter.stop();
                if (completed == 0) {
                    throw new BenchException("the broker responded to no request", "check the broker's log");
                }
                return new Result(completed, seconds, Latency.of(Latency.SERVICE_TIME, latencies), use);
            } finally {
                for (Connection connection : open) {
                    connection.socket.close();
                }
            }
        }
    }

    private void turn(Selector selector, Duration time) throws IOException {
        long endNs = System.nanoTime() + time.toNanos();
        while (System.nanoTime() < endNs) {
            selector.select(
                    key -> {
                        try {
                            ((Connection) key.attachment()).work();
                        } catch (IOException e) {
                            problem = e.toString();
                        }
                    },
                    SELECT_TIMEOUT_MS);
            if (problem != null) {
                throw new BenchException("the load stopped: " + problem, "check the broker's log");
            }
        }
    }

    private ByteBuffer request(String topic, int first, PayloadPool pool) {
        ByteBufAllocator allocator = UnpooledByteBufAllocator.DEFAULT;
        try (BatchBuilder builder = new BatchBuilder(allocator, CompressionCodec.NONE)) {
            List<PartitionProduceData> batches = new ArrayList<>();
            for (int i = 0; i < partitionsPerRequest; i++) {
                int partition = (first + i) % requests.length;
                builder.append(System.currentTimeMillis(), null, pool.message(partition), List.of());
                batches.add(new PartitionProduceData().setIndex(partition).setRecords(RecordsData.of(builder.build())));
            }
            ProduceRequest request = new ProduceRequest()
                    .setAcks(ACKS_LEADER)
                    .setTimeoutMs(TIMEOUT_MS)
                    .setTopicData(List.of(new TopicProduceData().setName(topic).setPartitionData(batches)));
            List<ReferenceCounted> parts = Frames.request(allocator, first, "broker-load", request, PRODUCE_VERSION);
            int sizeBytes = parts.stream()
                    .mapToInt(part -> ((ByteBuf) part).readableBytes())
                    .sum();
            ByteBuffer frame = ByteBuffer.allocateDirect(sizeBytes);
            for (ReferenceCounted part : parts) {
                ByteBuf bytes = (ByteBuf) part;
                frame.put(bytes.nioBuffer());
                bytes.release();
            }
            return frame.flip().asReadOnlyBuffer();
        }
    }

    /** A connection with the requests that it still writes and the responses that it is reading. */
    private final class Connection {
        private final LoadSocket socket;
        private final SelectionKey key;
        private final ByteBuffer in = ByteBuffer.allocateDirect(READ_BUFFER_BYTES);
        private final ByteBuffer[] out = new ByteBuffer[inFlight];
        /** When each request in flight was written, in a ring: responses arrive in the order of their requests. */
        private final long[] sentNs = new long[inFlight];

        private int oldest;
        private int nextPartition;

        Connection(Selector selector, int number) throws IOException {
            socket = listener.connect();
            socket.set(StandardSocketOptions.TCP_NODELAY, true);
            nextPartition = number * SPREAD % requests.length;
            key = socket.register(selector, this);
            Arrays.fill(sentNs, System.nanoTime());
            send(inFlight);
        }

        void work() throws IOException {
            if (key.isWritable()) {
                flush();
                return;
            }
            do {
                read();
            } while (socket.hasMore());
        }

        private void read() throws IOException {
            if (socket.read(in) < 0) {
                throw new IOException("the broker closed a connection");
            }
            int completed = 0;
            long nowNs = System.nanoTime();
            in.flip();
            while (in.remaining() >= Integer.BYTES && in.remaining() >= Integer.BYTES + in.getInt(in.position())) {
                int sizeBytes = in.getInt();
                check(in, in.position(), sizeBytes);
                in.position(in.position() + sizeBytes);
                if (measuring) {
                    latencies.recordValue(Math.min(nowNs - sentNs[oldest], Latency.HIGHEST_NS));
                }
                sentNs[oldest] = nowNs; // of the request that is sent in its place
                oldest = oldest + 1 == inFlight ? 0 : oldest + 1;
                completed++;
            }
            in.compact();
            responses += completed;
            send(completed);
        }

        /** Checks a response for one topic: in each partition, the error code follows the partition's number. */
        private void check(ByteBuffer response, int start, int sizeBytes) throws IOException {
            int nameAt = start + Integer.BYTES + 1 + 1;
            int nameLength = response.get(nameAt) - 1;
            int errorAt = nameAt + 1 + nameLength + 1 + Integer.BYTES;
            for (int i = 0; i < partitionsPerRequest; i++) {
                if (errorAt + Short.BYTES > start + sizeBytes) {
                    throw new IOException("the broker's response is too short");
                }
                if (response.getShort(errorAt) != 0) {
                    // A new topic may have no leader yet when the warm-up starts.
                    if (measuring) {
                        throw new IOException("the broker refused a message with error " + response.getShort(errorAt));
                    }
                    return;
                }
                errorAt += PARTITION_BYTES;
            }
        }

        private void send(int count) throws IOException {
            if (count == 0) {
                return;
            }
            for (int i = 0; i < count; i++) {
                out[i] = requests[nextPartition].duplicate();
                nextPartition = nextPartition + 1 == requests.length ? 0 : nextPartition + 1;
            }
            Arrays.fill(out, count, out.length, EMPTY);
            flush();
        }

        private void flush() throws IOException {
            key.interestOps(socket.write(out) ? SelectionKey.OP_READ : SelectionKey.OP_WRITE);
        }
    }
}
