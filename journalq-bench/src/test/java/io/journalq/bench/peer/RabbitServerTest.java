package io.journalq.bench.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.bench.BenchException;
import io.journalq.bench.driver.ClusterShape;
import io.journalq.bench.driver.ConnectionSecurity;
import io.journalq.server.process.LoopbackPorts;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Without a server: what is said when there is none. What the drivers do with one, no test here shows. */
class RabbitServerTest {
    private static final String INSTALL = "install-it";

    @Test
    void shouldTellHowToInstallItWhenNobodyListens() {
        RabbitServer server =
                new RabbitServer(PubSubSettings.of(Delivery.AT_LEAST_ONCE), LoopbackPorts.next(), INSTALL);

        assertThat(server.missing()).contains(INSTALL);
    }

    @Test
    void shouldMissNothingWhenSomebodyListens() throws IOException {
        try (ServerSocket listening = new ServerSocket(0, 50, InetAddress.getByName("localhost"))) {
            RabbitServer server =
                    new RabbitServer(PubSubSettings.of(Delivery.AT_LEAST_ONCE), listening.getLocalPort(), INSTALL);

            assertThat(server.missing()).isEmpty();
            server.requireReachable();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {RabbitStreamDriver.NAME, RabbitQuorumDriver.NAME})
    void shouldSayInOneLineWhatToDoWhenTheNamedServerDoesNotRespond(String name) {
        String target = "localhost:" + LoopbackPorts.next();

        try (PubSubDriver driver = PubSubDrivers.named(name, settings(target, Map.of()))) {
            assertThat(driver.missing()).isEmpty();
            assertThat(driver.isStartedHere()).isFalse();
            assertThatThrownBy(driver::start)
                    .isInstanceOf(BenchException.class)
                    .hasMessageContainingAll("no RabbitMQ server responds at " + target, "apt-get install");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"localhost", "localhost:5000", "[::1]:5000"})
    void shouldTakeTheDefaultPortOnlyWhenNoneIsNamed(String target) {
        RabbitServer server = new RabbitServer(settings(target, Map.of()), 4000, INSTALL);

        assertThat(server.port(target)).isEqualTo(target.equals("localhost") ? 4000 : 5000);
        assertThat(RabbitServer.host(target)).isEqualTo(target.startsWith("[") ? "[::1]" : "localhost");
    }

    @Test
    void shouldRefuseSettingsThatAreNoNumbers() {
        PubSubSettings settings = settings("localhost", Map.of("batchSize", "many"));
        RabbitServer server = new RabbitServer(settings, 1, INSTALL);

        assertThat(settings.clientNumber("consumer.prefetch", 7)).isEqualTo(7);
        assertThatThrownBy(() -> settings.clientNumber("batchSize", 1)).hasMessageContaining("use a number");
        assertThatThrownBy(() -> server.port("localhost:five")).hasMessageContaining("use HOST:PORT");
    }

    private static PubSubSettings settings(String target, Map<String, String> client) {
        return new PubSubSettings(
                Delivery.AT_LEAST_ONCE,
                List.of(target),
                "",
                "none",
                Map.of(),
                ConnectionSecurity.NONE,
                ClusterShape.SINGLE,
                client);
    }
}
