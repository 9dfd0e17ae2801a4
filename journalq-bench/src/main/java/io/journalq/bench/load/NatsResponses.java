package io.journalq.bench.load;

import io.journalq.bench.BenchException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Responses of NATS to a connection that publishes over a WebSocket. One thread. */
final class NatsResponses implements Responses, NatsStream.Visitor {
    private final NatsStream stream = new NatsStream();
    private final String inbox;
    private final int acknowledgements;
    private boolean upgraded;
    private boolean connected;
    private boolean pinged;
    private boolean ponged;
    private int acknowledged;

    /**
     * Without acknowledgements, the server's PONG completes a request.
     *
     * @param inbox the subject of the acknowledgements; null if there are none
     * @param acknowledgements those of a request
     */
    NatsResponses(String inbox, int acknowledgements) {
        this.inbox = inbox;
        this.acknowledgements = acknowledgements;
    }

    @Override
    public List<ByteBuffer> opening() {
        return List.of(
                ByteBuffer.wrap(WebSocketFrame.upgrade("/", "")),
                ByteBuffer.wrap(NatsTarget.frame(
                        NatsTarget.CONNECT + (inbox == null ? "" : "SUB " + inbox + " 1\r\n") + NatsTarget.PING)));
    }

    @Override
    public boolean isComplete(ByteBuffer in) {
        boolean upgrades = !upgraded;
        if (upgrades && !takeUpgrade(in)) {
            return false;
        }
        if (!upgrades) {
            in.flip();
        }
        try {
            stream.take(in, this);
        } catch (IOException e) {
            throw new BenchException(e.getMessage(), "see its log");
        }
        in.clear();
        return upgrades || takeResponse();
    }

    /** Whether the response to the upgrade is complete. What follows it is then ready to be read. */
    private boolean takeUpgrade(ByteBuffer in) {
        int headBytes = Responses.headBytes(in);
        if (headBytes < 0) {
            return false;
        }
        String head = Responses.text(in, headBytes);
        if (!head.startsWith("HTTP/1.1 101 ")) {
            throw new BenchException("the NATS server refused a WebSocket: " + head.strip(), "see its log");
        }
        upgraded = true;
        in.flip().position(headBytes);
        return true;
    }

    private boolean takeResponse() {
        if (connected && inbox != null) {
            boolean complete = acknowledged == acknowledgements;
            acknowledged = complete ? 0 : acknowledged;
            return complete;
        }
        boolean complete = ponged;
        connected |= complete;
        ponged = false;
        return complete;
    }

    @Override
    public ByteBuffer reply() {
        if (!pinged) {
            return null;
        }
        pinged = false;
        return ByteBuffer.wrap(NatsTarget.frame(NatsTarget.PONG));
    }

    @Override
    public void onMessage(byte[] bytes, int index, int end) {
        String acknowledgement = new String(bytes, index, end - index, StandardCharsets.ISO_8859_1);
        if (acknowledgement.contains("\"error\"")) {
            throw new BenchException("JetStream refused a message: " + acknowledgement, "see the server's log");
        }
        acknowledged++;
    }

    @Override
    public void onPing() {
        pinged = true;
    }

    @Override
    public void onPong() {
        ponged = true;
    }
}
