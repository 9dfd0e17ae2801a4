package io.journalq.server.network;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.unix.IntegerUnixChannelOption;

/**
 * How much the kernel takes of what a client cannot receive yet: TCP_NOTSENT_LOWAT, see tcp(7). Without a limit, it grows
 * to some MiB for a client that does not read. If there are 1,000 of them, the kernel reaches its limit for all sockets
 * (tcp_mem) and takes memory away from the connections of others. What is on its way to the client does not count, so that
 * a fast connection over a long distance is not slower. Without epoll, there is no limit.
 */
public final class UnsentLimit {
    /** Constants of Linux, the same on all architectures that Netty's epoll transport supports. */
    private static final int IPPROTO_TCP = 6;

    private static final int TCP_NOTSENT_LOWAT = 25;
    private static final ChannelOption<Integer> OPTION =
            new IntegerUnixChannelOption("TCP_NOTSENT_LOWAT", IPPROTO_TCP, TCP_NOTSENT_LOWAT);

    private UnsentLimit() {}

    /** Sets the limit of a connection. On its loop. */
    public static void set(Channel channel, int bytes) {
        if (channel.isOpen()) {
            channel.config().setOption(OPTION, bytes);
        }
    }
}
