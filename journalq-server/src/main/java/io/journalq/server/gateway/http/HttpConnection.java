package io.journalq.server.gateway.http;

import io.journalq.server.gateway.guard.RequestGuard;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemException;
import io.journalq.server.gateway.problem.ProblemType;
import io.journalq.server.loop.Loop;
import io.journalq.server.network.AcceptedConnection;
import io.journalq.server.network.FairScheduler;
import io.journalq.server.network.FrameReservation;
import io.journalq.server.network.LoopContext;
import io.journalq.server.network.Transport;
import io.journalq.server.security.sasl.HttpLogin;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
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
final class HttpConnection extends ChannelInboundHandlerAdapter
        implements AcceptedConnection, FairScheduler.Participant {
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
    private final ArrayDeque<HttpObject> waiting = new ArrayDeque<>(2);
    private ChannelHandlerContext context;
    private Loop.Timer check;
    private State state = State.IDLE;
    private HttpExchange exchange;
    private Route route;
    private RequestBody body;
    private FrameReservation reservation;

    private boolean keepAlive;
    private boolean chunkedResponse;
    private boolean headOnly;
    private boolean hasBody;
    private boolean bodyComplete;
    /** Whether the connection does not speak HTTP any more. */
    private boolean upgraded;
    /** Whether the client waits for a permission to send the body. */
    private boolean expectsContinue;

    private boolean waitsForLogin;
    private boolean waitsForMemory;
    private boolean held;
    private boolean turnEnded;
    private boolean bodyHasMore;
    private int pauses;
    private boolean advancing;
    private boolean draining;
    private boolean closed;

    private long turnBytes;
    private long headNanos;
    private long lingerNanos;
    private int reservedBytes;

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
    }

    RequestDecoder decoder() {
        return decoder;
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

    /** How errors of the current request are described. */
    ErrorForm errors() {
        return route == null ? ErrorForm.PROBLEM : route.errors();
    }

    @Override
    public Channel channel() {
        return channel;
    }

    private long nanoTime() {
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
            case IDLE -> turnEnded || !channel.isWritable();
            case BODY -> turnEnded || pauses > 0 || waitsForLogin || waitsForMemory || held;
            case RESPONDING -> true;
            case CLOSING -> false;
        };
    }

    /** Processes what has arrived, as far as possible, and adjusts whether the socket is read. */
    private void advance() {
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
        if (state == State.BODY && bodyHasMore) {
            guarded(exchange, () -> bodyHasMore = body.goOn());
            return true;
        }
        if (state == State.BODY && bodyComplete) {
            state = State.RESPONDING;
            guarded(exchange, body::onEnd);
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
        if (state == State.IDLE && message instanceof HttpRequest request) {
            onHead(request);
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
        if (upgraded && body != null) {
            upgraded = false; // If this fails, too, the connection is closed.
            cutShort(problem);
        } else if (current.hasResponse()) {
            close(problem.detail()); // The response has begun, and cannot become a problem.
        } else {
            current.fail(problem);
        }
    }

    private void onHead(HttpRequest request) {
        headNanos = nanoTime();
        pace.endHead(headNanos);
        route = null;
        bodyComplete = false;
        bodyHasMore = false;
        hasBody = RequestHead.hasBody(request);
        headOnly = request.method().equals(HttpMethod.HEAD);
        chunkedResponse = request.protocolVersion().equals(HttpVersion.HTTP_1_1);
        keepAlive = HttpUtil.isKeepAlive(request) && request.decoderResult().isSuccess();
        state = State.BODY;
        exchange = new HttpExchange(this, request);
        charge(FairScheduler.REQUEST_BYTES);
        guarded(exchange, () -> begin(request));
    }

    private void begin(HttpRequest request) {
        if (request.decoderResult().isFailure()) {
            throw RequestHead.unreadable(request.decoderResult().cause());
        }
        keepAlive &= RequestGuard.isFramed(request);
        services.guard().check(request);
        Routes.Match match = services.routes().find(request.method(), request.uri());
        route = match.route();
        RequestHead head = RequestHead.of(request);
        expectsContinue = head.expectsContinue();
        if (identity.needsLogin()) {
            HttpExchange current = exchange;
            waitsForLogin = true;
            identity.logIn(request, login -> endLogin(current, () -> open(request, match, head, login.get())));
        } else {
            open(request, match, head, null);
        }
    }

    /** The login was checked, before which the body was not read. */
    private void endLogin(HttpExchange current, Runnable next) {
        if (exchange == current && waitsForLogin) {
            waitsForLogin = false;
            guarded(current, next);
            advance();
        }
    }

    /** @param login null if the listener requires no login */
    private void open(HttpRequest request, Routes.Match match, RequestHead head, HttpLogin login) {
        identity.begin(request, login);
        exchange.begin(match, head.bodyLength());
        if (login != null && login.lifetimeMs() > 0) {
            exchange.expireAt(headNanos + TimeUnit.MILLISECONDS.toNanos(login.lifetimeMs()));
            if (exchange.takeExpiry(nanoTime())) {
                throw identity.expired().exception();
            }
        }
        RequestBody opened = route.open(exchange);
        if (state != State.BODY) {
            opened.onClosed();
            return;
        }
        body = head.gzip() ? new GzipBody(exchange, opened) : opened;
        if (opened.reservedBytes() > 0) {
            reserve(opened.reservedBytes());
        } else {
            permitBody();
        }
    }

    private void reserve(long sizeBytes) {
        reservation = loop.reservation(this::onRoom);
        if (!reservation.canHold(sizeBytes)) {
            throw new Problem(
                            ProblemType.BODY_TOO_LARGE,
                            "the body needs more memory than all requests may use (total.in.flight.max.bytes)",
                            "send several requests")
                    .exception();
        }
        reservedBytes = (int) sizeBytes;
        waitsForMemory = true;
        onRoom();
    }

    /** Asks for the memory of the body: for the first time, or because others have released theirs. */
    private void onRoom() {
        if (closed || !waitsForMemory || !reservation.ask(reservedBytes)) {
            return;
        }
        waitsForMemory = false;
        pace.beginHold(nanoTime());
        permitBody();
        advance();
    }

    /** The body may be sent. */
    private void permitBody() {
        pace.beginWindow(nanoTime());
        if (expectsContinue) {
            expectsContinue = false;
            output.write(HttpResponses.permission());
        }
    }

    private void onContent(HttpContent content) {
        if (content.decoderResult().isFailure()) {
            keepAlive = false;
            cutShort(new Problem(
                    ProblemType.MALFORMED_REQUEST, "the chunks of the body are malformed", "send a valid body"));
            return;
        }
        ByteBuf data = content.content();
        if (data.isReadable()) {
            charge(data.readableBytes());
            guarded(exchange, () -> body.onData(data));
            bodyHasMore = true;
        }
        bodyComplete = content instanceof LastHttpContent;
    }

    /** Ends a request whose body does not arrive completely. Its route may know more to say about it. */
    private void cutShort(Problem problem) {
        HttpExchange current = exchange;
        guarded(current, () -> {
            if (body == null || !body.onCutShort(problem)) {
                current.fail(problem);
            }
        });
    }

    /** Counts work of this connection, in the unit of {@link FairScheduler}. */
    void charge(long bytes) {
        turnBytes += bytes;
        if (turnBytes >= FairScheduler.SHARE_BYTES && !turnEnded && !closed) {
            turnEnded = true;
            loop.turns().await(this);
        }
    }

    @Override
    public long beginTurn() {
        long lastBytes = turnBytes;
        turnBytes = 0;
        turnEnded = false;
        loop.cycle().enqueue(this::advance);
        return lastBytes;
    }

    void hold(boolean isHeld) {
        held = isHeld;
        if (!isHeld) {
            advance();
        }
    }

    /**
     * Delays the rest of the body of this request. Later requests are refused while their clients have used up their
     * quotas: other clients may share this connection, behind a proxy.
     */
    private void pause(int durationMs) {
        if (durationMs > 0) {
            loop.cycle().execute(() -> {
                HttpExchange paused = exchange;
                if (paused != null) {
                    pauses++;
                    loop.cycle().loop().schedule(() -> endPause(paused), durationMs);
                }
            });
        }
    }

    private void endPause(HttpExchange paused) {
        if (exchange == paused) {
            pauses--;
            advance();
        }
    }

    void respond(HttpResponseStatus status, String type, ByteBuf document, Map<String, String> headers) {
        endBodyEarly();
        services.counters().onResponse(route, status.code());
        output.write(HttpResponses.complete(status, type, document, headOnly, keepAlive, headers));
        onResponded();
    }

    /** The rest of a body that is not read any more cannot be told from the next request. */
    private void endBodyEarly() {
        if (state == State.BODY && hasBody && !bodyComplete) {
            keepAlive = false;
        }
        keepAlive &= !draining;
    }

    void beginStream(String type) {
        endBodyEarly();
        keepAlive &= chunkedResponse;
        services.counters().onResponse(route, HttpResponseStatus.OK.code());
        output.write(HttpResponses.stream(type, chunkedResponse, keepAlive));
    }

    void endStream() {
        output.write(LastHttpContent.EMPTY_LAST_CONTENT);
        onResponded();
    }

    void upgrade(Map<String, String> headers) {
        keepAlive = false;
        hasBody = true;
        bodyComplete = false;
        upgraded = true;
        state = State.BODY;
        services.counters().onResponse(route, HttpResponseStatus.SWITCHING_PROTOCOLS.code());
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
        if (!turnEnded) {
            turnBytes = 0;
        }
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
            if (decoder.hasRest()) {
                pace.beginHead(nowNanos);
            }
        } else {
            state = State.CLOSING;
            lingerNanos = nowNanos;
        }
        advance();
    }

    /** Releases what the request holds. */
    private void endRequest() {
        held = false;
        pauses = 0;
        waitsForLogin = false;
        waitsForMemory = false;
        bodyHasMore = false;
        output.forgetWork();
        if (exchange != null) {
            exchange.close();
            exchange = null;
        }
        if (body != null) {
            RequestBody ended = body;
            body = null;
            ended.onClosed();
        }
        if (reservation != null) {
            reservation.release();
            reservation = null;
        }
    }

    /** Everything was sent. Without unread input, closing loses nothing. Otherwise, the client closes or the check does. */
    private void endOutput() {
        context.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(sent -> {
            if (bodyComplete || !hasBody || !sent.isSuccess()) {
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
        if (exchange != null && exchange.takeExpiry(nowNanos)) {
            expire();
        }
        switch (state) {
            case IDLE -> judge(isBlocked() ? ClientPace.Verdict.FAST_ENOUGH : pace.checkHead(nowNanos));
            case BODY -> {
                if (upgraded) {
                    loop.cycle().begin();
                    guarded(exchange, ((UpgradedBody) body)::onCheck);
                } else {
                    judge(isBlocked() ? ClientPace.Verdict.FAST_ENOUGH : pace.checkBody(nowNanos));
                }
            }
            case CLOSING -> {
                if (nowNanos - lingerNanos >= LINGER_NANOS) {
                    channel.close();
                }
            }
            case RESPONDING -> {}
        }
    }

    /** The credentials of the current request have expired. With its complete body, it ends only if it can last. */
    private void expire() {
        loop.cycle().begin();
        Problem problem = identity.expired();
        if (state == State.BODY && !bodyComplete) {
            keepAlive = false;
            cutShort(problem);
        } else if (body != null) {
            guarded(exchange, () -> body.onExpired(problem));
        }
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
        hasBody = true;
        loop.cycle().begin();
        if (exchange == null) {
            route = null;
            exchange = new HttpExchange(this, null);
        }
        cutShort(new Problem(ProblemType.SLOW_REQUEST, verdict.detail(), "send requests only when they are complete"));
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
            } else if (state == State.BODY && !bodyComplete) {
                keepAlive = false;
                cutShort(new Problem(
                        ProblemType.UNAVAILABLE, "the broker stops", "try again; read the topic to find what it has"));
            } else if (state == State.RESPONDING && body != null) {
                guarded(exchange, body::onDrain);
            }
        });
    }

    @Override
    public long idleNanos(long nowNanos) {
        boolean waits = state == State.RESPONDING && channel.isWritable();
        return state == State.IDLE ? 0 : pace.idleNanos(nowNanos, output.pendingBytes(), waits);
    }

    @Override
    public boolean isStalling(long nowNanos, boolean begins) {
        boolean holds = state == State.BODY
                && (upgraded ? ((UpgradedBody) body).holdsMemory() : reservation != null && reservation.isGranted());
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
        loop.turns().forget(this);
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
