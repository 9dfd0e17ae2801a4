package io.journalq.server.gateway.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.server.gateway.BrokerView;
import io.journalq.server.shard.partition.SteppedLoop;
import java.lang.reflect.Proxy;
import org.junit.jupiter.api.Test;

class HistoryTest {
    @Test
    void shouldSampleAgainWhenASampleHasFailed() {
        // given
        SteppedLoop loop = new SteppedLoop();
        BrokerView broker = (BrokerView) Proxy.newProxyInstance(
                BrokerView.class.getClassLoader(), new Class<?>[] {BrokerView.class}, (proxy, method, arguments) -> {
                    throw new OutOfMemoryError("of the test");
                });
        History history = new History(broker, () -> 0);

        // when
        assertThatThrownBy(() -> history.start(loop)).isInstanceOf(OutOfMemoryError.class);

        // then
        assertThat(loop.timerCount()).isEqualTo(1);
    }
}
