package io.journalq.bench.load;

import io.journalq.bench.BenchException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Responses of NATS to a connection that publishes over a WebSocket. One thread. */
final class NatsResponses extends WebSocketResponses<NatsStream.Visitor> implements NatsStream.Visitor {
    private final String inbox;
    private final int acknowledgements;
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
        super(new NatsStream(), NatsStream.SERVER);
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
    NatsStream.Visitor visitor() {
        return this;
    }

    @Override
    boolean takeResponse() {
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
