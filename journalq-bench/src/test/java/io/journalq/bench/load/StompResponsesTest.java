package io.journalq.bench.load;

import static io.journalq.bench.load.NatsStreamTest.BINARY;
import static io.journalq.bench.load.NatsStreamTest.frame;
import static io.journalq.bench.load.NatsStreamTest.joined;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StompResponsesTest {
    private static final byte[] UPGRADED =
            "HTTP/1.1 101 Switching Protocols\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] CONNECTED = frame(BINARY, "CONNECTED\nversion:1.2\n\n\0");
    private static final byte[] RECEIPT = frame(BINARY, "RECEIPT\nreceipt-id:r\n\n\0");

    private final ByteBuffer in = ByteBuffer.allocate(64 * 1024);

    private static StompTarget target(int messages) {
        return new StompTarget(InetSocketAddress.createUnresolved("localhost", 1), "queue", messages);
    }

    private boolean isComplete(Responses responses, byte[] arrived) {
        return responses.isComplete(in.put(arrived));
    }

    private Responses opened(int messages) {
        Responses responses = target(messages).responses(0);
        assertThat(responses.opening()).hasSize(2);
        assertThat(isComplete(responses, UPGRADED)).isTrue();
        assertThat(isComplete(responses, CONNECTED)).isTrue();
        return responses;
    }

    @Test
    void shouldCompleteEachRequestWithTheReceiptsOfItsFirstAndItsLastMessage() {
        Responses responses = opened(5);

        assertThat(isComplete(responses, RECEIPT)).isFalse();
        assertThat(isComplete(responses, RECEIPT)).isTrue();
        assertThat(isComplete(responses, joined(RECEIPT, RECEIPT))).isTrue();
    }

    @Test
    void shouldCompleteARequestOfOneMessageWithItsReceipt() {
        Responses responses = opened(1);

        assertThat(isComplete(responses, RECEIPT)).isTrue();
        assertThat(isComplete(responses, RECEIPT)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5, 700})
    void shouldSendEachMessageOnceAndAskForTheReceiptsThatItWaitsFor(int count) throws Exception {
        CheckedMessages messages = new CheckedMessages(100, count);
        ByteBuffer request = target(count).request(0, messages, 0, count);

        StringBuilder sent = new StringBuilder();
        while (request.hasRemaining()) {
            request.get(); // the type
            int length = request.get() & 0x7f;
            if (length == 126) {
                length = request.getShort() & 0xffff;
            }
            request.getInt(); // the mask, which is zero
            byte[] payload = new byte[length];
            request.get(payload);
            sent.append(new String(payload, StandardCharsets.US_ASCII));
        }

        String[] frames = sent.toString().split("\0");
        assertThat(frames).hasSize(count);
        int receipts = 0;
        for (String frame : frames) {
            assertThat(frame).startsWith("SEND\ndestination:/amq/queue/queue\n").contains("\ncontent-length:100\n");
            byte[] body = frame.substring(frame.indexOf("\n\n") + 2).getBytes(StandardCharsets.US_ASCII);
            messages.arrived(body, 0, body.length);
            receipts += frame.contains("\nreceipt:") ? 1 : 0;
        }
        int[] once = new int[count];
        Arrays.fill(once, 1);
        messages.requireArrivals(once);
        assertThat(receipts).isEqualTo(Math.min(2, count));
        assertThat(frames[count - 1]).contains("\nreceipt:");
    }
}
