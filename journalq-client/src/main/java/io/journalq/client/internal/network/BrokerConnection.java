package io.journalq.client.internal.network;

import io.journalq.client.error.ClientClosedException;
import io.journalq.client.error.ConnectionFailedException;
import io.journalq.client.error.JournalQException;
import io.journalq.client.error.RequestTimedOutException;
import io.journalq.client.error.UnsupportedByBrokerException;
import io.journalq.common.network.NameLookups;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.BadFrameException;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.MessageReader;
import io.journalq.common.protocol.UnsupportedVersionException;
import io.journalq.common.protocol.frame.FrameReads;
import io.journalq.common.protocol.message.ApiMessages;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.ReferenceCounted;
import io.netty.util.concurrent.Future;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A connection to a broker. Opens it, negotiates API versions, logs in, writes requests, and passes each response to
 * its call, in the order of the requests. A connection is not reused: if it breaks, all its calls fail, and {@link
 * Cluster} opens a new one. Belongs to the event loop.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failed operation closes the channel, and channelInactive handles that
public final class BrokerConnection {
    private static final int MAX_FRAME_SIZE_BYTES = 512 * 1024 * 1024;
    private static final int LOW_WATER_BYTES = 512 * 1024;
    private static final int HIGH_WATER_BYTES = 1024 * 1024;

    /** Is notified about the state of a connection. */
    interface Listener {
        /** The versions are negotiated, the client has logged in, and calls are being sent. */
        void onReady(BrokerConnection connection);

        /**
         * The connection is closed. Its calls fail next.
         *
         * @return the failure of the calls
         */
        JournalQException onClosing(BrokerConnection connection, JournalQException cause);

        /** The calls of a closed connection have failed. */
        void onClosed(BrokerConnection connection, JournalQException failure);

        /** The outbound buffer was full and has room again. */
        void onWritable(BrokerConnection connection);
    }

    /** A client logs in again before its session ends, when this part of its lifetime has passed. */
    static final double SESSION_PART = 0.85;

    private enum State {
        /** Also while the client logs in again. */
        OPENING,
        READY,
        CLOSED
    }

    private final int nodeId;
    private final HostAndPort address;
    private final ClientConfig config;
    private final EventLoop eventLoop;
    private final Listener listener;
    private final ArrayDeque<Call> waiting = new ArrayDeque<>();
    private final ArrayDeque<Call> inFlight = new ArrayDeque<>();
    private volatile VersionTable versions;
    private State state = State.OPENING;
    private Channel channel;
    private int nextCorrelationId;
    private boolean refusedBefore;
    private boolean everReady;
    /** Null without a session that ends. */
    private Future<?> nextLogin;

    BrokerConnection(int nodeId, HostAndPort address, ClientConfig config, EventLoop eventLoop, Listener listener) {
        this.nodeId = nodeId;
        this.address = address;
        this.config = config;
        this.eventLoop = eventLoop;
        this.listener = listener;
    }

    void open() {
        open(NameLookups.SYSTEM);
    }

    /** @param names looks up the host of the broker */
    void open(NameLookups names) {
        Bootstrap bootstrap = new Bootstrap()
                .group(eventLoop)
                .channel(ClientLoop.channelType())
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.SO_KEEPALIVE, true)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, config.connectTimeoutMs())
                .option(
                        ChannelOption.WRITE_BUFFER_WATER_MARK,
                        new WriteBufferWaterMark(LOW_WATER_BYTES, HIGH_WATER_BYTES))
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel opened) {
                        FrameDecoder decoder = new FrameDecoder(MAX_FRAME_SIZE_BYTES);
                        if (config.tls() == null) {
                            // With TLS, the socket carries records, which must not be read into the buffer of a frame.
                            opened.config()
                                    .setRecvByteBufAllocator(new FrameReads(
                                            decoder::allocate, opened.config().getRecvByteBufAllocator()));
                        } else {
                            opened.pipeline().addLast(config.tls().handler(opened, address, config.connectTimeoutMs()));
                        }
                        opened.pipeline().addLast(decoder, new Inbound());
                    }
                });
        names.use(bootstrap);
        ChannelFuture connect = bootstrap.connect(address.host(), address.port());
        channel = connect.channel();
        connect.addListener(done -> {
            if (!done.isSuccess()) {
                ConnectionFailedException failure = new ConnectionFailedException(
                        "cannot connect to " + address + " (" + done.cause().getMessage()
                                + "); check that the broker is running and that the address is correct",
                        done.cause());
                if (eventLoop.inEventLoop()) {
                    close(failure);
                } else {
                    // Without a socket, the channel has no event loop, and another thread notices the failure.
                    eventLoop.execute(() -> close(failure));
                }
            }
        });
    }

    /** The id of the broker, or a negative number for a bootstrap address. */
    public int nodeId() {
        return nodeId;
    }

    HostAndPort address() {
        return address;
    }

    public boolean isReady() {
        return state == State.READY;
    }

    /** Whether the versions were negotiated and the client had logged in before the connection closed. */
    boolean wasReady() {
        return everReady;
    }

    /** Whether the outbound buffer has room. Calls can be sent even if it has none. */
    public boolean isWritable() {
        return state == State.READY && channel.isWritable();
    }

    /**
     * Returns the finalized level of a feature, or 0 if the broker did not report one or the connection is not ready.
     */
    public short featureLevel(String name) {
        VersionTable agreed = versions;
        return agreed == null ? 0 : agreed.featureLevel(name);
    }

    /** Writes a call, or keeps it until the connection is ready. {@link #flush()} sends it. */
    public void send(Call call) {
        call.handedOver(System.nanoTime());
        switch (state) {
            case READY -> write(call);
            case OPENING -> waiting.add(call);
            case CLOSED -> call.onFailure(new ConnectionFailedException("the connection to " + address + " is closed"));
        }
    }

    public void flush() {
        if (state == State.READY) {
            channel.flush();
        }
    }

    /** Closes the connection if its oldest call has timed out. Called periodically. */
    void checkTimeouts(long nowNanos) {
        Call oldest = inFlight.peek();
        if (oldest == null) {
            oldest = waiting.peek();
        }
        if (oldest != null && oldest.isOverdue(nowNanos)) {
            close(new RequestTimedOutException(address + " did not respond to " + oldest.apiKey() + " within "
                    + oldest.timeoutMs() + " ms; check the load of the broker, or raise requestTimeout"));
        }
    }

    void close(JournalQException cause) {
        if (state == State.CLOSED) {
            return;
        }
        state = State.CLOSED;
        if (nextLogin != null) {
            nextLogin.cancel(false);
        }
        if (channel.isRegistered()) {
            // Otherwise there is no socket, and to close the channel would fail.
            channel.close();
        }
        JournalQException failure = listener.onClosing(this, cause);
        failAll(inFlight, failure);
        failAll(waiting, failure);
        listener.onClosed(this, failure);
    }

    /**
     * Closes the connection because TLS failed. Calls may be repeated: another broker, or this one after a change of
     * its files, may serve them. {@link Cluster} decides when that is hopeless.
     */
    private void closeByTls(Throwable cause) {
        JournalQException failure = TlsFailures.explain(address, cause);
        close(failure.retriable() ? failure : new ConnectionFailedException(failure.getMessage(), failure));
    }

    void closeForGood() {
        close(new ClientClosedException("the client was closed before " + address + " responded"));
    }

    @Override
    public String toString() {
        return address + (nodeId < 0 ? "" : " (id " + nodeId + ")");
    }

    private static void failAll(ArrayDeque<Call> calls, JournalQException cause) {
        for (Call call = calls.poll(); call != null; call = calls.poll()) {
            call.onFailure(cause);
        }
    }

    private void write(Call call) {
        short version = versions.choose(call.apiKey(), call.newestVersion());
        if (version == VersionTable.NONE) {
            call.onFailure(new UnsupportedByBrokerException(address + " does not support " + call.apiKey()
                    + " in a version that this client supports; use a newer broker, or do not use this feature"));
            return;
        }
        writeAs(call, version);
    }

    private void writeAs(Call call, short version) {
        int correlationId = nextCorrelationId++;
        call.sent(version, correlationId);
        List<ReferenceCounted> parts;
        try {
            parts = encode(call, version, correlationId);
        } catch (JournalQException e) {
            call.onFailure(e);
            return;
        } catch (UnsupportedVersionException e) {
            call.onFailure(new UnsupportedByBrokerException(
                    address + " does not support this request (" + e.getMessage() + "); use a newer broker", e));
            return;
        } catch (RuntimeException | Error e) {
            // Nothing has been written, and what waits for this call must not wait forever.
            call.onFailure(unwritten(call, e));
            return;
        }
        int last = parts.size() - 1;
        for (int i = 0; i < last; i++) {
            channel.write(parts.get(i), channel.voidPromise());
        }
        if (call.expectsResponse()) {
            inFlight.add(call);
            channel.write(parts.get(last), channel.voidPromise());
        } else {
            channel.write(parts.get(last)).addListener(done -> {
                if (done.isSuccess()) {
                    call.onResponse(null, null, version);
                } else {
                    call.onFailure(
                            new ConnectionFailedException("the connection to " + address + " broke", done.cause()));
                }
            });
        }
    }

    private List<ReferenceCounted> encode(Call call, short version, int correlationId) {
        return RequestFrame.encode(
                channel.alloc(),
                call.apiKey(),
                version,
                correlationId,
                config.clientId(),
                () -> call.request(version),
                call.copiedBytes());
    }

    /** A lack of memory can pass. A value that the protocol does not allow stays. */
    private JournalQException unwritten(Call call, Throwable cause) {
        String message = "cannot write a request of " + call.apiKey() + " to " + address + ": " + cause.getMessage();
        return cause instanceof Error
                ? new ConnectionFailedException(message, cause)
                : new JournalQException(message, ErrorCode.INVALID_REQUEST, false, cause);
    }

    private void onVersions(VersionTable table) {
        versions = table;
        if (config.sasl() == null) {
            onReady();
        } else {
            logIn();
        }
    }

    private void logIn() {
        new ConnectionLogin(address, config.sasl(), config.requestTimeoutMs(), new LoginOwner()).begin();
    }

    /** Other calls wait meanwhile, because some brokers serve none between the requests of a login (KIP-368). */
    private void logInAgain() {
        if (state == State.READY) {
            state = State.OPENING;
            logIn();
        }
    }

    private void onReady() {
        state = State.READY;
        everReady = true;
        for (Call call = waiting.poll(); call != null; call = waiting.poll()) {
            write(call);
        }
        channel.flush();
        listener.onReady(this);
    }

    private void onFrame(ByteBuf frame) {
        Call call = inFlight.peek();
        if (call == null) {
            throw new BadFrameException("a response without a request");
        }
        boolean refused = call instanceof VersionsCall && ApiVersionsCall.isRefused(frame);
        MessageReader reader = new MessageReader(frame);
        int correlationId = RequestFrame.readCorrelationId(reader, call.apiKey(), call.version());
        if (correlationId != call.correlationId()) {
            throw new BadFrameException(
                    "the response to request " + correlationId + " instead of " + call.correlationId());
        }
        ApiMessage response = refused ? null : ApiMessages.readResponse(call.apiKey(), reader, call.version());
        inFlight.poll();
        call.onResponse(response, frame, call.version());
    }

    /**
     * Negotiates the versions: with the newest version of ApiVersions first, then with the oldest if the broker does
     * not support the newest.
     */
    private final class VersionsCall extends ApiVersionsCall {
        private VersionsCall() {
            super(config.requestTimeoutMs());
        }

        @Override
        void onVersionTable(VersionTable table) {
            onVersions(table);
        }

        @Override
        void onRefused() {
            if (refusedBefore) {
                close(new UnsupportedByBrokerException(address + " rejects all versions of ApiVersions; use a broker"
                        + " that supports the Kafka protocol 0.10 or later"));
                return;
            }
            refusedBefore = true;
            VersionsCall retry = new VersionsCall();
            retry.handedOver(System.nanoTime());
            writeAs(retry, ApiVersionsCall.OLDEST);
            channel.flush();
        }

        @Override
        protected void onFailure(JournalQException cause) {
            close(cause);
        }
    }

    /** A reason why a broker closes a connection before it has responded to anything. */
    private String uncertainProtocol() {
        return config.tls() == null
                ? ", or the listener may require TLS"
                : ", or may have rejected the certificate of this client";
    }

    private final class LoginOwner implements ConnectionLogin.Owner {
        @Override
        public void sendNow(Call call) {
            call.handedOver(System.nanoTime());
            write(call);
            channel.flush();
        }

        @Override
        public void onLogin(long sessionLifetimeMs) {
            if (sessionLifetimeMs > 0) {
                nextLogin = eventLoop.schedule(
                        BrokerConnection.this::logInAgain,
                        (long) (sessionLifetimeMs * SESSION_PART),
                        TimeUnit.MILLISECONDS);
            }
            onReady();
        }

        /** As after a failure of TLS, calls may be repeated, and {@link Cluster} decides when that is hopeless. */
        @Override
        public void onLoginFailed(JournalQException cause) {
            close(cause.retriable() ? cause : new ConnectionFailedException(cause.getMessage(), cause));
        }
    }

    private final class Inbound extends ChannelInboundHandlerAdapter {
        @Override
        public void channelActive(ChannelHandlerContext context) {
            if (config.tls() == null) {
                negotiate(context);
            }
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            if (event instanceof SslHandshakeCompletionEvent handshake) {
                if (handshake.isSuccess()) {
                    negotiate(context);
                } else {
                    closeByTls(handshake.cause());
                }
            }
        }

        private void negotiate(ChannelHandlerContext context) {
            VersionsCall call = new VersionsCall();
            call.handedOver(System.nanoTime());
            writeAs(call, call.newestVersion());
            context.flush();
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf frame = (ByteBuf) message;
            try {
                if (state != State.CLOSED) {
                    onFrame(frame);
                }
            } finally {
                frame.release();
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            close(new ConnectionFailedException(address + " closed the connection; it may be stopping, or may have"
                    + " rejected a request" + (versions == null ? uncertainProtocol() : "") + ": see its log"));
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext context) {
            if (state == State.READY && channel.isWritable()) {
                listener.onWritable(BrokerConnection.this);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            if (TlsFailures.isOne(cause)) {
                closeByTls(cause);
                return;
            }
            close(new ConnectionFailedException(
                    "the connection to " + address + " broke (" + cause.getMessage() + "); the client reconnects",
                    cause));
        }
    }
}
