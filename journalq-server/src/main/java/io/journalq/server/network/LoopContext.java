package io.journalq.server.network;

import io.journalq.server.loop.LogThrottle;
import io.journalq.server.loop.LoopCycle;
import io.netty.channel.Channel;

/**
 * The shared state of all connections of one loop, independent of their protocols. On the loop.
 *
 * @param budget size of the requests that have no response yet, except large ones
 * @param gathering size of the requests that have not arrived completely, except large ones
 * @param memory shared by all loops
 * @param throttle for log lines about clients
 * @param shortages for log lines about lack of memory
 */
public record LoopContext(
        LoopCycle cycle,
        ConnectionLimits limits,
        InFlightBudget budget,
        InFlightBudget gathering,
        SharedMemory memory,
        FairScheduler turns,
        IdleConnections idle,
        NetworkCounters counters,
        LogThrottle throttle,
        LogThrottle shortages) {
    /** Creates the context of one loop, with separate budgets. */
    public static LoopContext of(
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
                new FairScheduler(cycle),
                new IdleConnections(cycle, limits.admission().maxIdleMs(), counters, gathering, memory),
                counters,
                throttle,
                shortages);
    }

    /**
     * Reserves memory for one request that arrives in parts.
     *
     * @param onRoom is called on the loop when a wait has ended; the caller must then call {@link FrameReservation#ask}
     *     again
     */
    public FrameReservation reservation(Runnable onRoom) {
        return new FrameReservation(gathering, memory.largeRequests(), cycle::enqueue, onRoom);
    }

    /** Closes a connection and logs the reason. */
    @SuppressWarnings("FutureReturnValueIgnored") // the future is not needed
    public void close(Channel channel, String reason) {
        throttle.warn("connection closed", channel.remoteAddress(), reason);
        channel.close();
    }
}
