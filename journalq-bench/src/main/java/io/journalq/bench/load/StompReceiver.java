package io.journalq.bench.load;

import io.journalq.bench.driver.ConnectionSecurity;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/** Receives all messages of a queue from RabbitMQ, and acknowledges them in groups. */
final class StompReceiver extends MessageReceiver implements StompStream.Visitor {
    /** Messages that the server sends ahead of acknowledgements. */
    private static final int PREFETCH = 10_000;

    private final StompStream stream = new StompStream();
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int count;
    private int unacknowledged;
    private boolean connected;
    private boolean subscribed;

    /** Subscribes to a queue, and returns when the server knows the subscription. */
    StompReceiver(InetSocketAddress address, String queue, CheckedMessages messages) throws IOException {
        super(
                address,
                ConnectionSecurity.NONE,
                WebSocketFrame.upgrade(StompTarget.PATH, StompTarget.SUBPROTOCOL),
                messages);
        send(StompTarget.frame(StompTarget.CONNECT));
        while (!connected) {
            receive();
        }
        send(StompTarget.frame("SUBSCRIBE\nid:0\ndestination:" + StompTarget.destination(queue)
                + "\nack:client\nprefetch-count:" + PREFETCH + "\nreceipt:subscribed\n\n\0"));
        while (!subscribed) {
            receive();
        }
    }

    @Override
    int receive() throws IOException {
        int read = in.read(buffer);
        if (read < 0) {
            throw new EOFException();
        }
        count = 0;
        stream.take(ByteBuffer.wrap(buffer, 0, read), this);
        return count;
    }

    @Override
    public void onMessage(byte[] bytes, int start, int index, int end) throws IOException {
        messages.arrived(bytes, index, end);
        count++;
        unacknowledged++;
        if (unacknowledged == PREFETCH / 4) {
            unacknowledged = 0;
            send(StompTarget.frame("ACK\nid:" + StompStream.ackId(bytes, start, index) + "\n\n\0"));
        }
    }

    @Override
    public void onConnected() {
        connected = true;
    }

    @Override
    public void onReceipt() {
        subscribed = true;
    }
}
