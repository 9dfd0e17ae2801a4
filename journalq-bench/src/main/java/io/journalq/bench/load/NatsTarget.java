package io.journalq.bench.load;

import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * A subject of NATS, which the load reaches over WebSockets. A request is one PUB for each message, in frames as large as
 * those of NATS' own clients. Immutable.
 */
public final class NatsTarget extends LoadTarget {
    static final String CONNECT = "CONNECT {\"verbose\":false,\"pedantic\":false,\"protocol\":1}\r\n";
    static final String PING = "PING\r\n";
    static final String PONG = "PONG\r\n";

    private static final int MAX_REQUESTS = 8;
    private static final int FRAME_BYTES = 32 * 1024;
    private static final String LINE_END = "\r\n";

    private final InetSocketAddress address;
    private final String subject;
    private final String delivery;
    private final int acknowledgements;

    /**
     * Without acknowledgements, a request ends with a PING, and the server's PONG completes it. With them, each connection
     * has its own request, because the messages name the subject where that connection receives their acknowledgements.
     *
     * @param address of the WebSockets
     * @param delivery the subject from which the receiver gets the messages
     * @param acknowledgements those of a request; 0 if there are none
     */
    public NatsTarget(InetSocketAddress address, String subject, String delivery, int acknowledgements) {
        this.address = address;
        this.subject = subject;
        this.delivery = delivery;
        this.acknowledgements = acknowledgements;
    }

    /** A frame with lines of the protocol. */
    static byte[] frame(String lines) {
        return WebSocketFrame.of(WebSocketFrame.BINARY, lines);
    }

    @Override
    InetSocketAddress address() {
        return address;
    }

    @Override
    SslContext tls() {
        return null;
    }

    private boolean isAcknowledged() {
        return acknowledgements > 0;
    }

    @Override
    int requests(int connections) {
        return isAcknowledged() ? connections : MAX_REQUESTS;
    }

    @Override
    int nextRequest(int connection, long sent, int requests) {
        return isAcknowledged() ? connection : super.nextRequest(connection, sent, requests);
    }

    private String inbox(int connection) {
        return isAcknowledged() ? "_INBOX." + subject + "." + connection : null;
    }

    @Override
    ByteBuffer request(int number, CheckedMessages messages, int first, int count) {
        String reply = isAcknowledged() ? inbox(number) + " " : "";
        byte[] line = ("PUB " + subject + " " + reply + messages.messageBytes() + LINE_END)
                .getBytes(StandardCharsets.US_ASCII);
        byte[] lineEnd = LINE_END.getBytes(StandardCharsets.US_ASCII);
        byte[] last = isAcknowledged() ? new byte[0] : frame(PING);
        int eachBytes = line.length + messages.messageBytes() + lineEnd.length;
        int perFrame = Math.max(1, FRAME_BYTES / eachBytes);
        int frames = (count + perFrame - 1) / perFrame;
        ByteBuffer request =
                ByteBuffer.allocateDirect(frames * WebSocketFrame.MAX_HEAD_BYTES + count * eachBytes + last.length);
        for (int i = 0; i < count; i++) {
            if (i % perFrame == 0) {
                WebSocketFrame.putHead(request, WebSocketFrame.BINARY, Math.min(perFrame, count - i) * eachBytes);
            }
            request.put(line).put(messages.message(first + i)).put(lineEnd);
        }
        return request.put(last).flip().asReadOnlyBuffer();
    }

    @Override
    Responses responses(int number) {
        return new NatsResponses(inbox(number), acknowledgements);
    }

    @Override
    MessageReceiver receiver(CheckedMessages messages) throws IOException {
        return new NatsReceiver(address, delivery, messages);
    }
}
