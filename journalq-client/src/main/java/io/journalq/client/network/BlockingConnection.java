package io.journalq.client.network;

import io.journalq.client.JournalQException;
import io.journalq.client.error.ConnectionFailedException;
import io.journalq.client.error.UnsupportedByBrokerException;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.BadFrameException;
import io.journalq.common.protocol.MessageReader;
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

/**
 * A connection whose caller writes the request and reads the answer itself, with one system call each: what a lone
 * synchronous sender saves is two changes of thread. One thread at a time; {@link #close} from any thread ends an
 * exchange that takes too long.
 */
public final class BlockingConnection implements AutoCloseable {
    private static final int FIRST_BUFFER_BYTES = 4 * 1024;
    private static final int MAX_ANSWER_BYTES = 1024 * 1024;
    private static final short ANY_VERSIONS_VERSION = 0;

    private final SocketChannel socket;
    private final String clientId;
    private final HostAndPort address;
    private final ByteBuf in = ByteBufAllocator.DEFAULT.directBuffer(FIRST_BUFFER_BYTES, MAX_ANSWER_BYTES);
    private VersionTable versions;
    private int nextCorrelationId;
    private boolean released;

    private BlockingConnection(SocketChannel socket, String clientId, HostAndPort address) {
        this.socket = socket;
        this.clientId = clientId;
        this.address = address;
    }

    /**
     * Connects and agrees on versions.
     *
     * @throws IOException when the broker cannot be reached or breaks off
     */
    public static BlockingConnection open(HostAndPort address, ClientConfig config) throws IOException {
        SocketChannel socket = SocketChannel.open();
        boolean ready = false;
        try {
            socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
            socket.socket().connect(new InetSocketAddress(address.host(), address.port()), config.connectTimeoutMs());
            BlockingConnection connection = new BlockingConnection(socket, config.clientId(), address);
            try {
                ApiVersionsResponse served = (ApiVersionsResponse)
                        connection.exchange(ApiKey.API_VERSIONS, ANY_VERSIONS_VERSION, new ApiVersionsRequest());
                connection.versions = new VersionTable(served);
                ready = true;
                return connection;
            } finally {
                if (!ready) {
                    connection.release();
                }
            }
        } finally {
            if (!ready) {
                socket.close();
            }
        }
    }

    /**
     * The version of an API to use.
     *
     * @param newest newest that the caller makes use of
     * @throws JournalQException when there is no common one
     */
    public short version(ApiKey key, short newest) {
        short version = versions.choose(key, newest);
        if (version == VersionTable.NONE) {
            throw new UnsupportedByBrokerException(address + " does not serve " + key + " in a version that fits");
        }
        return version;
    }

    /**
     * Sends one request and waits for its answer, whose slices are valid until the next exchange.
     *
     * @throws IOException when the connection broke, the answer is no answer, or {@link #close} came in between; the
     *     connection is then of no more use
     */
    public ApiMessage exchange(ApiKey key, short version, ApiMessage request) throws IOException {
        int correlationId = nextCorrelationId++;
        write(RequestFrame.encode(ByteBufAllocator.DEFAULT, key, version, correlationId, clientId, request, 0));
        ByteBuf frame = readFrame();
        try {
            MessageReader reader = new MessageReader(frame);
            if (RequestFrame.readCorrelationId(reader, key, version) != correlationId) {
                throw new IOException(address + " answered another request than the one it was asked");
            }
            return key.readResponse(reader, version);
        } catch (BadFrameException e) {
            throw new IOException(address + " sent an answer that cannot be read: " + e.getMessage(), e);
        }
    }

    /** Closes the socket; an exchange under way fails. Any thread. The buffers are {@link #release}'s. */
    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            throw new ConnectionFailedException("closing the connection to " + address + " failed", e);
        }
    }

    /** Gives the buffers back. By the thread that exchanges, after its last exchange. */
    public void release() {
        if (!released) {
            released = true;
            in.release();
        }
    }

    private void write(List<ReferenceCounted> parts) throws IOException {
        try {
            if (parts.size() == 1) {
                writeFully(((ByteBuf) parts.get(0)).nioBuffer());
                return;
            }
            ByteBuffer[] buffers = new ByteBuffer[parts.size()];
            for (int i = 0; i < buffers.length; i++) {
                buffers[i] = ((ByteBuf) parts.get(i)).nioBuffer();
            }
            ByteBuffer last = buffers[buffers.length - 1];
            while (last.hasRemaining()) {
                socket.write(buffers);
            }
        } finally {
            parts.forEach(ReferenceCountUtil::release);
        }
    }

    private void writeFully(ByteBuffer buffer) throws IOException {
        while (buffer.hasRemaining()) {
            socket.write(buffer);
        }
    }

    private ByteBuf readFrame() throws IOException {
        in.clear();
        readAtLeast(Integer.BYTES);
        int sizeBytes = in.getInt(0);
        if (sizeBytes < Integer.BYTES || sizeBytes > MAX_ANSWER_BYTES - Integer.BYTES) {
            throw new IOException(address + " sent a frame of " + sizeBytes + " bytes");
        }
        readAtLeast(Integer.BYTES + sizeBytes);
        return in.slice(Integer.BYTES, sizeBytes);
    }

    private void readAtLeast(int sizeBytes) throws IOException {
        while (in.writerIndex() < sizeBytes) {
            // Grows with what arrives.
            in.ensureWritable(Math.min(FIRST_BUFFER_BYTES, MAX_ANSWER_BYTES - in.writerIndex()));
            int count = in.writeBytes(socket, in.writableBytes());
            if (count < 0) {
                throw new EOFException(address + " closed the connection");
            }
        }
    }
}
