package io.journalq.bench.load;

import static io.journalq.bench.load.NatsStreamTest.BINARY;
import static io.journalq.bench.load.NatsStreamTest.frame;
import static io.journalq.bench.load.NatsStreamTest.joined;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.bench.BenchException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class NatsResponsesTest {
    private static final byte[] UPGRADED =
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] INFO = frame(BINARY, "INFO {}\r\n");
    private static final byte[] PONG = frame(BINARY, "PONG\r\n");

    private final ByteBuffer in = ByteBuffer.allocate(64 * 1024);

    private boolean isComplete(Responses responses, byte[] arrived) {
        return responses.isComplete(in.put(arrived));
    }

    private static byte[] acknowledgement(String json) {
        return frame(BINARY, "MSG inbox 1 " + json.length() + "\r\n" + json + "\r\n");
    }

    private Responses opened(String inbox, int acknowledgements) {
        Responses responses = new NatsResponses(inbox, acknowledgements);
        assertThat(responses.opening()).hasSize(2);
        assertThat(isComplete(responses, new byte[] {'H'})).isFalse();
        byte[] rest = new byte[UPGRADED.length - 1];
        System.arraycopy(UPGRADED, 1, rest, 0, rest.length);
        assertThat(isComplete(responses, joined(rest, INFO))).isTrue();
        assertThat(isComplete(responses, PONG)).isTrue();
        return responses;
    }

    @Test
    void shouldCompleteEachRequestWithAPongWhenThereAreNoAcknowledgements() {
        Responses responses = opened(null, 0);

        for (int request = 0; request < 2; request++) {
            assertThat(isComplete(responses, INFO)).isFalse();
            assertThat(isComplete(responses, PONG)).isTrue();
        }
    }

    @Test
    void shouldCompleteEachRequestWithAllItsAcknowledgements() {
        Responses responses = opened("inbox", 3);

        for (int request = 0; request < 2; request++) {
            byte[] one = acknowledgement("{\"stream\":\"a\",\"seq\":1}");
            assertThat(isComplete(responses, one)).isFalse();
            assertThat(isComplete(responses, PONG)).isFalse();
            assertThat(isComplete(responses, joined(one, one))).isTrue();
        }
    }

    @Test
    void shouldFailWhenJetStreamRefusesAMessage() {
        Responses responses = opened("inbox", 2);
        byte[] refusal = acknowledgement("{\"error\":{\"code\":429},\"stream\":\"a\",\"seq\":0}");

        assertThatThrownBy(() -> isComplete(responses, refusal))
                .isInstanceOf(BenchException.class)
                .hasMessageContaining("\"code\":429");
    }

    @Test
    void shouldFailWhenTheServerDoesNotUpgrade() {
        byte[] refusal = "HTTP/1.1 403 Forbidden\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

        assertThatThrownBy(() -> isComplete(new NatsResponses(null, 0), refusal))
                .isInstanceOf(BenchException.class)
                .hasMessageContaining("403 Forbidden");
    }

    @Test
    void shouldReplyOnceToAPing() {
        Responses responses = opened(null, 0);
        assertThat(responses.reply()).isNull();

        assertThat(isComplete(responses, frame(BINARY, "PING\r\n"))).isFalse();

        assertThat(responses.reply()).isEqualTo(ByteBuffer.wrap(NatsTarget.frame("PONG\r\n")));
        assertThat(responses.reply()).isNull();
    }
}
