package io.journalq.server.network;

import io.journalq.server.loop.LogThrottle;
import io.journalq.server.loop.LoopCycle;
import io.netty.channel.Channel;

/**
 * What all connections of one loop share, whatever protocol they speak. On the loop.
 *
 * @param budget size of the requests that have no response yet, other than large ones
 * @param gathering size of the requests that have not arrived completely, other than large ones
 * @param memory what all loops share
 * @param throttle for log lines about clients
 * @param shortages for log lines about lack of memory
 */
public record LoopContext(
        LoopCycle cycle,
        ConnectionLimits limits,
        InFlightBudget budget,
        InFlightBudget gathering,
        SharedMemory memory,
        Turns turns,
        IdleConnections idle,
        NetworkCounters counters,
        LogThrottle throttle,
        LogThrottle shortages) {
    /** Budgets of its own for one loop, and everything else shared. */
    static LoopContext of(
            LoopCycle cycle,
            ConnectionLimits limits,
            SharedMemory memory,
            NetworkCounters counters,
            LogThrottle throttle,
            LogThrottle shortages) {
        InFlightBudget gathering = new InFlightBudget(limits.maxLoopInFlightBytes());
        return new LoopContext(
                cycle,
                limits,
                new InFlightBudget(limits.maxLoopInFlightBytes()),
                gathering,
                memory,
                new Turns(cycle),
                new IdleConnections(cycle, limits.admission().maxIdleMs(), counters, gathering, memory),
                counters,
                throttle,
                shortages);
    }

    /** Closes a connection, with a line in the log. */
    @SuppressWarnings("FutureReturnValueIgnored") // nothing waits for the close
    void close(Channel channel, String reason) {
        throttle.warn("connection closed", channel.remoteAddress(), reason);
        channel.close();
    }
}
