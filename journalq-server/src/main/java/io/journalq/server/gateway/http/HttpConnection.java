package io.journalq.server.gateway.http;

import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemException;
import io.journalq.server.gateway.problem.ProblemType;
import io.journalq.server.loop.Loop;
import io.journalq.server.network.AcceptedConnection;
import io.journalq.server.network.ConnectionTurn;
import io.journalq.server.network.FairScheduler;
import io.journalq.server.network.LoopContext;
import io.journalq.server.network.Transport;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connection of one HTTP client. It serves one request at a time. While the body of a request waits for memory, and
 * while the client does not read, the socket is not read. The same applies while a request has no complete response, but
 * only from the first bytes of another one on: most clients send nothing before they have the response, and to stop and
 * resume reading costs two system calls. After a refusal whose body was not read, it reads and drops what the client still
 * sends for {@link #LINGER_NANOS}, so that the client gets the response.
 *
 * <p>On its loop, except where {@link AcceptedConnection} says otherwise.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a write or a close that fails ends in channelInactive
final class HttpConnection extends ChannelInboundHandlerAdapter implements AcceptedConnection {
    private static final Logger log = LoggerFactory.getLogger(HttpConnection.class);

    private static final long LINGER_NANOS = TimeUnit.SECONDS.toNanos(2);
    private static final long CHECK_INTERVAL_MS = 1_000;

    private final HttpDoor.Services services;
    private final LoopContext loop;
    private final Channel channel;
    private final Transport.Line line;
    private final ClientIdentity identity;
    private final HttpOutput output;
    private final RequestDecoder decoder = new RequestDecoder(this::isBlocked, this::onBytes);
    private final ClientPace pace;
    private final ConnectionTurn turn;
    private final ArrayDeque<HttpObject> waiting = new ArrayDeque<>(2);
    private ChannelHandlerContext context;
    private Loop.Timer check;
    private State state = State.IDLE;

    /** The current request, and the last one while the connection closes; null if there is none. */
    private RequestProgress request;

    private boolean keepAlive;
    /** Whether the connection does not speak HTTP any more. */
    private boolean upgraded;

    private boolean advancing;
    private boolean draining;
    private boolean closed;
    private long lingerNanos;

    private enum State {
        /** No request, or a part of its head. */
        IDLE,
        /** The body of a request arrives. */
        BODY,
        /** The body is complete, and the response is not. */
        RESPONDING,
        /** The last response was given. */
        CLOSING
    }

    HttpConnection(
            HttpDoor.Services services, LoopContext loop, Channel channel, Transport.Line line, String listenerName) {
        this.services = services;
        this.loop = loop;
        this.channel = channel;
        this.line = line;
        this.identity = new ClientIdentity(services, loop.cycle(), channel, line, listenerName, this::pause);
        this.output = new HttpOutput(loop, channel, this::onFlushed);
        this.pace = new ClientPace(nanoTime());
        this.turn =
                new ConnectionTurn(loop.turns(), () -> {}, () -> loop.cycle().enqueue(this::advance));
    }

    RequestDecoder decoder() {
        return decoder;
    }

    /** Returns the buffer for the next read of the socket. The caller releases it. */
    ByteBuf allocate(ByteBufAllocator allocator, RecvByteBufAllocator.ExtendedHandle usual) {
        boolean chooses = state == State.BODY && waiting.isEmpty() && !decoder.hasRest();
        ByteBuf chosen = chooses ? request.readTarget() : null;
        return chosen == null ? usual.allocate(allocator) : chosen;
    }

    HttpDoor.Services services() {
        return services;
    }

    ClientIdentity identity() {
        return identity;
    }

    HttpOutput output() {
        return output;
    }

    LoopContext loop() {
        return loop;
    }

    ClientPace pace() {
        return pace;
    }

    /** How errors of the current request are described. */
    ErrorForm errors() {
        Route route = route();
        return route == null ? ErrorForm.PROBLEM : route.errors();
    }

    /** The route of the current request; null if it is not known. */
    private Route route() {
        return request == null ? null : request.route();
    }

    @Override
    public Channel channel() {
        return channel;
    }

    long nanoTime() {
        return loop.cycle().loop().nanoTime();
    }

    @Override
    public void handlerAdded(ChannelHandlerContext handlerContext) {
        context = handlerContext;
        output.begin(handlerContext);
        loop.idle().add(this);
        check = loop.cycle().loop().schedule(this::check, CHECK_INTERVAL_MS);
    }

    @Override
    public void channelRead(ChannelHandlerContext handlerContext, Object message) {
        waiting.add((HttpObject) message);
        advance();
    }

    /** A part of a request was read from the socket. */
    private void onBytes(int sizeBytes) {
        pace.onBytes(sizeBytes);
        if (upgraded) {
            pace.onProgress(nanoTime());
            return;
        }
        if (state == State.IDLE && !pace.isWithinHead()) {
            pace.beginHead(nanoTime());
        } else if (state == State.RESPONDING) {
            setReading(false);
        }
    }

    private void setReading(boolean reads) {
        if (channel.config().isAutoRead() != reads) {
            pace.beginWindow(nanoTime());
            channel.config().setAutoRead(reads);
        }
    }

    /** Whether the next part of a request must wait. */
    boolean isBlocked() {
        return switch (state) {
            case IDLE -> turn.hasEnded() || !channel.isWritable();
            case BODY -> turn.hasEnded() || request.isStopped();
            case RESPONDING -> true;
            case CLOSING -> false;
        };
    }

    /** Processes what has arrived, as far as possible, and adjusts whether the socket is read. */
    void advance() {
        if (advancing) {
            return;
        }
        advancing = true;
        try {
            while (!closed && !isBlocked() && advanceOnce()) {
                loop.cycle().begin();
            }
        } finally {
            advancing = false;
        }
        if (closed) {
            return;
        }
        boolean blocked = isBlocked();
        if (!blocked && !upgraded && decoder.hasRest()) {
            loop.cycle().enqueue(decoder::goOn);
        }
        if (state != State.RESPONDING) {
            setReading(!blocked);
        }
    }

    /** Returns whether there was anything to do. */
    private boolean advanceOnce() {
        if (state == State.BODY && expireIfDue(request.exchange())) {
            return true;
        }
        if (state == State.BODY && request.goOn()) {
            return true;
        }
        if (state == State.BODY && request.isBodyComplete()) {
            state = State.RESPONDING;
            guarded(request.exchange(), request.body()::onEnd);
            return true;
        }
        HttpObject next = waiting.poll();
        if (next == null) {
            return false;
        }
        try {
            process(next);
        } finally {
            ReferenceCountUtil.release(next);
        }
        return true;
    }

    private void process(HttpObject message) {
        if (state == State.IDLE && message instanceof HttpRequest head) {
            onHead(head);
        } else if (state == State.BODY && message instanceof HttpContent content) {
            onContent(content);
        }
    }

    /** Runs a part of a request, and ends the request if it fails. */
    void guarded(HttpExchange current, Runnable work) {
        try {
            work.run();
        } catch (ProblemException refusal) {
            fail(current, refusal.problem());
        } catch (RuntimeException defect) {
            log.error("unexpected failure in a request of {}", channel.remoteAddress(), defect);
            keepAlive &= current.isClosed();
            fail(current, new Problem(ProblemType.INTERNAL_ERROR, "unexpected failure", "see the broker's log"));
        } catch (OutOfMemoryError noDirectMemory) {
            closeInShortage(noDirectMemory);
        }
    }

    private void fail(HttpExchange current, Problem problem) {
        if (current.isClosed()) {
            return;
        }
        if (upgraded && request.body() != null) {
            upgraded = false; // If this fails, too, the connection is closed.
            request.cutShort(problem);
        } else if (current.hasResponse()) {
            close(problem.detail()); // The response has begun, and cannot become a problem.
        } else {
            current.fail(problem);
        }
    }

    private void onHead(HttpRequest head) {
        long nowNanos = nanoTime();
        pace.endHead(nowNanos);
        keepAlive = HttpUtil.isKeepAlive(head) && head.decoderResult().isSuccess();
        state = State.BODY;
        request = new RequestProgress(this, head, nowNanos);
        charge(FairScheduler.REQUEST_BYTES);
        guarded(request.exchange(), request::begin);
    }

    /** Closes the connection after this request unless {@code possible}. */
    void keepAliveIf(boolean possible) {
        keepAlive &= possible;
    }

    private void onContent(HttpContent content) {
        if (content.decoderResult().isFailure()) {
            keepAlive = false;
            request.cutShort(new Problem(
                    ProblemType.MALFORMED_REQUEST, "the chunks of the body are malformed", "send a valid body"));
        } else {
            request.onContent(content);
        }
    }

    /** Counts work of this connection, in the unit of {@link FairScheduler}. */
    void charge(long bytes) {
        turn.charge(bytes);
    }

    /** Whether there is a request that has not ended. */
    private boolean isServing() {
        return state == State.BODY || state == State.RESPONDING;
    }

    void hold(boolean isHeld) {
        request.hold(isHeld);
    }

    /**
     * Delays the rest of the body of this request. Later requests are refused while their clients have used up their
     * quotas: other clients may share this connection, behind a proxy.
     */
    private void pause(int durationMs) {
        if (durationMs > 0) {
            loop.cycle().execute(() -> {
                if (isServing()) {
                    request.pause(durationMs);
                }
            });
        }
    }

    void respond(HttpResponseStatus status, String type, ByteBuf document, Map<String, String> headers) {
        endBodyEarly();
        services.counters().onResponse(route(), status.code());
        output.write(HttpResponses.complete(status, type, document, request.isHeadOnly(), keepAlive, headers));
        onResponded();
    }

    /** The rest of a body that is not read any more cannot be told from the next request. */
    private void endBodyEarly() {
        if (state == State.BODY && request.hasUnreadBody()) {
            keepAlive = false;
        }
        keepAlive &= !draining;
    }

    void beginStream(String type) {
        endBodyEarly();
        keepAlive &= request.takesChunks();
        services.counters().onResponse(route(), HttpResponseStatus.OK.code());
        output.write(HttpResponses.stream(type, request.takesChunks(), keepAlive));
    }

    void endStream() {
        output.write(LastHttpContent.EMPTY_LAST_CONTENT);
        onResponded();
    }

    void upgrade(Map<String, String> headers) {
        keepAlive = false;
        request.readOn();
        upgraded = true;
        state = State.BODY;
        services.counters().onResponse(route(), HttpResponseStatus.SWITCHING_PROTOCOLS.code());
        output.write(HttpResponses.upgrade(headers));
        channel.pipeline().remove(HttpResponseEncoder.class);
        channel.pipeline().replace(decoder, null, new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext handlerContext, Object message) {
                onBytes(((ByteBuf) message).readableBytes());
                handlerContext.fireChannelRead(new DefaultHttpContent((ByteBuf) message));
            }
        });
    }

    void endUpgraded() {
        onResponded();
    }

    private void onFlushed() {
        turn.onFlushed();
        if (state == State.CLOSING) {
            endOutput();
        }
    }

    private void onResponded() {
        endRequest();
        keepAlive &= !draining;
        long nowNanos = nanoTime();
        pace.onProgress(nowNanos);
        if (keepAlive) {
            state = State.IDLE;
            request = null;
            if (decoder.hasRest()) {
                pace.beginHead(nowNanos);
            }
        } else {
            state = State.CLOSING;
            lingerNanos = nowNanos;
        }
        advance();
    }

    private void endRequest() {
        output.forgetWork();
        if (request != null) {
            request.end();
        }
    }

    /** Everything was sent. Without unread input, closing loses nothing. Otherwise, the client closes or the check does. */
    private void endOutput() {
        context.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(sent -> {
            if (!request.hasUnreadBody() || !sent.isSuccess()) {
                channel.close();
            } else if (line.carriesFrames() && channel instanceof DuplexChannel socket) {
                socket.shutdownOutput();
            }
        });
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext handlerContext) {
        if (channel.isWritable()) {
            pace.onProgress(nanoTime());
            output.onWritable();
            advance();
        }
    }

    /** Runs each second. */
    private void check() {
        if (closed) {
            return;
        }
        check = loop.cycle().loop().schedule(this::check, CHECK_INTERVAL_MS);
        long nowNanos = nanoTime();
        if (isServing()) {
            watchExpiry(request.exchange());
        }
        switch (state) {
            case IDLE -> judge(isBlocked() ? ClientPace.Verdict.FAST_ENOUGH : pace.checkHead(nowNanos));
            case BODY -> {
                if (upgraded) {
                    loop.cycle().begin();
                    guarded(request.exchange(), ((UpgradedBody) request.body())::onCheck);
                } else {
                    judge(isBlocked() ? ClientPace.Verdict.FAST_ENOUGH : pace.checkBody(nowNanos));
                }
            }
            case CLOSING -> {
                if (pendingBytes() > 0) {
                    lingerNanos = nowNanos; // The client still reads its response.
                } else if (nowNanos - lingerNanos >= LINGER_NANOS) {
                    channel.close();
                }
            }
            case RESPONDING -> {}
        }
    }

    /** Ends a request when its credentials expire. Called at its begin and with each check, so that few need a timer. */
    void watchExpiry(HttpExchange current) {
        if (current.expires() && !expireIfDue(current)) {
            long leftNanos = current.expiryNanos() - nanoTime();
            if (leftNanos <= TimeUnit.MILLISECONDS.toNanos(CHECK_INTERVAL_MS)) {
                loop.cycle().loop().schedule(() -> expireIfDue(current), TimeUnit.NANOSECONDS.toMillis(leftNanos) + 1);
            }
        }
    }

    /** Ends a request whose credentials have expired. Returns whether they have, which is true once. */
    private boolean expireIfDue(HttpExchange current) {
        if (!current.expires() || current.isClosed() || nanoTime() - current.expiryNanos() < 0) {
            return false;
        }
        current.expire();
        loop.cycle().begin();
        Problem problem = identity.expired();
        if (state == State.BODY) {
            // Nothing of the body is used any more, even if it is complete.
            keepAlive = false;
            request.cutShort(problem);
        } else if (request.body() != null) {
            guarded(current, () -> request.body().onExpired(problem));
        }
        return true;
    }

    private void judge(ClientPace.Verdict verdict) {
        if (verdict == ClientPace.Verdict.FAST_ENOUGH) {
            return;
        }
        if (verdict == ClientPace.Verdict.IDLE) {
            channel.close();
            return;
        }
        keepAlive = false;
        loop.cycle().begin();
        if (request == null) {
            request = new RequestProgress(this, null, nanoTime());
        }
        request.readOn();
        request.cutShort(
                new Problem(ProblemType.SLOW_REQUEST, verdict.detail(), "send requests only when they are complete"));
    }

    @Override
    public void close(String reason) {
        loop.close(channel, reason);
    }

    @Override
    public void drain() {
        loop.cycle().execute(() -> {
            draining = true;
            if (state == State.IDLE) {
                channel.close();
            } else if (state == State.BODY && !request.isBodyComplete()) {
                keepAlive = false;
                request.cutShort(new Problem(
                        ProblemType.UNAVAILABLE, "the broker stops", "try again; read the topic to find what it has"));
            } else if (state == State.RESPONDING && request.body() != null) {
                guarded(request.exchange(), request.body()::onDrain);
            }
        });
    }

    @Override
    public long idleNanos(long nowNanos) {
        boolean waits = state == State.RESPONDING && channel.isWritable();
        return state == State.IDLE ? 0 : pace.idleNanos(nowNanos, pendingBytes(), waits);
    }

    /** Changes while the client reads. */
    private long pendingBytes() {
        return output.pendingBytes() + line.queuedBytes();
    }

    @Override
    public boolean isStalling(long nowNanos, boolean begins) {
        boolean holds = state == State.BODY
                && (upgraded ? ((UpgradedBody) request.body()).holdsMemory() : request.holdsMemory());
        return pace.isStalling(nowNanos, holds, begins);
    }

    @Override
    public void channelInactive(ChannelHandlerContext handlerContext) {
        closed = true;
        output.close();
        check.cancel();
        endRequest();
        waiting.forEach(ReferenceCountUtil::release);
        waiting.clear();
        turn.close();
        loop.idle().remove(this);
        identity.close();
        handlerContext.fireChannelInactive();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext handlerContext, Throwable cause) {
        if (cause instanceof IOException) {
            log.debug("connection lost: client={} reason=\"{}\"", channel.remoteAddress(), cause.getMessage());
            channel.close();
        } else if (cause instanceof OutOfMemoryError) {
            closeInShortage(cause);
        } else {
            log.error("unexpected failure on the connection of {}", channel.remoteAddress(), cause);
            close("unexpected failure");
        }
    }

    private void closeInShortage(Throwable cause) {
        loop.shortages().warn("connection closed, out of direct memory", channel.remoteAddress(), cause.getMessage());
        channel.close();
    }
}
