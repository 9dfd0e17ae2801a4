package io.journalq.bench.load;

import static io.journalq.bench.load.NatsStreamTest.BINARY;
import static io.journalq.bench.load.NatsStreamTest.frame;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class StompStreamTest {
    /** Ends of frames and of heads inside a body. */
    private static final String BODY = "MESSAGE\n\nx\0y";

    private static final String FRAMES =
            "CONNECTED\nversion:1.2\n\n\0\nMESSAGE\nack:T_0\ncontent-length:" + BODY.length() + "\n\n" + BODY
                    + "\0\n\nRECEIPT\nreceipt-id:r\n\n\0MESSAGE\ncontent-length:0\nack:T_1\n\n\0";
    private static final List<String> SEEN = List.of("connected", "T_0 " + BODY, "receipt", "T_1 ");

    private final List<String> seen = new ArrayList<>();
    private final StompStream stream = new StompStream();
    private final StompStream.Visitor visitor = new StompStream.Visitor() {
        @Override
        public void onMessage(byte[] bytes, int start, int index, int end) {
            seen.add(StompStream.ackId(bytes, start, index) + " "
                    + new String(bytes, index, end - index, StandardCharsets.US_ASCII));
        }

        @Override
        public void onConnected() {
            seen.add("connected");
        }

        @Override
        public void onReceipt() {
            seen.add("receipt");
        }
    };

    private void take(String payload) throws IOException {
        stream.take(ByteBuffer.wrap(frame(BINARY, payload)), visitor);
    }

    @Test
    void shouldShowWholeFramesWhenTheyAreSplitAtAnyByte() throws IOException {
        for (int split = 0; split <= FRAMES.length(); split++) {
            seen.clear();

            take(FRAMES.substring(0, split));
            take(FRAMES.substring(split));

            assertThat(seen).as("split at %s", split).isEqualTo(SEEN);
        }
    }

    @Test
    void shouldFailWithTheErrorWhenTheServerReportsOne() {
        assertThatThrownBy(() ->
                        take("RECEIPT\nreceipt-id:r\n\n\0ERROR\nmessage:not_found\ncontent-length:8\n\nno queue\0"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("the RabbitMQ server reported: ERROR message:not_found")
                .hasMessageContaining("no queue");
        assertThat(seen).containsExactly("receipt");
    }
}
