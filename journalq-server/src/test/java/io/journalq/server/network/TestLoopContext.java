package io.journalq.server.network;

import io.journalq.server.loop.LogThrottle;
import io.journalq.server.loop.Loop;
import io.journalq.server.loop.LoopCycle;
import java.util.List;
import org.slf4j.LoggerFactory;

/** The context of one loop, for tests of handlers without a server. */
public final class TestLoopContext {
    private TestLoopContext() {}

    public static LoopContext of(Loop loop, SharedMemory memory, NetworkCounters counters) {
        LogThrottle throttle = new LogThrottle(LoggerFactory.getLogger(TestLoopContext.class));
        return LoopContext.of(
                LoopCycle.cycles(List.of(loop)).get(0), TestServer.ROOMY, memory, counters, throttle, throttle);
    }
}
