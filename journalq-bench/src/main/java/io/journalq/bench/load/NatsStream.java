package io.journalq.bench.load;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** What a NATS server sends over a WebSocket. One thread. */
final class NatsStream extends WebSocketStream<NatsStream.Visitor> {
    static final String SERVER = "NATS";

    private static final int LINE_END_BYTES = 2;

    /** Sees what arrives. */
    interface Visitor {
        /** A message from {@code index} to {@code end}, which is valid during the call. */
        void onMessage(byte[] bytes, int index, int end) throws IOException;

        void onPing() throws IOException;

        void onPong();
    }

    NatsStream() {
        super(SERVER);
    }

    @Override
    int showNext(byte[] bytes, int start, int end, Visitor visitor) throws IOException {
        int lineEnd = start;
        while (lineEnd < end && bytes[lineEnd] != '\n') {
            lineEnd++;
        }
        if (lineEnd == end) {
            return start;
        }
        int next = lineEnd + 1;
        switch (bytes[start]) {
            case 'M' -> {
                int messageEnd = next + messageBytes(bytes, lineEnd);
                if (messageEnd + LINE_END_BYTES > end) {
                    return start;
                }
                visitor.onMessage(bytes, next, messageEnd);
                next = messageEnd + LINE_END_BYTES;
            }
            case 'P' -> {
                if (bytes[start + 1] == 'I') {
                    visitor.onPing();
                } else {
                    visitor.onPong();
                }
            }
            case 'I', '+' -> {
                // The server introduces itself, or confirms.
            }
            default ->
                throw failed("reported: " + new String(bytes, start, lineEnd - start, StandardCharsets.UTF_8).strip());
        }
        return next;
    }

    /** The last number of a line whose line feed is at an index, such as {@code MSG subject 1 537}. */
    private static int messageBytes(byte[] bytes, int lineEnd) {
        int number = 0;
        int unit = 1;
        for (int digit = lineEnd - LINE_END_BYTES; bytes[digit] != ' '; digit--) {
            number += unit * (bytes[digit] - '0');
            unit *= 10;
        }
        return number;
    }
}
