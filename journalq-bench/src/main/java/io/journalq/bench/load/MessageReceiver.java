package io.journalq.bench.load;

import io.journalq.bench.BenchException;
import io.journalq.bench.driver.ConnectionSecurity;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.locks.LockSupport;

/** Receives all messages over one WebSocket, and checks the number and the checksum of each. Runs in its own thread. */
abstract class MessageReceiver implements Runnable, AutoCloseable {
    static final int BUFFER_BYTES = 256 * 1024;

    final DataInputStream in;
    final CheckedMessages messages;
    private final Socket socket;
    private volatile long received;
    private volatile String failure;
    private volatile boolean closed;

    /**
     * Opens the WebSocket.
     *
     * @param security how to connect
     * @param upgrade the request that opens it
     */
    MessageReceiver(InetSocketAddress address, ConnectionSecurity security, byte[] upgrade, CheckedMessages messages)
            throws IOException {
        this.messages = messages;
        Socket plain = new Socket();
        plain.setReceiveBufferSize(4 * BUFFER_BYTES);
        plain.connect(address);
        plain.setTcpNoDelay(true);
        this.socket = security.authorities() == null
                ? plain
                : security.sockets()
                        .getSocketFactory()
                        .createSocket(plain, address.getHostString(), address.getPort(), true);
        this.in = new DataInputStream(new BufferedInputStream(socket.getInputStream(), BUFFER_BYTES));
        socket.getOutputStream().write(upgrade);
        for (int ends = 0; ends < 4; ) {
            int next = in.readUnsignedByte();
            ends = next == (ends % 2 == 0 ? '\r' : '\n') ? ends + 1 : 0;
        }
    }

    /** Waits for messages, and returns their number. */
    abstract int receive() throws IOException;

    /** Sends a frame. */
    final void send(byte[] frame) throws IOException {
        socket.getOutputStream().write(frame);
    }

    /** Forgets what was received. Only while nothing is sent. */
    final void reset() {
        messages.reset();
        received = 0;
    }

    /** Waits for a number of messages. */
    final void await(long count, long timeoutNs) {
        long endNs = System.nanoTime() + timeoutNs;
        while (received < count) {
            if (failure != null) {
                throw new BenchException("the receiver failed: " + failure, "see the broker's log");
            }
            if (System.nanoTime() - endNs > 0) {
                throw new BenchException(
                        "only " + received + " of " + count + " messages arrived", "see the broker's log");
            }
            LockSupport.parkNanos(200_000);
        }
    }

    @Override
    public final void run() {
        try {
            while (true) {
                int count = receive();
                // Read after the wait, because reset() may have changed it.
                long before = received;
                received = before + count;
            }
        } catch (EOFException ended) {
            failure = closed ? null : "the broker closed the connection";
        } catch (IOException | RuntimeException failed) {
            failure = closed ? null : failed.toString();
        }
    }

    @Override
    public final void close() throws IOException {
        closed = true;
        socket.close();
    }
}
