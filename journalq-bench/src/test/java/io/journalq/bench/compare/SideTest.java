package io.journalq.bench.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.bench.driver.BrokerDriver;
import io.journalq.bench.payload.PayloadPool;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SideTest {
    @Test
    void shouldFreezeTheBrokerWhenTheTopicCannotBeRemoved() {
        // given a broker that does not respond
        List<String> calls = new ArrayList<>();
        BrokerDriver broker = (BrokerDriver) Proxy.newProxyInstance(
                BrokerDriver.class.getClassLoader(),
                new Class<?>[] {BrokerDriver.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "start", "security" -> null;
                    case "freeze", "thaw" -> {
                        calls.add(method.getName());
                        yield null;
                    }
                    default -> throw new IllegalStateException(method.getName() + " timed out");
                });
        Side side = new Side(broker, security -> null);
        PayloadPool pool = PayloadPool.build("random", 100, 1 << 16);

        // when
        assertThatThrownBy(() -> side.load(1, pool, Duration.ofMillis(1), Duration.ofMillis(1)))
                .hasMessage("createTopic timed out")
                .hasSuppressedException(new IllegalStateException("topics timed out"));

        // then
        assertThat(calls).containsExactly("freeze", "thaw", "freeze");
    }
}
