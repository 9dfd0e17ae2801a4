package io.journalq.bench.compare;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.bench.driver.BrokerDriver;
import io.journalq.bench.driver.ClientDriver;
import io.journalq.bench.driver.JournalQBroker;
import io.journalq.bench.driver.KafkaClientsDriver;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.produce.ProduceCase;
import io.journalq.bench.produce.ProduceSettings.Workload;
import io.journalq.bench.produce.Tuning;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** With a broker, and a peer that died after it was started. */
class ComparisonTest {
    private static final Tuning TUNING = new Tuning(1, false, 1, 1, Map.of());

    private static final JournalQBroker BROKER = new JournalQBroker(Map.of());

    private static Side own;

    private final Side dead = new Side(
            (BrokerDriver) Proxy.newProxyInstance(
                    BrokerDriver.class.getClassLoader(),
                    new Class<?>[] {BrokerDriver.class},
                    (proxy, method, arguments) -> switch (method.getName()) {
                        case "start", "security", "freeze" -> null;
                        default -> throw new IllegalStateException("the broker has died");
                    }),
            security -> (ClientDriver) Proxy.newProxyInstance(
                    ClientDriver.class.getClassLoader(), new Class<?>[] {ClientDriver.class}, (proxy, method, args) -> {
                        throw new AssertionError("no test calls " + method);
                    }));
    private final Comparison comparison = new Comparison(
            new Workload("topic", 1, 100, "random", 1, 0, 0),
            PayloadPool.buildForStamps("random", 100, 1 << 16),
            Duration.ofMillis(1),
            Duration.ofMillis(1));

    @BeforeAll
    static void startTheBroker() {
        own = new Side(BROKER, KafkaClientsDriver::new);
    }

    @AfterAll
    static void stopTheBroker() {
        BROKER.close();
    }

    @Test
    void shouldKeepWhatWasMeasuredWhenARunOfACaseFails() throws InterruptedException {
        Comparison.Pair pair = comparison.alternate(ProduceCase.SYNC_SINGLE, own, TUNING, dead, TUNING, 3);

        assertThat(pair.failure()).isEqualTo("run 2 failed: java.lang.IllegalStateException: the broker has died");
        assertThat(pair.own()).hasSize(1);
        assertThat(pair.peer()).isEmpty();
    }

    @Test
    void shouldKeepWhatWasMeasuredWhenARunWithoutAClientFails() {
        Comparison.Loads loads = comparison.alternateLoads(own, dead, 3);

        assertThat(loads.failure()).isEqualTo("run 2 failed: java.lang.IllegalStateException: the broker has died");
        assertThat(loads.own()).hasSize(1);
        assertThat(loads.peer()).isEmpty();
    }
}
