package io.journalq.server.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.server.loop.Loop;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.shard.partition.SteppedLoop;
import java.lang.reflect.Proxy;
import java.util.List;
import org.junit.jupiter.api.Test;

class IdleConnectionsTest {
    private static final int MAX_IDLE_MS = 1_000;

    @Test
    void shouldCheckAgainWhenACheckHasFailed() {
        // given a loop that fails while memory is short
        SteppedLoop timers = new SteppedLoop();
        Loop loop = (Loop) Proxy.newProxyInstance(
                Loop.class.getClassLoader(), new Class<?>[] {Loop.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("nanoTime")) {
                        throw new OutOfMemoryError("of the test");
                    }
                    return method.invoke(timers, arguments);
                });
        var unused = new IdleConnections(
                LoopCycle.cycles(List.of(loop)).get(0),
                MAX_IDLE_MS,
                new NetworkCounters(),
                new InFlightBudget(1),
                SharedMemory.of(1, 1));

        // when the first of its timers fails, which is that of idle connections
        assertThatThrownBy(timers::fireTimers).isInstanceOf(OutOfMemoryError.class);

        // then
        assertThat(timers.timerCount()).isEqualTo(1);
    }
}
