package io.journalq.server.network;

import io.journalq.common.protocol.MessageWriter;
import io.journalq.server.loop.EventLoops;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

/**
 * The network layer with exchanges to which a test responds itself. A frame contains one int, and its response contains
 * that int and a given number of further bytes.
 */
final class TestServer implements AutoCloseable {
    static final ConnectionLimits ROOMY = new ConnectionLimits(
            1 << 20,
            1_000,
            1 << 20,
            1 << 24,
            new ConnectionLimits.Admission(100, 100, 10_000, TimeUnit.HOURS.toMillis(1)));

    final Queue<EchoExchange> opened = new ConcurrentLinkedQueue<>();
    final NetworkCounters counters = new NetworkCounters();
    private final EventLoops loops;
    final Acceptor acceptor;
    final Door door = new KafkaDoor(EchoExchange::new);
    private final boolean responsesAtOnce;
    private final int responsePaddingBytes;
    /** Thrown instead of handling a request; null for none. */
    volatile Error failure;

    final int port;

    /** As small as possible for the tests: two frames of almost 2 MiB, and one response of 1 MiB. */
    final SharedMemory memory = SharedMemory.of(6L << 20, 1L << 20);

    TestServer(ConnectionLimits limits, boolean responsesAtOnce, int responsePaddingBytes) throws IOException {
        this(limits, responsesAtOnce, responsePaddingBytes, 1);
    }

    TestServer(ConnectionLimits limits, boolean responsesAtOnce, int responsePaddingBytes, int loopCount)
            throws IOException {
        this.loops = new EventLoops(loopCount);
        this.responsesAtOnce = responsesAtOnce;
        this.responsePaddingBytes = responsePaddingBytes;
        acceptor = new Acceptor(loops, limits, memory, counters, address -> true);
        port = acceptor.bind(door, "TEST", "127.0.0.1", 0);
        acceptor.accept();
    }

    final class EchoExchange extends Exchange {
        final int number;

        EchoExchange(Connection connection, ByteBuf frame) {
            super(connection, frame);
            number = frame.getInt(frame.readerIndex());
        }

        @Override
        protected void handle() {
            opened.add(this);
            if (failure != null) {
                throw failure;
            }
            if (responsesAtOnce) {
                response();
            }
        }

        void response() {
            responseReady();
        }

        void respondWithNothing() {
            doneWithoutResponse();
        }

        @Override
        protected void writeResponse(MessageWriter out) {
            out.writeInt(number);
            out.writeBytes(Unpooled.wrappedBuffer(new byte[responsePaddingBytes]), false);
        }

        @Override
        protected String description() {
            return "echo " + number;
        }
    }

    int bind(String host, int wantedPort) throws IOException {
        return acceptor.bind(door, "OTHER", host, wantedPort);
    }

    void drain(long timeoutMs) {
        acceptor.close(timeoutMs);
    }

    @Override
    public void close() {
        acceptor.close(0);
        loops.close();
    }

    /** A client on a plain socket. */
    static final class Client implements AutoCloseable {
        final Socket socket;
        final DataOutputStream out;
        final DataInputStream in;

        Client(int port) throws IOException {
            socket = new Socket(InetAddress.getLoopbackAddress(), port);
            socket.setSoTimeout(10_000);
            out = new DataOutputStream(socket.getOutputStream());
            in = new DataInputStream(socket.getInputStream());
        }

        void send(int number, int paddingBytes) throws IOException {
            byte[] frame = new byte[2 * Integer.BYTES + paddingBytes];
            java.nio.ByteBuffer.wrap(frame).putInt(Integer.BYTES + paddingBytes).putInt(number);
            out.write(frame);
        }

        /** The number in the next response. */
        int receive() throws IOException {
            byte[] response = new byte[in.readInt()];
            in.readFully(response);
            return java.nio.ByteBuffer.wrap(response).getInt();
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}
