package io.journalq.server.network;

import io.journalq.server.loop.Limit;
import io.journalq.server.loop.LoopCycle;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import java.io.IOException;
import java.net.SocketAddress;
import java.security.cert.X509Certificate;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connection of one client: opens an exchange for each frame, and sends the responses in order. Its {@link ReadGate}
 * decides when the socket is read.
 *
 * <p>On its loop, except where {@link Connection} and {@link AcceptedConnection} say otherwise.
 */
final class ConnectionHandler extends ChannelInboundHandlerAdapter
        implements Connection, AcceptedConnection, Exchange.Owner {
    private static final Logger log = LoggerFactory.getLogger(ConnectionHandler.class);

    /** Time without reading after an allocation failed, although its memory was reserved. */
    private static final int SHORTAGE_PAUSE_MS = 100;

    private final LoopContext loop;
    private final Exchange.Factory exchanges;
    private final Channel channel;
    private final Transport.Line line;
    private final String listenerName;
    private final ResponseQueue responses = new ResponseQueue();
    private final ResponseMemory responseMemory;
    private final ReadGate gate;
    private final ConnectionActivity activity;
    private final ArrayDeque<Runnable> untilWritable = new ArrayDeque<>(0);
    private final Runnable flush = this::flush;
    private final Runnable sendAgain = this::sendAgain;
    private RequestFrameDecoder frames;
    /** Null if the client need not authenticate. */
    private PreAuthentication preAuthentication;
    /** Null if the client need not authenticate, or has done so or disconnected. */
    private AuthenticationWait authenticationWait;

    private ChannelHandlerContext context;
    /** When the last pause of a client that exceeded a quota ends. */
    private long pauseEndNanos;

    private boolean flushRegistered;
    private boolean closed;
    private boolean draining;

    ConnectionHandler(
            LoopContext loop, Exchange.Factory exchanges, Channel channel, Transport.Line line, String listenerName) {
        this.loop = loop;
        this.exchanges = exchanges;
        this.channel = channel;
        this.line = line;
        this.listenerName = listenerName;
        this.responseMemory = new ResponseMemory(loop.memory().responses(), loop.cycle());
        this.gate = new ReadGate(loop, channel, responses, responseMemory, this::flushLater);
        this.pauseEndNanos = loop.cycle().loop().nanoTime();
        this.activity = new ConnectionActivity(pauseEndNanos);
    }

    /** Sets the source of the frames. Called before the first frame. */
    void readThrough(RequestFrameDecoder decoder) {
        frames = decoder;
        gate.readThrough(decoder);
    }

    /**
     * Serves the client within the limits of {@code limits} until it has authenticated.
     *
     * @param byHandshake whether it has authenticated with the handshake of the transport
     */
    void awaitAuthentication(PreAuthentication limits, boolean byHandshake) {
        preAuthentication = limits;
        gate.limitRequests(PreAuthentication.MAX_IN_FLIGHT_REQUESTS);
        authenticationWait = new AuthenticationWait(limits, this, loop.counters(), frames, byHandshake);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext handlerContext, Object event) {
        if (event instanceof SslHandshakeCompletionEvent handshake
                && handshake.isSuccess()
                && authenticationWait != null
                && authenticationWait.endsWithHandshake()) {
            endWait();
        }
        handlerContext.fireUserEventTriggered(event);
    }

    @Override
    public void onAuthenticated() {
        loop.counters().authentications.increment();
        endWait();
    }

    private void endWait() {
        if (authenticationWait != null) {
            gate.limitRequests(loop.limits().maxInFlightRequests());
            authenticationWait.lift(loop.limits().maxFrameSizeBytes());
            authenticationWait = null;
        }
    }

    @Override
    public void failAuthentication(AuthenticationFailure failure) {
        loop.counters().onAuthenticationFailure(failure);
        if (failure == AuthenticationFailure.CREDENTIALS) {
            preAuthentication.addresses().onFailedLogin(channel.remoteAddress());
        }
        if (failure.isResponding()) {
            loop.throttle().warn("connection closed", channel.remoteAddress(), failure.reason());
            drain();
        } else {
            close(failure.reason());
        }
    }

    @Override
    public void hold() {
        gate.pause();
    }

    @Override
    public void goOn() {
        gate.endPause();
    }

    @Override
    public LoopCycle cycle() {
        return loop.cycle();
    }

    @Override
    public SocketAddress remoteAddress() {
        return channel.remoteAddress();
    }

    @Override
    public String listenerName() {
        return listenerName;
    }

    @Override
    public X509Certificate clientCertificate() {
        return line.clientCertificate();
    }

    @Override
    public Channel channel() {
        return channel;
    }

    @Override
    public void refuse(String reason) {
        loop.counters().refusedConnections.increment();
        close(reason);
    }

    /** Refuses a frame because of its length field. */
    void refuseFrame(String reason) {
        loop.cycle().counters().onLimit(Limit.REQUEST_BYTES);
        refuse(reason);
    }

    @Override
    public void close(String reason) {
        loop.close(channel, reason);
    }

    /** A frame waits for memory that others hold. */
    void onFrameWaits() {
        loop.cycle().counters().onLimit(Limit.TOTAL_BYTES);
        gate.suspend();
    }

    /** An allocation failed, although its memory was reserved. Retries after {@link #SHORTAGE_PAUSE_MS}. */
    void onShortage(Throwable cause) {
        loop.shortages().warn("out of direct memory", channel.remoteAddress(), cause.getMessage());
        gate.pause();
        loop.cycle().loop().schedule(gate::endPause, SHORTAGE_PAUSE_MS);
    }

    @Override
    public boolean isStalling(long nowNanos, boolean begins) {
        boolean holds = responseMemory.holdsUnsent() || (frames.isWithinFrame() && !gate.isPaused());
        return activity.isStalling(nowNanos, begins, holds, frames.arrivedBytes(), pendingBytes());
    }

    /** The client disconnected in the middle of a request. */
    void cutShort(String what) {
        loop.throttle().warn("connection lost", channel.remoteAddress(), what);
    }

    @Override
    public void pause(int durationMs) {
        if (durationMs > 0) {
            loop.cycle().execute(() -> {
                countPause(durationMs);
                gate.pause();
                loop.cycle().loop().schedule(gate::endPause, durationMs);
            });
        }
    }

    /** Counts what a pause adds to those that have not ended: a request can exceed several quotas. */
    private void countPause(int durationMs) {
        long nowNanos = loop.cycle().loop().nanoTime();
        long endNanos = nowNanos + TimeUnit.MILLISECONDS.toNanos(durationMs);
        long countedNanos = Math.min(endNanos - pauseEndNanos, endNanos - nowNanos);
        if (countedNanos > 0) {
            pauseEndNanos = endNanos;
            loop.counters().pausedMs.add(TimeUnit.NANOSECONDS.toMillis(countedNanos));
        }
    }

    @Override
    public void handlerAdded(ChannelHandlerContext handlerContext) {
        context = handlerContext;
        loop.idle().add(this);
    }

    /** A client that waits for the broker is not idle. One that leaves its responses unread does not wait. */
    @Override
    public long idleNanos(long nowNanos) {
        boolean waits = (responses.size() > 0 || gate.isSuspended()) && channel.isWritable();
        return activity.idleNanos(nowNanos, waits, pendingBytes());
    }

    /** Changes while the client reads its responses. */
    private long pendingBytes() {
        ChannelOutboundBuffer outbound = channel.unsafe().outboundBuffer();
        return outbound == null
                ? 0
                : outbound.totalPendingWriteBytes() - outbound.currentProgress() + line.queuedBytes();
    }

    @Override
    public void channelRead(ChannelHandlerContext handlerContext, Object message) {
        ByteBuf frame = (ByteBuf) message;
        if (closed || !channel.isOpen()) {
            drop(frame);
        } else {
            accept(frame);
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext handlerContext) {
        flushLater();
        if (channel.isWritable()) {
            onWritable();
        }
    }

    @Override
    public void whenWritable(Runnable work) {
        if (closed || channel.isWritable()) {
            work.run();
        } else {
            untilWritable.add(work);
        }
    }

    private void onWritable() {
        sendReady();
        for (int i = untilWritable.size(); i > 0; i--) {
            untilWritable.remove().run();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext handlerContext) {
        closed = true;
        if (authenticationWait != null) {
            authenticationWait.end();
            authenticationWait = null; // A login that is still being checked must not end it again.
        }
        responses.release();
        responseMemory.close();
        useNoRoom();
        gate.close();
        loop.idle().remove(this);
        sendReady();
        onWritable();
        handlerContext.fireChannelInactive();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext handlerContext, Throwable cause) {
        if (cause instanceof RequestFrameDecoder.MemoryShortage) {
            onShortage(cause);
        } else if (cause instanceof OutOfMemoryError) {
            closeInShortage(cause);
        } else if (cause instanceof IOException) {
            log.debug("connection lost: client={} reason=\"{}\"", channel.remoteAddress(), cause.getMessage());
            close();
        } else {
            log.error("unexpected failure on the connection of {}", channel.remoteAddress(), cause);
            refuse("unexpected failure");
        }
    }

    private void closeInShortage(Throwable cause) {
        loop.shortages().warn("connection closed, out of direct memory", channel.remoteAddress(), cause.getMessage());
        close();
    }

    /** Opens the exchange of a frame and begins to process it. */
    private void accept(ByteBuf frame) {
        loop.cycle().begin();
        activity.onProgress();
        loop.counters().requests.increment();
        loop.counters().receivedBytes.add(frame.readableBytes());
        Exchange exchange;
        try {
            exchange = exchanges.open(this, frame);
        } catch (RuntimeException unreadable) {
            drop(frame);
            refuse(unreadable.getMessage());
            return;
        } catch (Error failure) {
            drop(frame);
            throw failure;
        }
        exchange.ownedBy(this);
        exchange.holdLarge(frames.takeHeldBytes());
        responses.add(exchange);
        gate.onRequest(exchange, frame.readableBytes());
        try {
            exchange.handle();
        } catch (OutOfMemoryError noDirectMemory) {
            closeInShortage(noDirectMemory);
            exchange.abandon();
        } catch (RuntimeException | Error failure) {
            log.error("unexpected failure in {} of {}", exchange.description(), channel.remoteAddress(), failure);
            refuse("unexpected failure in " + exchange.description());
            exchange.abandon();
        }
        gate.onHandled();
    }

    private void drop(ByteBuf frame) {
        frame.release();
        loop.memory().largeRequests().giveBack(frames.takeHeldBytes());
    }

    /** A part of a large request has arrived. */
    void onPart(int sizeBytes) {
        gate.onPart(sizeBytes);
    }

    @Override
    public void onDone(Exchange exchange) {
        sendReady();
    }

    private void sendReady() {
        boolean sent = false;
        for (Exchange done = nextDone(); done != null; done = nextDone()) {
            sent = true;
            send(done);
        }
        askForRoom();
        if (sent) {
            flushLater();
        }
    }

    private void sendAgain() {
        sendReady();
        flushLater();
    }

    private Exchange nextDone() {
        if (closed) {
            return responses.pollDoneInAnyOrder();
        }
        Exchange head = responses.head();
        return head != null && head.isDone() && mayEncode(head) ? responses.pollDone() : null;
    }

    /**
     * A response is encoded, and uses memory, only after the client has read the responses before it, and only while
     * the responses to all clients leave enough memory.
     */
    private boolean mayEncode(Exchange exchange) {
        if (!exchange.hasResponse()) {
            return true;
        }
        if (!channel.isWritable()) {
            return false; // onWritable tries again
        }
        return exchange.hasRoom() || responseMemory.hasFree(sendAgain);
    }

    /** Reserves the memory that the oldest exchange asks for. Later exchanges could not be sent before it. */
    @Override
    public void askForRoom() {
        if (closed) {
            useNoRoom();
            return;
        }
        Exchange head = responses.head();
        if (head == null || !head.wantsRoom()) {
            return;
        }
        boolean taken = responseMemory.reserve(head.roomBytes(), () -> {
            head.useRoom();
            flushLater();
        });
        if (taken) {
            head.useRoom();
        }
    }

    /** The client has disconnected. Exchanges that waited for memory continue without it. */
    private void useNoRoom() {
        for (Exchange exchange : responses.all()) {
            if (exchange.wantsRoom()) {
                exchange.useNoRoom();
            }
        }
    }

    private void send(Exchange exchange) {
        try {
            if (!exchange.hasResponse()) {
                return;
            }
            if (closed) {
                ResponseQueue.discard(exchange, channel.alloc());
            } else {
                gate.onWritten(responses.write(exchange, context, loop.counters()));
                responseMemory.chargeIfLarge(responses);
            }
        } catch (OutOfMemoryError noDirectMemory) {
            responses.release();
            closeInShortage(noDirectMemory);
        } catch (RuntimeException | Error failure) {
            log.error(
                    "cannot write the response to {} of {}", exchange.description(), channel.remoteAddress(), failure);
            responses.release();
            refuse("unexpected failure in the response to " + exchange.description());
        } finally {
            activity.onProgress();
            gate.onReleased(exchange);
            exchange.releaseFrame();
            giveBackShared(exchange);
        }
    }

    private void giveBackShared(Exchange exchange) {
        if (exchange.largeBytes() > 0) {
            loop.memory().largeRequests().giveBack(exchange.largeBytes());
        }
        if (exchange.hasRoom()) {
            loop.memory().responses().giveBack(exchange.roomBytes());
        }
    }

    /** Flushes the connection at the end of the loop's iteration, and then resumes reading if the limits allow it. */
    void flushLater() {
        if (!flushRegistered) {
            flushRegistered = true;
            loop.cycle().onFlush(flush);
        }
    }

    private void flush() {
        flushRegistered = false;
        if (closed) {
            return;
        }
        responses.passOn(context, loop.counters());
        context.flush();
        responseMemory.chargeUnsent(responses, context);
        gate.onFlushed();
        if (draining) {
            closeWhenDrained();
        } else {
            gate.resumeIfPossible();
        }
    }

    @Override
    public void drain() {
        loop.cycle().execute(() -> {
            draining = true;
            gate.stop();
            closeWhenDrained();
        });
    }

    @SuppressWarnings("FutureReturnValueIgnored") // the future is not needed; channelInactive follows
    private void close() {
        channel.close();
    }

    /**
     * Closes the connection, unless responses are missing or wait for the flush at the end of this iteration, which
     * calls this method again.
     */
    private void closeWhenDrained() {
        if (responses.size() == 0 && !flushRegistered) {
            context.writeAndFlush(context.alloc().buffer(0)).addListener(ChannelFutureListener.CLOSE);
        }
    }
}
