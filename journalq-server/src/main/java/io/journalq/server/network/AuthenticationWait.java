package io.journalq.server.network;

import io.journalq.server.loop.Loop;
import io.netty.channel.Channel;
import io.netty.channel.WriteBufferWaterMark;
import java.net.SocketAddress;

/**
 * The limits of one connection until its client has authenticated. If that takes too long, if too many clients are
 * connected without authentication, or if logins of the address have failed too often, the connection is closed. On the
 * loop of the connection.
 */
final class AuthenticationWait {
    private final PreAuthentication all;
    private final Connection connection;
    private final NetworkCounters counters;
    private final RequestFrameDecoder frames;
    /** Kept because a closed channel no longer knows it. */
    private final SocketAddress client;

    private final boolean endsWithHandshake;
    private final WriteBufferWaterMark usualWaterMark;
    /** Null if the transport limits the time of its handshake. */
    private final Loop.Timer limit;

    private boolean over;

    /**
     * Begins to limit a connection that was just accepted.
     *
     * @param endsWithHandshake whether the client has authenticated with the handshake of TLS, which has its own time limit
     */
    AuthenticationWait(
            PreAuthentication all,
            Connection connection,
            NetworkCounters counters,
            RequestFrameDecoder frames,
            boolean endsWithHandshake) {
        this.all = all;
        this.connection = connection;
        this.counters = counters;
        this.frames = frames;
        this.client = connection.remoteAddress();
        this.endsWithHandshake = endsWithHandshake;
        Channel channel = connection.channel();
        usualWaterMark = channel.config().getWriteBufferWaterMark();
        channel.config()
                .setWriteBufferWaterMark(new WriteBufferWaterMark(
                        PreAuthentication.WRITE_HIGH_WATER_BYTES / 2, PreAuthentication.WRITE_HIGH_WATER_BYTES));
        frames.limitToAuthentication();
        limit = endsWithHandshake
                ? null
                : connection.cycle().loop().schedule(() -> fail(AuthenticationFailure.TIMEOUT), all.maxMs());
        counters.unauthenticatedConnections.incrementAndGet();
        AuthenticationWait oldest = all.add(this);
        boolean within = all.addresses().add(client);
        if (oldest != null) {
            oldest.connection.cycle().enqueue(() -> oldest.fail(AuthenticationFailure.OVERLOAD));
        }
        if (!endsWithHandshake && all.addresses().isLockedOut(client)) {
            fail(AuthenticationFailure.LOCKED_OUT);
        } else if (!within) {
            fail(AuthenticationFailure.ADDRESS);
        }
    }

    private void fail(AuthenticationFailure failure) {
        if (!over) {
            connection.failAuthentication(failure);
        }
    }

    /** Whether the client has authenticated with the handshake of TLS. */
    boolean endsWithHandshake() {
        return endsWithHandshake;
    }

    /** The client has authenticated. */
    void lift(int maxFrameSizeBytes) {
        end();
        frames.liftLimits(maxFrameSizeBytes);
        connection.channel().config().setWriteBufferWaterMark(usualWaterMark);
    }

    /** The client has authenticated or disconnected. */
    void end() {
        over = true;
        if (limit != null) {
            limit.cancel();
        }
        all.remove(this);
        all.addresses().remove(client);
        counters.unauthenticatedConnections.decrementAndGet();
    }
}
