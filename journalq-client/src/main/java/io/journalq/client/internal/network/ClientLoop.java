package io.journalq.client.internal.network;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * A reference of one client to an event loop. All clients of the process share the event loops, so that many clients do
 * not need many threads. The threads start with the first client and stop with the last one. Uses epoll if Netty's
 * native transport is on the class path. Thread-safe.
 */
@SuppressWarnings("FutureReturnValueIgnored") // the threads are daemons, and no caller waits for their termination
public final class ClientLoop implements AutoCloseable {
    private static final int MAX_LOOPS = 4;
    private static final int STOP_TIMEOUT_MS = 2_000;
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static EventLoopGroup shared;
    private static int holders;

    private final EventLoop eventLoop;
    private boolean closed;

    private ClientLoop(EventLoop eventLoop) {
        this.eventLoop = eventLoop;
    }

    /** Acquires an event loop. Starts the threads if this is the first client. */
    public static ClientLoop acquire() {
        return acquire(ClientLoop::start);
    }

    /** @param start fails if the process has no file descriptors left, for example */
    static ClientLoop acquire(Supplier<EventLoopGroup> start) {
        LOCK.lock();
        try {
            if (holders == 0) {
                shared = start.get();
            }
            // Only now: a client that could not start the threads must leave that to the next one.
            holders++;
            return new ClientLoop(shared.next());
        } finally {
            LOCK.unlock();
        }
    }

    private static EventLoopGroup start() {
        int loops = Math.max(1, Math.min(MAX_LOOPS, Runtime.getRuntime().availableProcessors() / 2));
        IoHandlerFactory factory = Epoll.isAvailable() ? EpollIoHandler.newFactory() : NioIoHandler.newFactory();
        return new MultiThreadIoEventLoopGroup(loops, new DefaultThreadFactory("journalq-client", true), factory);
    }

    /** The event loop to which all connections of this client belong. */
    public EventLoop eventLoop() {
        return eventLoop;
    }

    static Class<? extends Channel> channelType() {
        return Epoll.isAvailable() ? EpollSocketChannel.class : NioSocketChannel.class;
    }

    /** Releases the event loop. All channels on it must be closed. The last release stops the threads. */
    @Override
    public void close() {
        LOCK.lock();
        try {
            if (!closed) {
                closed = true;
                if (--holders == 0) {
                    shared.shutdownGracefully(0, STOP_TIMEOUT_MS, TimeUnit.MILLISECONDS);
                    shared = null;
                }
            }
        } finally {
            LOCK.unlock();
        }
    }
}
