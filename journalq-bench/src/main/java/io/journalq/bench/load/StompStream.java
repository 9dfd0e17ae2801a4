package io.journalq.bench.load;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** The frames of STOMP 1.2 that a RabbitMQ server sends over a WebSocket. One thread. */
final class StompStream extends WebSocketStream<StompStream.Visitor> {
    static final String SERVER = "RabbitMQ";

    private static final byte[] LENGTH = ascii("\ncontent-length:");
    private static final byte[] ACK = ascii("\nack:");

    /** Sees what arrives. */
    interface Visitor {
        /** A message from {@code index} to {@code end} behind its head from {@code start}, valid during the call. */
        void onMessage(byte[] bytes, int start, int index, int end) throws IOException;

        void onConnected();

        void onReceipt();
    }

    StompStream() {
        super(SERVER);
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    int showNext(byte[] bytes, int start, int end, Visitor visitor) throws IOException {
        if (start == end) {
            return start;
        }
        if (bytes[start] == '\n' || bytes[start] == '\r') {
            return start + 1; // between frames
        }
        int headEnd = start;
        while (headEnd + 1 < end && (bytes[headEnd] != '\n' || bytes[headEnd + 1] != '\n')) {
            headEnd++;
        }
        int body = headEnd + 2;
        if (body > end) {
            return start;
        }
        int bodyEnd = bodyEnd(bytes, start, body, end);
        if (bodyEnd >= end) {
            return start;
        }
        show(bytes, start, body, bodyEnd, visitor);
        return bodyEnd + 1;
    }

    /** The index of the NUL behind a body, which can be {@code end} or more if it has not arrived. */
    private static int bodyEnd(byte[] bytes, int start, int body, int end) {
        String length = header(bytes, start, body, LENGTH);
        if (length != null) {
            return body + Integer.parseInt(length);
        }
        int bodyEnd = body;
        while (bodyEnd < end && bytes[bodyEnd] != 0) {
            bodyEnd++;
        }
        return bodyEnd;
    }

    private void show(byte[] bytes, int start, int body, int bodyEnd, Visitor visitor) throws IOException {
        switch (bytes[start]) {
            case 'M' -> visitor.onMessage(bytes, start, body, bodyEnd);
            case 'R' -> visitor.onReceipt();
            case 'C' -> visitor.onConnected();
            default ->
                throw failed("reported: "
                        + new String(bytes, start, bodyEnd - start, StandardCharsets.UTF_8)
                                .strip()
                                .replace('\n', ' '));
        }
    }

    /** The id with which a message and those before it are acknowledged. {@code start} and {@code end} are those of its head. */
    static String ackId(byte[] bytes, int start, int end) {
        return header(bytes, start, end, ACK);
    }

    /** Null if there is none. */
    private static String header(byte[] bytes, int start, int end, byte[] name) {
        for (int i = start; i + name.length < end; i++) {
            if (bytes[i] == '\n' && Arrays.equals(bytes, i, i + name.length, name, 0, name.length)) {
                int valueEnd = i + name.length;
                while (bytes[valueEnd] != '\n') {
                    valueEnd++;
                }
                return new String(bytes, i + name.length, valueEnd - i - name.length, StandardCharsets.UTF_8);
            }
        }
        return null;
    }
}
