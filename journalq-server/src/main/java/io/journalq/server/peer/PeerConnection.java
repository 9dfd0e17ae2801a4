package io.journalq.server.peer;

import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.MessageReader;
import io.journalq.common.protocol.frame.Frames;
import io.journalq.common.protocol.message.ApiMessages;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.ReferenceCounted;
import java.io.IOException;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.ArrayDeque;
import java.util.Queue;

/** A connection to another broker. Responses arrive in the order of the requests. On the loop of the connection. */
final class PeerConnection extends SimpleChannelInboundHandler<ByteBuf> {
    /** Requests that wait for the connection or for their responses; more are refused. */
    private static final int MAX_REQUESTS = 1_000;

    private final String address;
    private final String clientId;
    /** Null if the connection is not encrypted. */
    private final PeerEncryption encryption;
    /** Requests that are not sent yet, because the connection is being opened. */
    private final Queue<PeerRequest> unsent = new ArrayDeque<>();
    /** Requests that wait for their responses. */
    private final Queue<PeerRequest> sent = new ArrayDeque<>();
    /** Null while the connection is being opened. */
    private ChannelHandlerContext channel;

    private boolean failed;
    private int firstNumber;

    PeerConnection(String address, String clientId, PeerEncryption encryption) {
        this.address = address;
        this.clientId = clientId;
        this.encryption = encryption;
    }

    String address() {
        return address;
    }

    /** Whether requests can be sent, now or when the connection is open. */
    boolean isUsable() {
        return !failed;
    }

    void send(PeerRequest request) {
        if (unsent.size() + sent.size() >= MAX_REQUESTS) {
            request.fail(new IOException("too many requests wait for broker " + address));
        } else if (channel == null) {
            unsent.add(request);
        } else {
            write(request);
            channel.flush();
        }
    }

    private void write(PeerRequest request) {
        int number = firstNumber + sent.size();
        try {
            for (ReferenceCounted part :
                    Frames.request(channel.alloc(), number, clientId, request.request(), request.version())) {
                var unused = channel.write(part, channel.voidPromise());
            }
            sent.add(request);
        } catch (RuntimeException | OutOfMemoryError notEncoded) {
            // Also if there is too little direct memory: the sender waits for the end of a request before the next.
            request.fail(new IOException("cannot encode a request", notEncoded));
        }
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        if (encryption == null) {
            onOpen(context);
        }
    }

    /** No request is sent before the other side has proven that it is a broker. */
    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) throws IOException {
        if (event instanceof SslHandshakeCompletionEvent handshake) {
            if (!handshake.isSuccess()) {
                throw new IOException("TLS: " + handshake.cause().getMessage(), handshake.cause());
            }
            Certificate[] chain = context.pipeline()
                    .get(SslHandler.class)
                    .engine()
                    .getSession()
                    .getPeerCertificates();
            if (!encryption.isBroker((X509Certificate) chain[0])) {
                throw new IOException("its certificate is not that of a broker of the cluster");
            }
            onOpen(context);
        }
    }

    private void onOpen(ChannelHandlerContext context) {
        channel = context;
        if (failed) {
            var unused = context.close();
            return;
        }
        while (!unsent.isEmpty()) {
            write(unsent.remove());
        }
        context.flush();
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, ByteBuf frame) throws IOException {
        PeerRequest request = sent.poll();
        if (request == null) {
            throw new IOException("a response without a request");
        }
        ApiMessage response;
        try {
            response = readResponse(request, frame);
        } catch (IOException | RuntimeException | OutOfMemoryError | LinkageError notRead) {
            // It is not among the requests any more that fail with the connection.
            IOException failure = notRead instanceof IOException known
                    ? known
                    : new IOException("a malformed response: " + notRead.getMessage(), notRead);
            request.fail(failure);
            throw failure;
        }
        request.listener().onResponse(response);
    }

    private ApiMessage readResponse(PeerRequest request, ByteBuf frame) throws IOException {
        MessageReader in = new MessageReader(request.copied() ? Unpooled.copiedBuffer(frame) : frame);
        int number = Frames.readResponseHeader(in, request.request().apiKey(), request.version())
                .correlationId();
        if (number != firstNumber) {
            throw new IOException("a response to another request");
        }
        firstNumber++;
        return ApiMessages.readResponse(request.request().apiKey(), in, request.version());
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        fail(new IOException("broker " + address + " has closed the connection"
                + (channel == null && encryption != null ? "; it may not accept the certificate of this broker" : "")));
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        fail(new IOException("the connection to broker " + address + " has failed: " + cause.getMessage(), cause));
        var unused = context.close();
    }

    /** Fails all requests. The connection is not used any more. */
    void fail(IOException reason) {
        failed = true;
        sent.forEach(request -> request.fail(reason));
        unsent.forEach(request -> request.fail(reason));
        sent.clear();
        unsent.clear();
    }

    /** @param reason what is wrong with the other broker */
    void close(String reason) {
        fail(new IOException("broker " + address + " " + reason));
        if (channel != null) {
            var unused = channel.close();
        }
    }
}
