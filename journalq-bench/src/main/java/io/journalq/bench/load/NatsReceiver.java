package io.journalq.bench.load;

import io.journalq.bench.driver.ConnectionSecurity;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/** Receives all messages of a subject from NATS. */
final class NatsReceiver extends MessageReceiver implements NatsStream.Visitor {
    private final NatsStream stream = new NatsStream();
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int count;
    private boolean subscribed;

    /** Subscribes to a subject, and returns when the server knows the subscription. */
    NatsReceiver(InetSocketAddress address, String subject, CheckedMessages messages) throws IOException {
        super(address, ConnectionSecurity.NONE, WebSocketFrame.upgrade("/", ""), messages);
        send(NatsTarget.frame(NatsTarget.CONNECT + "SUB " + subject + " 1\r\n" + NatsTarget.PING));
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
    public void onMessage(byte[] bytes, int index, int end) throws IOException {
        messages.arrived(bytes, index, end);
        count++;
    }

    @Override
    public void onPing() throws IOException {
        send(NatsTarget.frame(NatsTarget.PONG));
    }

    @Override
    public void onPong() {
        subscribed = true;
    }
}
