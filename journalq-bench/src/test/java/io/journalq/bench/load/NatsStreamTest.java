package io.journalq.bench.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class NatsStreamTest {
    static final int BINARY = 0x82;
    private static final int FIRST_BINARY = 0x02;
    private static final int LAST = 0x80;
    private static final int PING = 0x89;
    private static final int CLOSE = 0x88;
    /** Longer than the 125 bytes whose length fits into one byte; with line ends and a protocol line in a payload. */
    private static final String LONG = "MSG a 1 2\r\nhi\r\n".repeat(20);

    private static final String LINES =
            "INFO {\"server\":\"a\"}\r\n+OK\r\nMSG subject 1 5\r\nfirst\r\nPING\r\nMSG s 1 reply.to " + LONG.length()
                    + "\r\n" + LONG + "\r\nMSG subject 1 0\r\n\r\nPONG\r\n";
    private static final List<String> SEEN = List.of("first", "PING", LONG, "", "PONG");

    private final List<String> seen = new ArrayList<>();
    private final NatsStream stream = new NatsStream();
    private final NatsStream.Visitor visitor = new NatsStream.Visitor() {
        @Override
        public void onMessage(byte[] bytes, int index, int end) {
            seen.add(new String(bytes, index, end - index, StandardCharsets.US_ASCII));
        }

        @Override
        public void onPing() {
            seen.add("PING");
        }

        @Override
        public void onPong() {
            seen.add("PONG");
        }
    };

    /** A frame as a server sends it, without a mask. */
    static byte[] frame(int type, String payload) {
        ByteArrayOutputStream frame = new ByteArrayOutputStream();
        frame.write(type);
        if (payload.length() < 126) {
            frame.write(payload.length());
        } else if (payload.length() < 65_536) {
            frame.writeBytes(ByteBuffer.allocate(3)
                    .put((byte) 126)
                    .putShort((short) payload.length())
                    .array());
        } else {
            frame.writeBytes(ByteBuffer.allocate(9)
                    .put((byte) 127)
                    .putLong(payload.length())
                    .array());
        }
        frame.writeBytes(payload.getBytes(StandardCharsets.US_ASCII));
        return frame.toByteArray();
    }

    static byte[] joined(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        return all.toByteArray();
    }

    private void take(byte[] bytes) throws IOException {
        stream.take(ByteBuffer.wrap(bytes), visitor);
    }

    @Test
    void shouldShowWholeMessagesWhenTheyAreSplitBetweenTwoFramesAtAnyByte() throws IOException {
        for (int split = 0; split <= LINES.length(); split++) {
            seen.clear();

            take(joined(frame(BINARY, LINES.substring(0, split)), frame(BINARY, LINES.substring(split))));

            assertThat(seen).as("split at %s", split).isEqualTo(SEEN);
        }
    }

    @Test
    void shouldShowWholeMessagesWhenFramesArriveInTwoPartsSplitAtAnyByte() throws IOException {
        int middle = LINES.indexOf(LONG) + 100;
        byte[] frames = joined(
                frame(FIRST_BINARY, LINES.substring(0, middle)),
                frame(PING, "between"),
                frame(LAST, LINES.substring(middle)));
        for (int split = 0; split <= frames.length; split++) {
            seen.clear();

            take(Arrays.copyOfRange(frames, 0, split));
            take(Arrays.copyOfRange(frames, split, frames.length));

            assertThat(seen).as("split at %s", split).isEqualTo(SEEN);
        }
    }

    @Test
    void shouldShowWholeMessagesWhenEachByteIsAFrameAndEachByteOfItArrivesAlone() throws IOException {
        for (int i = 0; i < LINES.length(); i++) {
            for (byte each : frame(BINARY, LINES.substring(i, i + 1))) {
                take(new byte[] {each});
            }
        }

        assertThat(seen).isEqualTo(SEEN);
    }

    @Test
    void shouldShowAMessageWhenItIsLargerThanTheBuffer() throws IOException {
        String large = "x".repeat(300_000);
        byte[] frame = frame(BINARY, "MSG subject 1 300000\r\n" + large + "\r\nPONG\r\n");

        for (int from = 0; from < frame.length; from += 1_000) {
            take(Arrays.copyOfRange(frame, from, Math.min(frame.length, from + 1_000)));
        }

        assertThat(seen).containsExactly(large, "PONG");
    }

    @Test
    void shouldFailWithTheErrorWhenTheServerReportsOneAndCloses() {
        byte[] frames =
                joined(frame(BINARY, "PONG\r\n"), frame(BINARY, "-ERR 'Slow Consumer'\r\n"), frame(CLOSE, "slow"));

        assertThatThrownBy(() -> take(frames)).isInstanceOf(IOException.class).hasMessageContaining("'Slow Consumer'");
        assertThat(seen).containsExactly("PONG");
    }

    @Test
    void shouldFailWhenTheServerClosesTheWebSocket() {
        assertThatThrownBy(() -> take(frame(CLOSE, "")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("closed the WebSocket");
    }
}
