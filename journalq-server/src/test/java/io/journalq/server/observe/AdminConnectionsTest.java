package io.journalq.server.observe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.server.loop.Loop;
import io.journalq.server.shard.partition.SteppedLoop;
import java.lang.reflect.Proxy;
import org.junit.jupiter.api.Test;

class AdminConnectionsTest {
    @Test
    void shouldSweepAgainWhenASweepHasFailed() {
        // given a loop that fails while memory is short
        SteppedLoop timers = new SteppedLoop();
        Loop loop = (Loop) Proxy.newProxyInstance(
                Loop.class.getClassLoader(), new Class<?>[] {Loop.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("nanoTime")) {
                        throw new OutOfMemoryError("of the test");
                    }
                    return method.invoke(timers, arguments);
                });
        var unused = new AdminConnections(loop);

        // when
        assertThatThrownBy(timers::fireTimers).isInstanceOf(OutOfMemoryError.class);

        // then
        assertThat(timers.timerCount()).isEqualTo(1);
    }
}
