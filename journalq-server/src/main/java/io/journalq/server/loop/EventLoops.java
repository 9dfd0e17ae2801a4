package io.journalq.server.loop;

import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.SingleThreadEventLoop;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.EventExecutor;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The broker's event loops: epoll if the system has it, else NIO. Each loop is one thread and one {@link LoopCycle}.
 * Any thread.
 */
public final class EventLoops implements AutoCloseable {
    /** Maximum time to wait for the loops to end. */
    private static final long CLOSE_TIMEOUT_MS = 5_000;

    private final EventLoopGroup group;
    private final List<NettyLoop> loops = new ArrayList<>();
    private final List<LoopCycle> cycles;
    private final boolean epoll;

    /**
     * Starts the loops.
     *
     * @param count number of loops, at least 1
     */
    public EventLoops(int count) {
        this(count, "shard");
    }

    /** As {@link #EventLoops(int)}, with a name for the threads. */
    public EventLoops(int count, String threadName) {
        epoll = Epoll.isAvailable();
        IoHandlerFactory factory = epoll ? EpollIoHandler.newFactory() : NioIoHandler.newFactory();
        group = new MultiThreadIoEventLoopGroup(count, new DefaultThreadFactory(threadName), factory);
        for (EventExecutor executor : group) {
            loops.add(new NettyLoop((SingleThreadEventLoop) executor));
        }
        cycles = LoopCycle.cycles(loops);
    }

    /**
     * The number of loops to start for the setting {@code shards}: no more than there are processors, because loops that
     * take turns on a processor only add switches between threads.
     *
     * @param shards 0 for the number of processors less one, which is left to blocking operations
     * @return at least 1
     */
    public static int countFor(int shards, int processors) {
        int wanted = shards > 0 ? shards : Math.max(1, processors - 1);
        return Math.min(wanted, processors);
    }

    public int count() {
        return cycles.size();
    }

    public List<LoopCycle> cycles() {
        return cycles;
    }

    /** The cycle of a loop of this group. */
    public LoopCycle cycleOf(EventLoop loop) {
        for (int i = 0; i < cycles.size(); i++) {
            if (loops.get(i).eventLoop() == loop) {
                return cycles.get(i);
            }
        }
        throw new IllegalArgumentException("a loop of another group");
    }

    /** The event loop with the sockets of a loop of the broker. */
    public static EventLoop eventLoopOf(Loop loop) {
        return ((NettyLoop) loop).eventLoop();
    }

    /** The type of the connections that can be opened on these loops. */
    public static Class<? extends SocketChannel> socketChannelType() {
        return Epoll.isAvailable() ? EpollSocketChannel.class : NioSocketChannel.class;
    }

    public EventLoopGroup group() {
        return group;
    }

    public Class<? extends ServerChannel> serverChannelType() {
        return epoll ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
    }

    /** Stops the loops after their queued tasks. Blocks until they have ended. */
    @Override
    public void close() {
        group.shutdownGracefully(0, CLOSE_TIMEOUT_MS, TimeUnit.MILLISECONDS).awaitUninterruptibly(CLOSE_TIMEOUT_MS);
    }
}
