package io.journalq.server.network;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Prepares the door of a listener when its first connection arrives, and holds that connection until the door is
 * prepared. In the meantime, other connections wait in the backlog of the operating system. If the door cannot be
 * prepared, the connection is closed, and the next one tries again. One for each listener, on its loop.
 */
final class FirstClient extends ChannelInboundHandlerAdapter {
    private static final Logger log = LoggerFactory.getLogger(FirstClient.class);

    /** Time after a failure in which no connection is accepted. */
    private static final long REST_MS = 1_000;

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
            door.prepare(() -> onLoop(context, () -> release(context)), () -> onLoop(context, () -> refuse(context)));
        }
    }

    private static void onLoop(ChannelHandlerContext context, Runnable work) {
        try {
            context.executor().execute(work);
        } catch (RejectedExecutionException ended) {
            log.debug("the loop of a listener ended while its door was prepared");
        }
    }

    private void release(ChannelHandlerContext context) {
        if (context.channel().isActive()) {
            held.forEach(context::fireChannelRead);
            context.pipeline().remove(this);
            context.channel().config().setAutoRead(true);
        }
    }

    @SuppressWarnings("FutureReturnValueIgnored") // the loop runs it, or ends before
    private void refuse(ChannelHandlerContext context) {
        closeHeld();
        context.executor()
                .schedule(
                        () -> {
                            if (context.channel().isOpen()) {
                                context.channel().config().setAutoRead(true);
                            }
                        },
                        REST_MS,
                        TimeUnit.MILLISECONDS);
    }

    private void closeHeld() {
        held.forEach(connection -> connection.unsafe().closeForcibly());
        held.clear();
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        closeHeld();
        context.fireChannelInactive();
    }
}
