package io.journalq.server.gateway.http;

import io.journalq.server.gateway.guard.RequestGuard;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemType;
import io.journalq.server.network.FrameReservation;
import io.journalq.server.security.sasl.HttpLogin;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.util.concurrent.TimeUnit;

/**
 * One request of a connection, from its head until it has ended: the login of its client, its route, the memory of its
 * body, and the body. On the connection's loop.
 */
final class RequestProgress {
    private final HttpConnection connection;
    private final HttpRequest request;
    private final HttpExchange exchange;
    private final long headNanos;
    private final boolean headOnly;
    private final boolean chunkedResponse;

    /** Null while it is not known. */
    private Route route;

    /** Null while the route was not opened, and when the request has ended. */
    private RequestBody body;

    private FrameReservation reservation;
    private int reservedBytes;
    private boolean hasBody;
    private boolean bodyComplete;
    private boolean bodyHasMore;
    /** Whether the client waits for a permission to send the body. */
    private boolean expectsContinue;

    private boolean waitsForLogin;
    private boolean waitsForMemory;
    private boolean held;
    private int pauses;

    /**
     * Begins a request whose head has arrived.
     *
     * @param request null if the head is too slow to arrive
     * @param headNanos when it arrived
     */
    RequestProgress(HttpConnection connection, HttpRequest request, long headNanos) {
        this.connection = connection;
        this.request = request;
        this.exchange = new HttpExchange(connection, request);
        this.headNanos = headNanos;
        this.hasBody = request != null && RequestHead.hasBody(request);
        this.headOnly = request != null && request.method().equals(HttpMethod.HEAD);
        this.chunkedResponse = request != null && request.protocolVersion().equals(HttpVersion.HTTP_1_1);
    }

    HttpExchange exchange() {
        return exchange;
    }

    /** Null while it is not known. */
    Route route() {
        return route;
    }

    /** Null while the route was not opened. */
    RequestBody body() {
        return body;
    }

    /** Whether the response has no body, whatever it says about it. */
    boolean isHeadOnly() {
        return headOnly;
    }

    /** Whether a response without a known size can be sent without closing the connection. */
    boolean takesChunks() {
        return chunkedResponse;
    }

    /** Whether a part of the body was not read. It cannot be told from the next request. */
    boolean hasUnreadBody() {
        return hasBody && !bodyComplete;
    }

    boolean isBodyComplete() {
        return bodyComplete;
    }

    /** What arrives from here belongs to this request, whatever its head says. */
    void readOn() {
        hasBody = true;
        bodyComplete = false;
    }

    /** Whether the next part of the body must wait. */
    boolean isStopped() {
        return pauses > 0 || waitsForLogin || waitsForMemory || held;
    }

    /** Whether it holds memory for its body. */
    boolean holdsMemory() {
        return reservation != null && reservation.isGranted();
    }

    /** Finds the route, and opens it when the client has logged in. */
    void begin() {
        if (request.decoderResult().isFailure()) {
            throw RequestHead.unreadable(request.decoderResult().cause());
        }
        connection.keepAliveIf(RequestGuard.isFramed(request));
        connection.services().guard().check(request);
        Routes.Match match = connection.services().routes().find(request.method(), request.uri());
        route = match.route();
        RequestHead head = RequestHead.of(request);
        expectsContinue = head.expectsContinue();
        if (connection.identity().needsLogin()) {
            waitsForLogin = true;
            connection.identity().logIn(request, login -> endLogin(() -> open(match, head, login.get())));
        } else {
            open(match, head, null);
        }
    }

    /** The login was checked, before which the body was not read. */
    private void endLogin(Runnable next) {
        if (!exchange.isClosed() && waitsForLogin) {
            waitsForLogin = false;
            connection.guarded(exchange, next);
            connection.advance();
        }
    }

    /** @param login null if the listener requires no login */
    private void open(Routes.Match match, RequestHead head, HttpLogin login) {
        connection.identity().begin(request, login);
        exchange.begin(match, head.bodyLength());
        if (login != null && login.lifetimeMs() > 0) {
            // Counted from before the check of the credentials, so that nothing is accepted after they have expired.
            exchange.expireAt(headNanos + TimeUnit.MILLISECONDS.toNanos(login.lifetimeMs()));
            connection.watchExpiry(exchange);
            if (exchange.isClosed()) {
                return;
            }
        }
        RequestBody opened = route.open(exchange);
        if (exchange.isClosed()) {
            opened.onClosed();
            return;
        }
        // A request that ends HTTP has no body. Nothing may stand between it and the connection.
        body = head.gzip() && !(opened instanceof UpgradedBody) ? new GzipBody(exchange, opened) : opened;
        if (opened.reservedBytes() > 0) {
            reserve(opened.reservedBytes());
        } else {
            permitBody();
        }
    }

    private void reserve(long sizeBytes) {
        reservation = connection.loop().reservation(this::onRoom);
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
        if (exchange.isClosed() || !waitsForMemory || !reservation.ask(reservedBytes)) {
            return;
        }
        waitsForMemory = false;
        connection.pace().beginHold(connection.nanoTime());
        permitBody();
        connection.advance();
    }

    /** The body may be sent. */
    private void permitBody() {
        connection.pace().beginWindow(connection.nanoTime());
        if (expectsContinue) {
            expectsContinue = false;
            connection.output().write(HttpResponses.permission());
        }
    }

    /** The buffer into which the next part of the body is read, which the caller releases; null for any buffer. */
    ByteBuf readTarget() {
        return body == null || bodyComplete ? null : body.readTarget();
    }

    void onContent(HttpContent content) {
        ByteBuf data = content.content();
        if (data.isReadable()) {
            connection.charge(data.readableBytes());
            connection.guarded(exchange, () -> body.onData(data));
            bodyHasMore = true;
        }
        bodyComplete = content instanceof LastHttpContent;
    }

    /** Goes on with what has arrived. Returns whether there was anything to do. */
    boolean goOn() {
        if (!bodyHasMore) {
            return false;
        }
        connection.guarded(exchange, () -> bodyHasMore = body.goOn());
        return true;
    }

    /** Ends a request whose body does not arrive completely. Its route may know more to say about it. */
    void cutShort(Problem problem) {
        connection.guarded(exchange, () -> {
            if (body == null || !body.onCutShort(problem)) {
                exchange.fail(problem);
            }
        });
    }

    void hold(boolean isHeld) {
        held = isHeld;
        if (!isHeld) {
            connection.advance();
        }
    }

    /** Stops the body for a time. */
    void pause(int durationMs) {
        pauses++;
        connection.loop().cycle().loop().schedule(this::endPause, durationMs);
    }

    private void endPause() {
        if (!exchange.isClosed()) {
            pauses--;
            connection.advance();
        }
    }

    /** Releases what the request holds. */
    void end() {
        exchange.close();
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
}
