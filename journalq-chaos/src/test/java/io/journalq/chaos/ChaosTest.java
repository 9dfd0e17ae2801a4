package io.journalq.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A short run of what {@code bin/journalq-chaos} does for hours. */
class ChaosTest {
    /** With this seed, each of five cycles injects another fault. */
    private static final String SEED_OF_EVERY_FAULT = "206";

    @Test
    void shouldLoseNothingWhenTheBrokerIsKilledUnderLoad() {
        assertNothingIsLost("--cycles", "2", "--faults", "kill,freeze", "--check-every", "2");
    }

    @Test
    @Tag("long")
    void shouldLoseNothingWhenEveryFaultHappensUnderLoad() {
        assertNothingIsLost("--cycles", "5", "--check-every", "3", "--seed", SEED_OF_EVERY_FAULT);
    }

    @Test
    @Tag("long")
    void shouldLoseNothingWhenBrokersOfAClusterAreKilledFrozenAndStopped(@TempDir Path directory) throws IOException {
        Path report = directory.resolve("report.json");

        // In mode eventual, how much may be lost with acks=1 is a matter of time, and other tests take the processors.
        assertNothingIsLost(
                "cluster",
                "--mode=consistent",
                "--cycles=1",
                "--faults-per-cycle=3",
                "--seed=7",
                "--report",
                report.toString());

        assertThat(Files.readString(report)).contains("\"cycles\" : 1", "\"findings\" : [ ]");
    }

    @Test
    @Tag("long")
    void shouldLoseNothingWhenBrokersOfAClusterAreReplacedByOthers() {
        assertNothingIsLost("cluster", "--mode=consistent", "--cycles=1", "--faults-per-cycle=2", "--faults=replace");
    }

    private static void assertNothingIsLost(String... arguments) {
        assertThat(ChaosMain.commandLine().execute(arguments))
                .as("exit code: 0 if nothing was lost, duplicated or damaged; the findings are printed")
                .isZero();
    }

    /**
     * The factor is for {@code journalq-chaos hostile} on a quiet machine. Here, each load must reach its limit. It is
     * measured after it has begun its work, and gets processors beside other tests.
     */
    @Test
    @Tag("long")
    void shouldReachTheLimitsOfStrangersWhenTheyAttackListenersThatRequireALogin() {
        Map<String, String> limits = new TreeMap<>(Map.of(
                "TLS_FLOOD", "tls_failures {reason=\"disconnected",
                "HALF_HANDSHAKES", "authentication_failures {reason=\"overload",
                "TLS_HANDSHAKES", "tls_handshakes",
                "PIPELINED_SASL", "authentication_failures {reason=\"protocol",
                "GUESSES", "authentication_failures {reason=\"credentials",
                "PLAIN_BYTES_TO_TLS", "tls_failures {reason=\"not_tls",
                "TLS_TO_PLAIN_BYTES", "connections_refused"));
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        PrintStream usual = System.out;
        System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            assertThat(ChaosMain.commandLine()
                            .execute(
                                    "hostile",
                                    "--rounds=1",
                                    "--unreported=0",
                                    "--duration=2s",
                                    "--factor=1000",
                                    "--usual-priority",
                                    "--loads=" + String.join(",", limits.keySet())))
                    .isZero();
        } finally {
            System.setOut(usual);
        }
        Map<String, String> rows = printed.toString(StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.contains(" | "))
                .collect(Collectors.toMap(
                        line -> line.substring(0, line.indexOf(' ')).toUpperCase(Locale.ROOT), line -> line));
        limits.forEach((load, counter) -> assertThat(rows.get(load)).contains(counter));
    }

    @Test
    void shouldDrawOnlyEnabledFaultsWhenAskedForOne() {
        Random random = new Random(1);
        Map<InjectedFault, Integer> drawn = new EnumMap<>(InjectedFault.class);
        for (int i = 0; i < 1_000; i++) {
            drawn.merge(
                    InjectedFault.draw(List.of(InjectedFault.FLOOD, InjectedFault.KILL, InjectedFault.DAMAGE), random),
                    1,
                    Integer::sum);
        }
        assertThat(drawn).containsOnlyKeys(InjectedFault.KILL, InjectedFault.DAMAGE, InjectedFault.FLOOD);
        assertThat(drawn.get(InjectedFault.KILL)).isGreaterThan(drawn.get(InjectedFault.DAMAGE));
    }
}
