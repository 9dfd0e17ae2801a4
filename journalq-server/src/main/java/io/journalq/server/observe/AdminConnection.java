package io.journalq.server.observe;

import io.journalq.server.network.Transport;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One client of the admin listener. It serves one request at a time. If a request has a body, or is sent before the
 * previous response, neither is read: the connection is closed after the response. On the listener's loop.
 */
final class AdminConnection extends ChannelInboundHandlerAdapter {
    private static final Logger log = LoggerFactory.getLogger(AdminConnection.class);

    private static final String PLAIN = "text/plain; charset=utf-8";
    private static final String PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";
    private static final String JSON = "application/json";
    private static final List<String> CHALLENGES = List.of("Basic realm=\"journalq\", charset=\"UTF-8\"", "Bearer");

    /** A page is passed to the socket in parts of this size, because each part is copied to direct memory. */
    private static final int PART_BYTES = 64 * 1024;

    /** Delay of the response to a wrong password or token, so that guessing takes time. */
    private static final long REFUSAL_DELAY_MS = 100;

    /** Proxies add them. What comes through a proxy on this machine may come from anywhere. */
    private static final List<String> FORWARDING_HEADERS =
            List.of("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Via");

    private final AdminListener listener;
    private final AdminConnections connections;
    private final Transport.Line line;
    private ChannelHandlerContext context;
    private long progressNanos;
    private boolean hasResponded;
    /** True from the end of a request's head to the end of its response. */
    private boolean responding;

    private boolean head;
    private boolean keepAlive;
    private byte[] body;
    private int sentBytes;
    private boolean sending;

    /** @param line carries requests and responses */
    AdminConnection(AdminListener listener, AdminConnections connections, Transport.Line line) {
        this.listener = listener;
        this.connections = connections;
        this.line = line;
    }

    long progressNanos() {
        return progressNanos;
    }

    /** Whether a response was sent and no further request has arrived. */
    boolean isBetweenRequests() {
        return hasResponded && !responding;
    }

    @SuppressWarnings("FutureReturnValueIgnored") // the future is not needed
    void close() {
        context.close();
    }

    boolean isOpen() {
        return context.channel().isActive();
    }

    @Override
    public void handlerAdded(ChannelHandlerContext handlerContext) {
        context = handlerContext;
        onProgress();
    }

    @Override
    public void channelInactive(ChannelHandlerContext handlerContext) {
        connections.remove(this);
        handlerContext.fireChannelInactive();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext handlerContext, Throwable cause) {
        log.debug("admin client {} disconnected: {}", handlerContext.channel().remoteAddress(), cause.toString());
        close();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext handlerContext) {
        sendParts();
    }

    @Override
    public void channelRead(ChannelHandlerContext handlerContext, Object message) {
        try {
            if (!(message instanceof HttpRequest request)) {
                return; // part of a body
            }
            if (responding) {
                keepAlive = false;
                return;
            }
            responding = true;
            onProgress();
            respond(request);
        } finally {
            ReferenceCountUtil.release(message);
        }
    }

    private void onProgress() {
        progressNanos = connections.nanoTime();
        connections.onProgress(this);
    }

    private void respond(HttpRequest request) {
        head = request.method().equals(HttpMethod.HEAD);
        keepAlive = false;
        Throwable unreadable = request.decoderResult().cause();
        if (unreadable != null) {
            respondToUnreadable(unreadable);
            return;
        }
        // The length of a body can be read only if the decoder could read it.
        keepAlive = HttpUtil.isKeepAlive(request)
                && !HttpUtil.isTransferEncodingChunked(request)
                && HttpUtil.getContentLength(request, 0L) == 0;
        if (isAddressedHere(request)) {
            authorize(request);
        }
    }

    private void respondToUnreadable(Throwable unreadable) {
        if (unreadable instanceof TooLongHttpLineException) {
            send(HttpResponseStatus.REQUEST_URI_TOO_LONG, PLAIN, "the request line is too long\n");
        } else if (unreadable instanceof TooLongHttpHeaderException) {
            send(HttpResponseStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, PLAIN, "the request's headers are too large\n");
        } else {
            send(HttpResponseStatus.BAD_REQUEST, PLAIN, "this is not an HTTP request\n");
        }
    }

    /** Refuses a request for another host, or without a host if HTTP requires one. */
    private boolean isAddressedHere(HttpRequest request) {
        List<String> hosts = request.headers().getAll(HttpHeaderNames.HOST);
        boolean mayLackHost = request.protocolVersion().compareTo(HttpVersion.HTTP_1_1) < 0;
        if (hosts.size() > 1 || (hosts.isEmpty() && !mayLackHost)) {
            send(HttpResponseStatus.BAD_REQUEST, PLAIN, "the request needs one Host header\n");
            return false;
        }
        if (!hosts.isEmpty() && !listener.hosts().allows(hosts.get(0))) {
            send(
                    HttpResponseStatus.MISDIRECTED_REQUEST,
                    PLAIN,
                    "the Host header names a host that is not a name of this listener; use its IP address,"
                            + " or add the name to admin.allowed.hosts\n");
            return false;
        }
        return true;
    }

    private void authorize(HttpRequest request) {
        AdminAccess access = listener.access();
        boolean forwarded = FORWARDING_HEADERS.stream().anyMatch(request.headers()::contains);
        String authorization = request.headers().get(HttpHeaderNames.AUTHORIZATION);
        if (access.admits(context.channel(), line, forwarded)) {
            servePath(request, true);
        } else if (authorization == null || !access.isEncrypted()) {
            servePath(request, false);
        } else {
            check(request, authorization);
        }
    }

    private void check(HttpRequest request, String authorization) {
        CompletionStage<Boolean> check;
        try {
            check = listener.access()
                    .authorizations()
                    .apply(authorization, context.channel().remoteAddress());
        } catch (RejectedExecutionException notChecked) {
            postpone(notChecked);
            return;
        }
        var unused = check.whenComplete((right, defect) -> context.executor().execute(() -> {
            Throwable cause = defect instanceof CompletionException ? defect.getCause() : defect;
            if (cause == null && right) {
                servePath(request, true);
            } else if (cause instanceof RejectedExecutionException lockedOut) {
                postpone(lockedOut);
            } else {
                var unusedTimer = context.executor().schedule(this::refuse, REFUSAL_DELAY_MS, TimeUnit.MILLISECONDS);
            }
        }));
    }

    private void postpone(RejectedExecutionException notChecked) {
        if (isOpen()) {
            send(HttpResponseStatus.SERVICE_UNAVAILABLE, PLAIN, notChecked.getMessage() + "; try again later\n");
        }
    }

    private void refuse() {
        if (isOpen()) {
            send(HttpResponseStatus.UNAUTHORIZED, PLAIN, "the user, the password or the token is wrong\n");
        }
    }

    /** @param admitted whether the client may see everything */
    private void servePath(HttpRequest request, boolean admitted) {
        if (!isOpen()) {
            return;
        }
        if (!head && !request.method().equals(HttpMethod.GET)) {
            send(HttpResponseStatus.METHOD_NOT_ALLOWED, PLAIN, "only GET is served\n");
            return;
        }
        String target = request.uri();
        int query = target.indexOf('?');
        switch (query < 0 ? target : target.substring(0, query)) {
            case "/health" -> {
                Health now = listener.health();
                send(
                        now.serving() ? HttpResponseStatus.OK : HttpResponseStatus.SERVICE_UNAVAILABLE,
                        JSON,
                        admitted ? now.toJson() : now.toAnonymousJson());
            }
            case "/metrics" -> {
                if (admitted) {
                    listener.pages().request(this);
                } else {
                    refuseStranger();
                }
            }
            default -> send(HttpResponseStatus.NOT_FOUND, PLAIN, "/metrics and /health are served here\n");
        }
    }

    private void refuseStranger() {
        if (listener.access().isEncrypted()) {
            send(HttpResponseStatus.UNAUTHORIZED, PLAIN, "/metrics needs the password of a user, or a token\n");
        } else {
            send(
                    HttpResponseStatus.FORBIDDEN,
                    PLAIN,
                    "only programs on this machine may read /metrics; use SSL in admin.listener, or set"
                            + " allow.insecure.listeners\n");
        }
    }

    /** Sends the requested page; null when a metric could not be read. */
    void onPage(byte[] page) {
        if (!isOpen()) {
            return;
        }
        if (page == null) {
            send(HttpResponseStatus.INTERNAL_SERVER_ERROR, PLAIN, "cannot read a metric; see the log\n");
            return;
        }
        connections.onPage(this);
        send(HttpResponseStatus.OK, PROMETHEUS, page);
    }

    private void send(HttpResponseStatus status, String contentType, String text) {
        send(status, contentType, text.getBytes(StandardCharsets.UTF_8));
    }

    @SuppressWarnings("FutureReturnValueIgnored") // a failed write closes the channel
    private void send(HttpResponseStatus status, String contentType, byte[] content) {
        HttpResponse response = new DefaultHttpResponse(HttpVersion.HTTP_1_1, status);
        response.headers()
                .set(HttpHeaderNames.CONTENT_TYPE, contentType)
                .setInt(HttpHeaderNames.CONTENT_LENGTH, content.length)
                .set(HttpHeaderNames.CONNECTION, keepAlive ? HttpHeaderValues.KEEP_ALIVE : HttpHeaderValues.CLOSE);
        if (status.equals(HttpResponseStatus.METHOD_NOT_ALLOWED)) {
            response.headers().set(HttpHeaderNames.ALLOW, "GET, HEAD");
        } else if (status.equals(HttpResponseStatus.UNAUTHORIZED)) {
            response.headers().set(HttpHeaderNames.WWW_AUTHENTICATE, CHALLENGES);
        }
        body = content;
        sentBytes = head ? content.length : 0;
        context.write(response, context.voidPromise());
        sendParts();
    }

    /** Writes parts to the socket while it is writable. A write that makes it writable again calls this once more. */
    @SuppressWarnings("FutureReturnValueIgnored") // a failed write closes the channel
    private void sendParts() {
        if (body == null || sending) {
            return;
        }
        sending = true;
        while (sentBytes < body.length && context.channel().isWritable()) {
            int partBytes = Math.min(PART_BYTES, body.length - sentBytes);
            ByteBuf part = Unpooled.wrappedBuffer(body, sentBytes, partBytes);
            sentBytes += partBytes;
            context.writeAndFlush(new DefaultHttpContent(part), context.voidPromise());
        }
        sending = false;
        if (sentBytes == body.length) {
            body = null;
            context.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT).addListener((ChannelFuture sent) -> onSent());
        }
    }

    @SuppressWarnings("FutureReturnValueIgnored") // the future is not needed
    private void onSent() {
        connections.onPageSent(this);
        hasResponded = true;
        responding = false;
        if (keepAlive) {
            onProgress();
        } else {
            context.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
        }
    }
}
