package io.journalq.server.network;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Prepares the door of a listener when its first connection arrives, and holds that connection until the door is
 * prepared. In the meantime, other connections wait in the backlog of the operating system. One for each listener, on
 * its loop.
 */
final class FirstClient extends ChannelInboundHandlerAdapter {
    private static final Logger log = LoggerFactory.getLogger(FirstClient.class);

    private final Door door;
    /** Several, because the system hands over connections in groups. */
    private final List<Channel> held = new ArrayList<>();

    FirstClient(Door door) {
        this.door = door;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object connection) {
        held.add((Channel) connection);
        context.channel().config().setAutoRead(false);
        if (held.size() == 1) {
            door.prepare(() -> {
                try {
                    context.executor().execute(() -> release(context));
                } catch (RejectedExecutionException ended) {
                    log.debug("the loop of a listener ended while its door was prepared");
                }
            });
        }
    }

    private void release(ChannelHandlerContext context) {
        if (context.channel().isActive()) {
            held.forEach(context::fireChannelRead);
            context.pipeline().remove(this);
            context.channel().config().setAutoRead(true);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        held.forEach(connection -> connection.unsafe().closeForcibly());
        context.fireChannelInactive();
    }
}
