package io.journalq.server.network;

import io.journalq.server.loop.Loop;
import io.netty.channel.Channel;
import io.netty.channel.WriteBufferWaterMark;

/**
 * The limits of one connection until its client has authenticated. If that takes too long, or if too many clients are
 * connected without authentication, the connection is closed. On the loop of the connection.
 */
final class AuthenticationWait {
    private final PreAuthentication all;
    private final Connection connection;
    private final RequestFrameDecoder frames;
    private final WriteBufferWaterMark usualWaterMark;
    private final Loop.Timer limit;
    private boolean over;

    /** Begins to limit a connection that was just accepted. */
    AuthenticationWait(PreAuthentication all, Connection connection, RequestFrameDecoder frames) {
        this.all = all;
        this.connection = connection;
        this.frames = frames;
        Channel channel = connection.channel();
        usualWaterMark = channel.config().getWriteBufferWaterMark();
        channel.config()
                .setWriteBufferWaterMark(new WriteBufferWaterMark(
                        PreAuthentication.WRITE_HIGH_WATER_BYTES / 2, PreAuthentication.WRITE_HIGH_WATER_BYTES));
        frames.limitToAuthentication();
        limit = connection.cycle().loop().schedule(() -> fail(AuthenticationFailure.TIMEOUT), all.maxMs());
        AuthenticationWait oldest = all.add(this);
        if (oldest != null) {
            oldest.connection.cycle().enqueue(() -> oldest.fail(AuthenticationFailure.OVERLOAD));
        }
    }

    private void fail(AuthenticationFailure failure) {
        if (!over) {
            connection.failAuthentication(failure);
        }
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
        limit.cancel();
        all.remove(this);
    }
}
