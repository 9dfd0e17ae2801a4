package io.journalq.bench.load;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.handler.ssl.SslContext;
import io.netty.util.ReferenceCountUtil;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLEngineResult.Status;

/** A connection of a load generator that does not block, plain or with TLS. One thread. */
final class LoadSocket implements AutoCloseable {
    private static final ByteBuffer[] NOTHING = {ByteBuffer.allocate(0)};

    private final SocketChannel channel;
    /** Null for a plain connection. */
    private final SSLEngine engine;
    /** Received and not decrypted; between calls ready to be written to. */
    private final ByteBuffer sealedIn;
    /** Encrypted and not sent; between calls ready to be written to. */
    private final ByteBuffer sealedOut;

    private boolean hasMore;

    private LoadSocket(SocketChannel channel, SSLEngine engine) {
        this.channel = channel;
        this.engine = engine;
        int packetBytes = engine == null ? 0 : engine.getSession().getPacketBufferSize();
        this.sealedIn = ByteBuffer.allocateDirect(4 * packetBytes);
        this.sealedOut = ByteBuffer.allocateDirect(4 * packetBytes);
    }

    /**
     * Connects, and completes the handshake of TLS.
     *
     * @param tls null for a plain connection
     */
    static LoadSocket connect(InetSocketAddress address, SslContext tls) throws IOException {
        SocketChannel channel = SocketChannel.open(address);
        SSLEngine engine = tls == null
                ? null
                : tls.newEngine(UnpooledByteBufAllocator.DEFAULT, address.getHostString(), address.getPort());
        LoadSocket socket = new LoadSocket(channel, engine);
        try {
            if (engine != null) {
                engine.setUseClientMode(true);
                socket.shakeHands();
            }
            channel.configureBlocking(false);
            return socket;
        } catch (IOException | RuntimeException failed) {
            socket.close();
            throw failed;
        }
    }

    /** Connects without TLS, and logs in. */
    static LoadSocket loggedIn(InetSocketAddress address, ScramLogin login) throws IOException {
        SocketChannel channel = SocketChannel.open(address);
        try {
            login.run(channel.socket());
            channel.configureBlocking(false);
            return new LoadSocket(channel, null);
        } catch (IOException | RuntimeException failed) {
            channel.close();
            throw failed;
        }
    }

    /** While the channel blocks. */
    private void shakeHands() throws IOException {
        ByteBuffer nothing = ByteBuffer.allocate(engine.getSession().getApplicationBufferSize());
        engine.beginHandshake();
        while (true) {
            HandshakeStatus status = engine.getHandshakeStatus();
            switch (status) {
                case NEED_TASK -> runTasks();
                case NEED_WRAP -> {
                    engine.wrap(NOTHING, sealedOut);
                    flush();
                }
                case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> {
                    if (unwrap(nothing).getStatus() == Status.BUFFER_UNDERFLOW && channel.read(sealedIn) < 0) {
                        throw new EOFException("the broker closed a connection in the handshake");
                    }
                }
                default -> {
                    flush();
                    return;
                }
            }
        }
    }

    private void runTasks() {
        for (Runnable task = engine.getDelegatedTask(); task != null; task = engine.getDelegatedTask()) {
            task.run();
        }
    }

    private SSLEngineResult unwrap(ByteBuffer into) throws IOException {
        sealedIn.flip();
        try {
            return engine.unwrap(sealedIn, into);
        } finally {
            sealedIn.compact();
        }
    }

    /** Sends what is encrypted. Returns whether everything was sent. */
    private boolean flush() throws IOException {
        sealedOut.flip();
        channel.write(sealedOut);
        sealedOut.compact();
        return sealedOut.position() == 0;
    }

    /** Sets an option of the socket. */
    <T> void set(SocketOption<T> option, T value) throws IOException {
        channel.setOption(option, value);
    }

    SelectionKey register(Selector selector, Object attachment) throws ClosedChannelException {
        return channel.register(selector, SelectionKey.OP_READ, attachment);
    }

    /**
     * Reads what has arrived.
     *
     * @param into has room for 16 KiB at least
     * @return the number of bytes; -1 at the end of the connection
     */
    int read(ByteBuffer into) throws IOException {
        hasMore = false;
        if (engine == null) {
            return channel.read(into);
        }
        int before = into.position();
        while (true) {
            SSLEngineResult result = unwrap(into);
            switch (result.getStatus()) {
                case OK -> runTasks();
                case BUFFER_UNDERFLOW -> {
                    int count = channel.read(sealedIn);
                    int read = into.position() - before;
                    if (count <= 0) {
                        return read == 0 ? count : read;
                    }
                }
                case BUFFER_OVERFLOW -> {
                    hasMore = true;
                    return into.position() - before;
                }
                case CLOSED -> {
                    return -1;
                }
            }
        }
    }

    /** Whether the last {@link #read} left something for which there was no room. No selector reports that. */
    boolean hasMore() {
        return hasMore;
    }

    /** Writes as much as possible. Returns whether everything was sent. */
    boolean write(ByteBuffer... from) throws IOException {
        if (engine == null) {
            channel.write(from);
            return isEmpty(from);
        }
        while (flush()) {
            if (isEmpty(from)) {
                return true;
            }
            while (!isEmpty(from) && engine.wrap(from, sealedOut).getStatus() == Status.OK) {
                // Fills the buffer with records.
            }
        }
        return false;
    }

    private static boolean isEmpty(ByteBuffer... buffers) {
        for (ByteBuffer buffer : buffers) {
            if (buffer.hasRemaining()) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void close() throws IOException {
        channel.close();
        if (engine != null) {
            ReferenceCountUtil.release(engine);
        }
    }
}
