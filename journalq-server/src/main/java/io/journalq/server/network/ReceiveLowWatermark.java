package io.journalq.server.network;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.unix.IntegerUnixChannelOption;

/**
 * The number of bytes that must arrive before a socket wakes its loop: SO_RCVLOWAT, see socket(7). The end of a
 * connection always wakes the loop. Without epoll, one byte is enough. One for each connection, on its loop.
 */
final class ReceiveLowWatermark {
    /** Constants of Linux, the same on all architectures that Netty's epoll transport supports. */
    private static final int SOL_SOCKET = 1;

    private static final int SO_RCVLOWAT = 18;
    private static final ChannelOption<Integer> OPTION =
            new IntegerUnixChannelOption("SO_RCVLOWAT", SOL_SOCKET, SO_RCVLOWAT);

    private final NetworkCounters counters;
    private final boolean settable;
    private int bytes = 1;

    /**
     * A watermark of one byte.
     *
     * @param settable whether the socket carries the awaited bytes themselves; otherwise it stays at one byte, because
     *     the bytes may have arrived already, in a record of TLS that is not complete
     */
    ReceiveLowWatermark(NetworkCounters counters, boolean settable) {
        this.counters = counters;
        this.settable = settable;
    }

    /** The value that was set last. At first, every byte wakes the loop. */
    int bytes() {
        return bytes;
    }

    void set(Channel channel, int wantedBytes) {
        if (wantedBytes != bytes && settable && channel.isOpen()) {
            bytes = wantedBytes;
            channel.config().setOption(OPTION, wantedBytes);
            if (wantedBytes > 1) {
                counters.slowParts.increment();
            }
        }
    }
}
