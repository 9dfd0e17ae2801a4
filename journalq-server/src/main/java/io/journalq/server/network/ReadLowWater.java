package io.journalq.server.network;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.unix.IntegerUnixChannelOption;

/**
 * How many bytes must have come before a socket wakes its loop: SO_RCVLOWAT, as socket(7) has it. A connection that ends
 * wakes it with fewer. Where the machine has no epoll, one byte is enough. One per connection, on its loop.
 */
final class ReadLowWater {
    /** Their numbers on Linux, for all processors that epoll comes for. */
    private static final int SOL_SOCKET = 1;

    private static final int SO_RCVLOWAT = 18;
    private static final ChannelOption<Integer> OPTION =
            new IntegerUnixChannelOption("SO_RCVLOWAT", SOL_SOCKET, SO_RCVLOWAT);

    private final NetworkCounters counters;
    private int bytes = 1;

    ReadLowWater(NetworkCounters counters) {
        this.counters = counters;
    }

    /** What it was set to last; any number of bytes wakes the loop at first. */
    int bytes() {
        return bytes;
    }

    void set(Channel channel, int wantedBytes) {
        if (wantedBytes != bytes && channel.isOpen()) {
            bytes = wantedBytes;
            channel.config().setOption(OPTION, wantedBytes);
            if (wantedBytes > 1) {
                counters.slowParts.increment();
            }
        }
    }
}
