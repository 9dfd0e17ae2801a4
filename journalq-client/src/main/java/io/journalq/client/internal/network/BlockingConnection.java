package io.journalq.client.internal.network;

import io.journalq.client.error.ConnectionFailedException;
import io.journalq.client.error.JournalQException;
import io.journalq.client.error.UnsupportedByBrokerException;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.BadFrameException;
import io.journalq.common.protocol.MessageReader;
import io.journalq.common.protocol.message.ApiMessages;
import io.journalq.common.protocol.message.ApiVersionsRequest;
import io.journalq.common.protocol.message.ApiVersionsResponse;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.ReferenceCounted;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A connection on which the calling thread itself writes the request and reads the response. For a single synchronous
 * sender this saves two thread switches per request. One thread at a time may use it, but any thread may {@link #close}
 * it to abort an exchange that takes too long.
 */
public final class BlockingConnection implements AutoCloseable {
    private static final int FIRST_BUFFER_BYTES = 4 * 1024;
    private static final int MAX_RESPONSE_BYTES = 1024 * 1024;
    private static final short ANY_VERSIONS_VERSION = 0;

    private final HostAndPort address;
    private final ClientConfig config;
    private final SocketChannel socket;
    private final ByteBuf in = ByteBufAllocator.DEFAULT.directBuffer(FIRST_BUFFER_BYTES, MAX_RESPONSE_BYTES);
    /** Null without TLS. */
    private BlockingTls tls;

    private VersionTable versions;
    private int nextCorrelationId;
    private boolean sessionEnds;
    private long nextLoginNanos;
    private boolean released;

    /**
     * Makes a connection, which {@link #open} opens.
     *
     * @throws IOException if there is no socket left
     */
    public BlockingConnection(HostAndPort address, ClientConfig config) throws IOException {
        this.address = address;
        this.config = config;
        try {
            this.socket = SocketChannel.open();
        } catch (IOException e) {
            in.release();
            throw e;
        }
    }

    /**
     * Connects, negotiates the API versions, and encrypts the connection and logs in if the client is configured so.
     *
     * @throws IOException if the broker cannot be reached or trusted, refuses the login, closes the connection, or if
     *     {@link #close} is called
     * @throws JournalQException if the broker supports no login
     */
    public void open() throws IOException {
        socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
        socket.socket().connect(new InetSocketAddress(address.host(), address.port()), config.connectTimeoutMs());
        if (config.tls() != null) {
            tls = new BlockingTls(socket, config.tls().engine(address));
            tls.shakeHands();
        }
        ApiVersionsResponse served =
                (ApiVersionsResponse) exchange(ApiKey.API_VERSIONS, ANY_VERSIONS_VERSION, new ApiVersionsRequest());
        versions = new VersionTable(served);
        if (config.sasl() != null) {
            logIn();
        }
    }

    /** Whether the session of the login is about to end (KIP-368), so that {@link #logIn} has to be called. */
    public boolean needsLogin() {
        return sessionEnds && System.nanoTime() - nextLoginNanos > 0;
    }

    /**
     * Logs in, also again.
     *
     * @throws IOException if the login fails, the connection breaks, or {@link #close} is called; the connection cannot be
     *     used afterwards
     * @throws JournalQException if the broker supports no login
     */
    public void logIn() throws IOException {
        long sessionLifetimeMs = new BlockingLogin(this, config.sasl()).run();
        sessionEnds = sessionLifetimeMs > 0;
        nextLoginNanos = System.nanoTime()
                + (long) (TimeUnit.MILLISECONDS.toNanos(sessionLifetimeMs) * BrokerConnection.SESSION_PART);
    }

    /**
     * Returns the version of an API to use.
     *
     * @param newest the newest version that the caller supports
     * @throws JournalQException if the broker supports none of the versions of this client
     */
    public short version(ApiKey key, short newest) {
        short version = versions.choose(key, newest);
        if (version == VersionTable.NONE) {
            throw new UnsupportedByBrokerException(
                    address + " does not support " + key + " in a version that this client supports");
        }
        return version;
    }

    /**
     * Sends one request and blocks until its response arrives. Slices of the response are valid until the next
     * exchange.
     *
     * @throws IOException if the connection breaks, the response is malformed, or {@link #close} is called; the
     *     connection cannot be used afterwards
     */
    public ApiMessage exchange(ApiKey key, short version, ApiMessage request) throws IOException {
        int correlationId = nextCorrelationId++;
        write(RequestFrame.encode(
                ByteBufAllocator.DEFAULT, key, version, correlationId, config.clientId(), () -> request, 0));
        ByteBuf frame = readFrame();
        try {
            MessageReader reader = new MessageReader(frame);
            if (RequestFrame.readCorrelationId(reader, key, version) != correlationId) {
                throw new IOException(address + " sent a response to a different request");
            }
            return ApiMessages.readResponse(key, reader, version);
        } catch (BadFrameException e) {
            throw new IOException(address + " sent a malformed response: " + e.getMessage(), e);
        }
    }

    /** Closes the socket, which makes a running exchange fail. Any thread. {@link #release} releases the buffers. */
    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            throw new ConnectionFailedException("cannot close the connection to " + address, e);
        }
    }

    /** Releases the buffers. Called by the exchanging thread after its last exchange. */
    public void release() {
        if (!released) {
            released = true;
            in.release();
            if (tls != null) {
                tls.release();
            }
        }
    }

    private void write(List<ReferenceCounted> parts) throws IOException {
        try {
            ByteBuffer[] buffers = new ByteBuffer[parts.size()];
            for (int i = 0; i < buffers.length; i++) {
                buffers[i] = ((ByteBuf) parts.get(i)).nioBuffer();
            }
            writeFully(buffers);
        } finally {
            parts.forEach(ReferenceCountUtil::release);
        }
    }

    private void writeFully(ByteBuffer... buffers) throws IOException {
        if (tls != null) {
            tls.write(buffers);
            return;
        }
        ByteBuffer last = buffers[buffers.length - 1];
        while (last.hasRemaining()) {
            socket.write(buffers);
        }
    }

    private ByteBuf readFrame() throws IOException {
        in.clear();
        readAtLeast(Integer.BYTES);
        int sizeBytes = in.getInt(0);
        if (sizeBytes < Integer.BYTES || sizeBytes > MAX_RESPONSE_BYTES - Integer.BYTES) {
            throw new IOException(address + " sent a frame of " + sizeBytes + " bytes");
        }
        readAtLeast(Integer.BYTES + sizeBytes);
        return in.slice(Integer.BYTES, sizeBytes);
    }

    private void readAtLeast(int sizeBytes) throws IOException {
        while (in.writerIndex() < sizeBytes) {
            // The buffer grows with the received bytes, not with the announced size.
            in.ensureWritable(Math.min(FIRST_BUFFER_BYTES, MAX_RESPONSE_BYTES - in.writerIndex()));
            int count = tls == null ? in.writeBytes(socket, in.writableBytes()) : tls.read(in);
            if (count < 0) {
                throw new EOFException(address + " closed the connection");
            }
        }
    }
}
