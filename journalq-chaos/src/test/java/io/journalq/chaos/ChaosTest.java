package io.journalq.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

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

    private static void assertNothingIsLost(String... arguments) {
        assertThat(ChaosMain.commandLine().execute(arguments))
                .as("exit code: 0 if nothing was lost, duplicated or damaged; the findings are printed")
                .isZero();
    }

    /**
     * The factor is for {@code journalq-chaos hostile} on a quiet machine. Here, each load must reach its limit: a turn is
     * long enough for a handshake and the check of a password on busy processors.
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
                                    "--duration=2s",
                                    "--factor=1000",
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
    void shouldFindMessagesWhenTheyAreMissingDuplicatedOrOutOfOrder() {
        // given
        Ledger ledger = new Ledger();
        for (int number = 0; number < 4; number++) {
            ledger.onAcknowledged("topic-0", 1, number);
        }

        // when
        ledger.beginReading();
        ledger.onFound("topic-0", 0, new Payload(1, 2).encode());
        ledger.onFound("topic-0", 1, new Payload(1, 1).encode());
        ledger.onFound("topic-0", 2, new Payload(1, 1).encode());
        byte[] damaged = new Payload(1, 3).encode();
        damaged[5] ^= 1;
        ledger.onFound("topic-0", 3, damaged);
        ledger.endReading();

        // then
        assertThat(ledger.findings())
                .satisfiesExactly(
                        finding -> assertThat(finding).contains("offset 1").contains("after number 2"),
                        finding -> assertThat(finding).contains("offset 2").contains("duplicate of"),
                        finding -> assertThat(finding).contains("offset 3").contains("no producer sent"),
                        finding -> assertThat(finding).contains("2 acknowledged messages are lost"));
    }

    @Test
    void shouldAllowOnlyDamagedMessagesToBeMissingWhenBatchesWereDamaged() {
        // given
        Ledger ledger = new Ledger();
        for (int number = 0; number < 4; number++) {
            ledger.onAcknowledged("topic-0", 1, number);
        }
        ledger.onDamaged("topic-0", List.of(new Payload(1, 1), new Payload(1, 2)));

        // when one of two damaged messages is found, and one undamaged message is missing
        ledger.beginReading();
        ledger.onFound("topic-0", 0, new Payload(1, 0).encode());
        ledger.onFound("topic-0", 1, new Payload(1, 1).encode());
        ledger.endReading();

        // then
        assertThat(ledger.findings())
                .singleElement()
                .asString()
                .contains("1 acknowledged messages are lost")
                .contains("number 3");
    }

    @Test
    void shouldWaitForEachProducerWhenItHasNoAcknowledgementSinceTheStart() {
        // given two producers; the second sends to two partitions
        Ledger ledger = new Ledger();
        ledger.onProducing("topic-0", 1);
        ledger.onProducing("topic-0", 2);
        ledger.onProducing("topic-1", 2);
        assertThat(ledger.waiting()).hasSize(3);

        // when
        ledger.onAcknowledged("topic-0", 1, 0);
        ledger.onAcknowledged("topic-0", 2, 0);

        // then one is left; after a start, all three are waiting again
        assertThat(ledger.waiting()).containsExactly("topic-1 producer 2");
        ledger.onStarted();
        assertThat(ledger.waiting()).hasSize(3);
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
