package io.journalq.bench.load;

import java.nio.ByteBuffer;
import java.util.List;

/** Responses of RabbitMQ to a connection that sends messages with STOMP over a WebSocket. One thread. */
final class StompResponses extends WebSocketResponses<StompStream.Visitor> implements StompStream.Visitor {
    private final int receipts;
    private boolean connected;
    private int received;

    /** {@code receipts} are those of a request. */
    StompResponses(int receipts) {
        super(new StompStream(), StompStream.SERVER);
        this.receipts = receipts;
    }

    @Override
    public List<ByteBuffer> opening() {
        return List.of(
                ByteBuffer.wrap(WebSocketFrame.upgrade(StompTarget.PATH, StompTarget.SUBPROTOCOL)),
                ByteBuffer.wrap(StompTarget.frame(StompTarget.CONNECT)));
    }

    @Override
    StompStream.Visitor visitor() {
        return this;
    }

    @Override
    boolean takeResponse() {
        if (connected) {
            connected = false;
            return true;
        }
        boolean complete = received == receipts;
        received = complete ? 0 : received;
        return complete;
    }

    @Override
    public void onConnected() {
        connected = true;
    }

    @Override
    public void onReceipt() {
        received++;
    }

    @Override
    public void onMessage(byte[] bytes, int start, int index, int end) {
        throw new IllegalStateException("a connection that only sends has received a message");
    }
}
