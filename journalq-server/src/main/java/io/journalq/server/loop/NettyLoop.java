package io.journalq.server.loop;

import io.netty.channel.SingleThreadEventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * A {@link Loop} on an event loop of Netty.
 *
 * @param eventLoop the event loop, with its sockets
 */
record NettyLoop(SingleThreadEventLoop eventLoop) implements Loop {
    @Override
    public boolean inLoop() {
        return eventLoop.inEventLoop();
    }

    @Override
    public void execute(Runnable work) {
        eventLoop.execute(work);
    }

    @Override
    public void afterIteration(Runnable work) {
        eventLoop.executeAfterEventLoopIteration(work);
    }

    @Override
    public Timer schedule(Runnable work, long delayMs) {
        ScheduledFuture<?> scheduled = eventLoop.schedule(work, delayMs, TimeUnit.MILLISECONDS);
        return () -> scheduled.cancel(false);
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }
}
