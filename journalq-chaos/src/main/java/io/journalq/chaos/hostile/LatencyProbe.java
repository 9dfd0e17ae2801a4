package io.journalq.chaos.hostile;

import io.journalq.common.record.CompressionCodec;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The healthy client: sends single messages at a fixed rate on one connection and waits for each response. A latency is
 * measured from the time when its message was due, so that a stall of the broker shows in all messages that it delays.
 * One thread.
 */
public final class LatencyProbe implements AutoCloseable {
    private static final int VALUE_BYTES = 100;
    private static final long LONGEST_PARK_NANOS = 200_000;

    private final Socket socket;
    private final OutputStream out;
    private final DataInputStream in;
    private final byte[] request = Requests.produce(Requests.HEALTHY_TOPIC, CompressionCodec.NONE, VALUE_BYTES);

    /** @param encrypted whether the port is that of an encrypted listener */
    public LatencyProbe(int port, boolean encrypted) throws IOException {
        Socket plain = new Socket(InetAddress.getLoopbackAddress(), port);
        plain.setTcpNoDelay(true);
        socket = encrypted ? TlsSockets.encrypt(plain) : plain;
        socket.setSoTimeout(Requests.TIMEOUT_MS);
        out = socket.getOutputStream();
        in = new DataInputStream(socket.getInputStream());
    }

    /** Latencies in microseconds, in ascending order. */
    @SuppressWarnings("ArrayRecordComponent") // A plain holder, never compared.
    public record Latencies(long[] sortedMicros) {
        /** The latency that this share of all messages did not exceed. */
        public long percentile(double share) {
            int at = (int) Math.ceil(sortedMicros.length * share) - 1;
            return sortedMicros[Math.max(0, Math.min(sortedMicros.length - 1, at))];
        }

        public long max() {
            return sortedMicros[sortedMicros.length - 1];
        }
    }

    /**
     * Sends messages for a number of seconds.
     *
     * @throws IOException if the broker has refused one: a fast refusal is no service
     */
    public Latencies run(double seconds, int ratePerSecond) throws IOException {
        int count = (int) Math.max(1, seconds * ratePerSecond);
        long[] micros = new long[count];
        long intervalNanos = TimeUnit.SECONDS.toNanos(1) / ratePerSecond;
        long firstNanos = System.nanoTime();
        for (int i = 0; i < count; i++) {
            long dueNanos = firstNanos + i * intervalNanos;
            waitUntil(dueNanos);
            out.write(request);
            Requests.readProduced(in);
            micros[i] = TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - dueNanos);
        }
        Arrays.sort(micros);
        return new Latencies(micros);
    }

    private static void waitUntil(long dueNanos) {
        long left = dueNanos - System.nanoTime();
        while (left > 0) {
            LockSupport.parkNanos(Math.min(left, LONGEST_PARK_NANOS));
            left = dueNanos - System.nanoTime();
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
