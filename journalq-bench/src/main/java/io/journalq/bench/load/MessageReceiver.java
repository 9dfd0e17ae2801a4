package io.journalq.bench.load;

import io.journalq.bench.driver.ConnectionSecurity;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;

/** Receives all messages over one WebSocket, and checks the number and the checksum of each. Runs in its own thread. */
abstract class MessageReceiver implements Runnable, AutoCloseable {
    static final int BUFFER_BYTES = 256 * 1024;

    final DataInputStream in;
    final CheckedMessages messages;
    private final Socket socket;
    private final Received received = new Received();
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
        this.socket = connect(address, security);
        this.in = new DataInputStream(new BufferedInputStream(socket.getInputStream(), BUFFER_BYTES));
        socket.getOutputStream().write(upgrade);
        for (int ends = 0; ends < 4; ) {
            int next = in.readUnsignedByte();
            ends = next == (ends % 2 == 0 ? '\r' : '\n') ? ends + 1 : 0;
        }
    }

    /** Opens a connection. {@code security} says how. */
    static Socket connect(InetSocketAddress address, ConnectionSecurity security) throws IOException {
        Socket plain = new Socket();
        plain.setReceiveBufferSize(4 * BUFFER_BYTES);
        plain.connect(address);
        plain.setTcpNoDelay(true);
        return security.authorities() == null
                ? plain
                : security.sockets()
                        .getSocketFactory()
                        .createSocket(plain, address.getHostString(), address.getPort(), true);
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
        received.reset();
    }

    /** Waits for a number of messages. */
    final void await(long count, long timeoutNs) {
        received.await(count, timeoutNs);
    }

    @Override
    public final void run() {
        try {
            while (true) {
                received.add(receive());
            }
        } catch (EOFException ended) {
            fail("the broker closed the connection");
        } catch (IOException | RuntimeException failed) {
            fail(failed.toString());
        }
    }

    private void fail(String reason) {
        if (!closed) {
            received.fail(reason);
        }
    }

    @Override
    public final void close() throws IOException {
        closed = true;
        socket.close();
    }
}
