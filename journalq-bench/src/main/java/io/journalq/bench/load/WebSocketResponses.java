package io.journalq.bench.load;

import io.journalq.bench.BenchException;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Responses of a server to a connection that publishes over a WebSocket. One thread.
 *
 * @param <V> this class, which sees what arrives
 */
abstract class WebSocketResponses<V> implements Responses {
    private final WebSocketStream<V> stream;
    private final String server;
    private boolean upgraded;

    /** {@code server} is its name. */
    WebSocketResponses(WebSocketStream<V> stream, String server) {
        this.stream = stream;
        this.server = server;
    }

    abstract V visitor();

    /** Whether the response to what was sent last has arrived. It counts once. */
    abstract boolean takeResponse();

    @Override
    public final boolean isComplete(ByteBuffer in) {
        boolean upgrades = !upgraded;
        if (upgrades && !takeUpgrade(in)) {
            return false;
        }
        if (!upgrades) {
            in.flip();
        }
        try {
            stream.take(in, visitor());
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
            throw new BenchException("the " + server + " server refused a WebSocket: " + head.strip(), "see its log");
        }
        upgraded = true;
        in.flip().position(headBytes);
        return true;
    }
}
