package io.journalq.bench.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.journalq.bench.BenchException;
import io.journalq.bench.driver.ClusterShape;
import io.journalq.bench.driver.ConnectionSecurity;
import io.journalq.bench.peer.Delivery;
import io.journalq.bench.peer.PubSubDrivers;
import io.journalq.bench.peer.PubSubSettings;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command as users run it, for a moment, and what the options of TLS apply to. */
class SecurityCommandTest {
    @Test
    @Tag("long")
    void shouldMeasureEachPart(@TempDir Path directory) throws Exception {
        Path file = directory.resolve("result.json");

        int exitCode = BenchMain.commandLine()
                .execute(
                        "security",
                        "--rounds=2",
                        "--duration=500ms",
                        "--first-warmup=700ms",
                        "--warmup=300ms",
                        "--cases=3",
                        "--out=" + file);

        JsonNode all = new ObjectMapper().readTree(file.toFile());
        JsonNode results = all.get("results");
        assertThat(exitCode).as("%s", results).isZero();
        List<String> measured = new ArrayList<>();
        for (JsonNode result : results) {
            measured.add(result.get("measurement").asText());
            assertThat(result.get("per_s").asDouble()).as("%s", result).isPositive();
            boolean lone = result.get("measurement").asText().matches("storm (plain|RSA)");
            assertThat(result.get("loop_p999_us").asDouble() > 0)
                    .as("%s", result)
                    .isEqualTo(lone);
        }
        assertThat(measured)
                .containsExactly(
                        "case 3 plain",
                        "case 3 tls",
                        "case 3 sealed",
                        "caller plain",
                        "caller tls",
                        "reads plain",
                        "reads tls",
                        "requests plain",
                        "requests login",
                        "requests ACLs",
                        "handshake TLS 1.3",
                        "handshake TLS 1.3 P-256",
                        "handshake TLS 1.2",
                        "handshake TLS 1.2 resumed",
                        "login SCRAM-SHA-256",
                        "storm plain",
                        "storm RSA",
                        "storm handshakes");
        for (JsonNode run : all.get("runs")) {
            assertThat(run.get("warmup_ms").asInt())
                    .as("%s", run)
                    .isEqualTo(run.get("round").asInt() == 1 ? 700 : 300);
        }
        assertThat(all.get("runs")).hasSize(2 * measured.size());
    }

    @Test
    void shouldRefuseTlsWhenABrokerDoesNotSpeakTheKafkaProtocol() {
        PubSubSettings settings = new PubSubSettings(
                Delivery.AT_LEAST_ONCE,
                List.of("localhost:4222"),
                "",
                "none",
                Map.of(),
                new ConnectionSecurity(Path.of("authority.pem"), null, null, null),
                ClusterShape.SINGLE,
                Map.of());

        assertThatThrownBy(() -> PubSubDrivers.named("nats", settings))
                .isInstanceOf(BenchException.class)
                .hasMessageContaining("the options of TLS and logins do not apply to nats");
    }
}
