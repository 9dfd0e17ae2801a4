package io.journalq.bench.load;

import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * A queue of RabbitMQ, which the load reaches with STOMP over WebSockets. A request is one SEND for each message. The first
 * message asks for a receipt, so that the server confirms this and later messages, and the last one asks for the receipt
 * that completes the request. Immutable.
 */
public final class StompTarget extends LoadTarget {
    static final String PATH = "/ws";
    static final String SUBPROTOCOL = "Sec-WebSocket-Protocol: v12.stomp\r\n";
    static final String CONNECT =
            "CONNECT\naccept-version:1.2\nhost:/\nheart-beat:0,0\nlogin:guest\npasscode:guest\n\n\0";

    private static final int MAX_REQUESTS = 8;
    private static final int FRAME_BYTES = 32 * 1024;

    private final InetSocketAddress address;
    private final String queue;
    private final int receipts;

    /**
     * Describes a queue that exists.
     *
     * @param address of the WebSockets
     * @param messages those of a request
     */
    public StompTarget(InetSocketAddress address, String queue, int messages) {
        this.address = address;
        this.queue = queue;
        this.receipts = Math.min(2, messages);
    }

    /** The destination of a queue, which sending does not create. */
    static String destination(String queue) {
        return "/amq/queue/" + queue;
    }

    /** A frame of a WebSocket with a frame of STOMP. */
    static byte[] frame(String text) {
        return WebSocketFrame.of(WebSocketFrame.BINARY, text);
    }

    @Override
    InetSocketAddress address() {
        return address;
    }

    @Override
    SslContext tls() {
        return null;
    }

    @Override
    int requests(int connections) {
        return MAX_REQUESTS;
    }

    @Override
    ByteBuffer request(int number, CheckedMessages messages, int first, int count) {
        String head = "SEND\ndestination:" + destination(queue) + "\npersistent:true\ncontent-length:"
                + messages.messageBytes();
        byte[] silent = (head + "\n\n").getBytes(StandardCharsets.US_ASCII);
        byte[] confirmed = (head + "\nreceipt:r\n\n").getBytes(StandardCharsets.US_ASCII);
        int eachBytes = confirmed.length + messages.messageBytes() + 1;
        int perFrame = Math.max(1, FRAME_BYTES / eachBytes);
        int frames = (count + perFrame - 1) / perFrame;
        ByteBuffer request = ByteBuffer.allocateDirect(frames * WebSocketFrame.MAX_HEAD_BYTES + count * eachBytes);
        ByteBuffer payload = ByteBuffer.allocate(perFrame * eachBytes);
        for (int i = 0; i < count; i++) {
            payload.put(i == 0 || i == count - 1 ? confirmed : silent)
                    .put(messages.message(first + i))
                    .put((byte) 0);
            if (i % perFrame == perFrame - 1 || i == count - 1) {
                payload.flip();
                WebSocketFrame.putHead(request, WebSocketFrame.BINARY, payload.remaining());
                request.put(payload);
                payload.clear();
            }
        }
        return request.flip().asReadOnlyBuffer();
    }

    @Override
    Responses responses(int number) {
        return new StompResponses(receipts);
    }

    @Override
    MessageReceiver receiver(CheckedMessages messages) throws IOException {
        return new StompReceiver(address, queue, messages);
    }
}
