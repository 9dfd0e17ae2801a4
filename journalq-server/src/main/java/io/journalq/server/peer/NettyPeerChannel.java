package io.journalq.server.peer;

import io.journalq.common.protocol.ApiMessage;
import io.journalq.server.loop.Loop;
import java.io.IOException;

/** A connection of its own to another broker, on an event loop of this broker. On that loop. */
final class NettyPeerChannel implements PeerChannel {
    private final PeerConnection connection;
    private final Loop loop;
    private boolean closed;

    NettyPeerChannel(PeerConnection connection, Loop loop) {
        this.connection = connection;
        this.loop = loop;
    }

    @Override
    public void send(ApiMessage request, int version, int timeoutMs, ResponseListener listener) {
        Loop.Timer timer =
                loop.schedule(() -> connection.close("does not respond within " + timeoutMs + " ms"), timeoutMs);
        PeerRequest sent = new PeerRequest(request, (short) version, false, new ResponseListener() {
            @Override
            public void onResponse(ApiMessage response) {
                timer.cancel();
                if (!closed) {
                    listener.onResponse(response);
                }
            }

            @Override
            public void onFailure(IOException reason) {
                timer.cancel();
                if (!closed) {
                    // Also if the connection has failed before this request.
                    loop.execute(() -> listener.onFailure(reason));
                }
            }
        });
        if (connection.isUsable()) {
            connection.send(sent);
        } else {
            sent.fail(new IOException("the connection is closed"));
        }
    }

    @Override
    public boolean isOpen() {
        return !closed && connection.isUsable();
    }

    @Override
    public void close() {
        closed = true;
        connection.close("is not asked any more");
    }
}
