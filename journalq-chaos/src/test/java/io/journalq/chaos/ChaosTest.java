package io.journalq.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
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
