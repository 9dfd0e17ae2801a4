package io.journalq.client.network;

import io.journalq.client.JournalQException;
import io.journalq.client.error.ClientClosedException;
import io.journalq.client.error.ConnectionFailedException;
import io.journalq.client.error.RequestTimedOutException;
import io.journalq.client.error.UnsupportedByBrokerException;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.BadFrameException;
import io.journalq.common.protocol.MessageReader;
import io.journalq.common.protocol.UnsupportedVersionException;
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
import io.netty.util.ReferenceCounted;
import java.util.ArrayDeque;
import java.util.List;

/**
 * One connection to one broker: opens it, agrees on versions, writes requests and gives each answer to its call, in
 * order. It lives once: when it breaks, every call on it fails, and {@link Cluster} opens another. Belongs to the event
 * loop.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a channel closes it, and channelInactive tells
public final class BrokerConnection {
    private static final int MAX_FRAME_SIZE_BYTES = 512 * 1024 * 1024;
    private static final int LOW_WATER_BYTES = 512 * 1024;
    private static final int HIGH_WATER_BYTES = 1024 * 1024;

    /** What happens to a connection, told to whoever opened it. */
    interface Listener {
        /** Versions are agreed on; calls flow. */
        void onReady(BrokerConnection connection);

        /** It is closed for good; its calls have failed. */
        void onClosed(BrokerConnection connection, JournalQException cause);

        /** More can be written after the outbound buffer was full. */
        void onWritable(BrokerConnection connection);
    }

    private enum State {
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

    BrokerConnection(int nodeId, HostAndPort address, ClientConfig config, EventLoop eventLoop, Listener listener) {
        this.nodeId = nodeId;
        this.address = address;
        this.config = config;
        this.eventLoop = eventLoop;
        this.listener = listener;
    }

    void open() {
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
                        opened.config()
                                .setRecvByteBufAllocator(
                                        new FrameReads(decoder, opened.config().getRecvByteBufAllocator()));
                        opened.pipeline().addLast(decoder, new Inbound());
                    }
                });
        ChannelFuture connect = bootstrap.connect(address.host(), address.port());
        channel = connect.channel();
        connect.addListener(done -> {
            if (!done.isSuccess()) {
                close(new ConnectionFailedException(
                        "cannot connect to " + address + " (" + done.cause().getMessage()
                                + "); check that the broker runs and that the address is right",
                        done.cause()));
            }
        });
    }

    /** The broker's id; negative for a bootstrap address. */
    public int nodeId() {
        return nodeId;
    }

    public HostAndPort address() {
        return address;
    }

    public boolean isReady() {
        return state == State.READY;
    }

    boolean isClosed() {
        return state == State.CLOSED;
    }

    /** Whether the outbound buffer has room; a call may be sent in any case. */
    public boolean isWritable() {
        return state == State.READY && channel.isWritable();
    }

    /** Calls sent and not answered. */
    public int inFlightCalls() {
        return inFlight.size();
    }

    /** Version of an API that both sides know, or -1; any thread, but -1 before the connection is ready. */
    public short versionFor(Call call) {
        VersionTable agreed = versions;
        return agreed == null ? VersionTable.NONE : agreed.choose(call.apiKey(), call.newestVersion());
    }

    /** The level of a feature that is in force in the cluster, as the broker said; 0 when it did not, or not yet. */
    public short featureLevel(String name) {
        VersionTable agreed = versions;
        return agreed == null ? 0 : agreed.featureLevel(name);
    }

    /** Writes a call, or keeps it until the connection is ready. {@link #flush()} sends what was written. */
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

    /** Gives the connection up when its oldest call waited too long. Called every now and then. */
    void checkTimeouts(long nowNanos) {
        Call oldest = inFlight.peek();
        if (oldest == null) {
            oldest = waiting.peek();
        }
        if (oldest != null && oldest.isOverdue(nowNanos)) {
            close(new RequestTimedOutException(address + " did not answer " + oldest.apiKey() + " within "
                    + oldest.timeoutMs() + " ms; check the broker's load, or raise requestTimeoutMs"));
        }
    }

    void close(JournalQException cause) {
        if (state == State.CLOSED) {
            return;
        }
        state = State.CLOSED;
        channel.close();
        failAll(inFlight, cause);
        failAll(waiting, cause);
        listener.onClosed(this, cause);
    }

    void closeForGood() {
        close(new ClientClosedException("the client was closed before " + address + " answered"));
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
            call.onFailure(new UnsupportedByBrokerException(address + " does not serve " + call.apiKey()
                    + " in a version that this client knows; use a newer broker, or do without the feature"));
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
                    address + " cannot be asked this (" + e.getMessage() + "); use a newer broker", e));
            return;
        }
        int last = parts.size() - 1;
        for (int i = 0; i < last; i++) {
            channel.write(parts.get(i), channel.voidPromise());
        }
        if (call.expectsAnswer()) {
            inFlight.add(call);
            channel.write(parts.get(last), channel.voidPromise());
        } else {
            channel.write(parts.get(last)).addListener(done -> {
                if (done.isSuccess()) {
                    call.onAnswer(null, null, version);
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
                call.request(version),
                call.copiedBytes());
    }

    private void onVersions(VersionTable table) {
        versions = table;
        state = State.READY;
        for (Call call = waiting.poll(); call != null; call = waiting.poll()) {
            write(call);
        }
        channel.flush();
        listener.onReady(this);
    }

    private void onFrame(ByteBuf frame) {
        Call call = inFlight.peek();
        if (call == null) {
            throw new BadFrameException("an answer to nothing");
        }
        boolean refused = call instanceof VersionsCall && ApiVersionsCall.isRefused(frame);
        MessageReader reader = new MessageReader(frame);
        int correlationId = RequestFrame.readCorrelationId(reader, call.apiKey(), call.version());
        if (correlationId != call.correlationId()) {
            throw new BadFrameException(
                    "the answer to request " + correlationId + " instead of " + call.correlationId());
        }
        ApiMessage answer = refused ? null : call.apiKey().readResponse(reader, call.version());
        inFlight.poll();
        call.onAnswer(answer, frame, call.version());
    }

    /** Agrees on versions: the newest ApiVersions first, the oldest when the broker does not know that one. */
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
                close(new UnsupportedByBrokerException(address + " refuses every version of ApiVersions; use a broker"
                        + " that speaks the Kafka protocol from version 0.10 on"));
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

    private final class Inbound extends ChannelInboundHandlerAdapter {
        @Override
        public void channelActive(ChannelHandlerContext context) {
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
            close(new ConnectionFailedException(address + " closed the connection; it may be stopping, or have refused"
                    + " a request: see its log"));
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext context) {
            if (state == State.READY && channel.isWritable()) {
                listener.onWritable(BrokerConnection.this);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            close(new ConnectionFailedException(
                    "the connection to " + address + " broke (" + cause.getMessage() + "); the client connects again",
                    cause));
        }
    }
}
