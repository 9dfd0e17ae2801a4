package io.journalq.client.internal.network;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.ReferenceCountUtil;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLEngineResult.Status;

/** TLS on a socket that blocks. The calling thread encrypts and decrypts. One thread at a time. */
final class BlockingTls {
    private static final ByteBuffer[] NOTHING = {ByteBuffer.allocate(0)};

    private final SocketChannel socket;
    private final SSLEngine engine;
    private final ByteBuf memory;
    /** Received and not decrypted; between calls ready to be written to. */
    private final ByteBuffer sealedIn;
    /** Empty between calls. */
    private final ByteBuffer sealedOut;
    /** Decrypted and not read; between calls ready to be read from. */
    private final ByteBuffer opened;

    /** {@code engine} has not begun its handshake. {@link #release} releases it. */
    BlockingTls(SocketChannel socket, SSLEngine engine) {
        this.socket = socket;
        this.engine = engine;
        int packetBytes = engine.getSession().getPacketBufferSize();
        int openedBytes = engine.getSession().getApplicationBufferSize();
        this.memory = ByteBufAllocator.DEFAULT.directBuffer(2 * packetBytes + openedBytes);
        this.sealedIn = memory.nioBuffer(0, packetBytes);
        this.sealedOut = memory.nioBuffer(packetBytes, packetBytes);
        this.opened = memory.nioBuffer(2 * packetBytes, openedBytes).limit(0);
    }

    /**
     * Completes the handshake on a connected socket.
     *
     * @throws IOException if the broker cannot be trusted, or ends the handshake
     */
    void shakeHands() throws IOException {
        engine.beginHandshake();
        HandshakeStatus status = engine.getHandshakeStatus();
        while (status != HandshakeStatus.NOT_HANDSHAKING && status != HandshakeStatus.FINISHED) {
            switch (status) {
                case NEED_TASK -> runTasks();
                case NEED_WRAP -> send(NOTHING);
                default -> {
                    if (!unwrap()) {
                        throw new EOFException("the broker closed the connection before the handshake of TLS was over");
                    }
                }
            }
            status = engine.getHandshakeStatus();
        }
    }

    /** Encrypts and writes everything. */
    void write(ByteBuffer... from) throws IOException {
        ByteBuffer last = from[from.length - 1];
        while (last.hasRemaining()) {
            send(from);
        }
    }

    /**
     * Waits until there is something to read.
     *
     * @return the number of bytes; -1 at the end of the connection
     */
    int read(ByteBuf into) throws IOException {
        while (!opened.hasRemaining()) {
            if (!unwrap()) {
                return -1;
            }
        }
        int count = Math.min(opened.remaining(), into.writableBytes());
        into.writeBytes(opened.slice(opened.position(), count));
        opened.position(opened.position() + count);
        return count;
    }

    /** Releases all memory. After the last call of another method. */
    void release() {
        memory.release();
        ReferenceCountUtil.release(engine);
    }

    /** Writes one record, of the handshake if one is due. */
    private void send(ByteBuffer... from) throws IOException {
        sealedOut.clear();
        if (engine.wrap(from, sealedOut).getStatus() == Status.CLOSED) {
            throw new EOFException("the broker ended TLS");
        }
        sealedOut.flip();
        while (sealedOut.hasRemaining()) {
            socket.write(sealedOut);
        }
    }

    /** Decrypts a record, for which it reads if necessary. Returns whether the connection has not ended. */
    private boolean unwrap() throws IOException {
        opened.clear();
        try {
            sealedIn.flip();
            SSLEngineResult result;
            try {
                result = engine.unwrap(sealedIn, opened);
            } finally {
                sealedIn.compact();
            }
            switch (result.getStatus()) {
                case OK -> runTasks();
                case BUFFER_UNDERFLOW -> {
                    return socket.read(sealedIn) >= 0;
                }
                case BUFFER_OVERFLOW -> throw new IOException("the broker sent a record of TLS that is too large");
                case CLOSED -> {
                    return false;
                }
            }
            if (result.getHandshakeStatus() == HandshakeStatus.NEED_WRAP) {
                send(NOTHING);
            }
            return true;
        } finally {
            opened.flip();
        }
    }

    private void runTasks() {
        for (Runnable task = engine.getDelegatedTask(); task != null; task = engine.getDelegatedTask()) {
            task.run();
        }
    }
}
