package io.journalq.chaos.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class LedgerTest {
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
    void shouldKeepWhatWasFoundWhenTheReadingFails() throws InterruptedException {
        // given
        Ledger ledger = new Ledger();

        // when
        boolean complete = ledger.attempt("the run", () -> {
            ledger.report("a group has skipped a message");
            throw new IOException("cannot read", new IllegalStateException("the partition has no leader"));
        });

        // then
        assertThat(complete).isFalse();
        assertThat(ledger.findings())
                .containsExactly(
                        "a group has skipped a message",
                        "the run failed: java.io.IOException: cannot read, caused by"
                                + " java.lang.IllegalStateException: the partition has no leader");
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
    void shouldFindMessagesThatAGroupHasSkipped() {
        // given a group that has read some messages, one of them again, and not the last one yet
        Ledger ledger = new Ledger();
        for (int number = 0; number < 6; number++) {
            ledger.onAcknowledged("topic-0", 1, number);
        }
        ledger.onDamaged("topic-0", List.of(new Payload(1, 1)));
        for (int number : new int[] {0, 2, 2, 4}) {
            ledger.onRead("group", "topic-0", new Payload(1, number));
        }

        // when
        for (int reading = 0; reading < 2; reading++) {
            ledger.beginReading();
            for (int number = 0; number < 6; number++) {
                ledger.onFound("topic-0", number, new Payload(1, number).encode());
            }
            ledger.endReading();
        }

        // then the one between them is missing, except for one that was damaged on purpose
        assertThat(ledger.findings())
                .singleElement()
                .asString()
                .isEqualTo("topic-0 offset 3 holds " + new Payload(1, 3) + ", which group has skipped");
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
    void shouldNameThePromiseWhenItIsBroken() {
        // given a producer that may lose nothing, and one that may lose what is acknowledged shortly before a fault
        Ledger ledger = new Ledger();
        Losses losses = new Losses(60_000);
        ledger.promise("topic-0", 1, new Ledger.Promise("NothingIsLost", null, true));
        ledger.promise("topic-0", 2, new Ledger.Promise("LittleIsLost", losses, false));
        ledger.onAcknowledged("topic-0", 1, 0);
        ledger.onAcknowledged("topic-0", 1, 1);
        ledger.onAcknowledged("topic-0", 2, 0);
        losses.onFault(60_000);
        losses.onFaultOver();

        // when both lose a message, and the first one has a duplicate
        ledger.beginReading("broker 3: ", Set.of("topic-0"));
        ledger.onFound("topic-0", 0, new Payload(1, 1).encode());
        ledger.onFound("topic-0", 1, new Payload(1, 1).encode());
        ledger.endReading();

        // then
        assertThat(ledger.findings())
                .satisfiesExactly(
                        finding -> assertThat(finding).startsWith("AppendedOnceAndInOrder: broker 3: topic-0 offset 1"),
                        finding -> assertThat(finding)
                                .startsWith("NothingIsLost: broker 3: topic-0 producer 1: 1 acknowledged messages"));
        assertThat(losses.lostCount()).isEqualTo(1);
    }

    @Test
    void shouldAllowLossesOnlyAroundTheTimeWhenABrokerWasFenced() {
        // given a message of each of two producers that is lost, and a broker that was fenced soon or long after it
        Ledger ledger = new Ledger();
        Losses soon = new Losses(1_000);
        Losses late = new Losses(1_000);
        ledger.promise("topic-0", 1, new Ledger.Promise("SoonBounded", soon, false));
        ledger.promise("topic-0", 2, new Ledger.Promise("LateBounded", late, false));
        ledger.onAcknowledged("topic-0", 1, 0);
        ledger.onAcknowledged("topic-0", 2, 0);
        long nowNanos = System.nanoTime();
        soon.onFencing(nowNanos + TimeUnit.MILLISECONDS.toNanos(3_500), 3_000, 0, 4_000);
        late.onFencing(nowNanos + TimeUnit.MILLISECONDS.toNanos(14_500), 3_000, 0, 4_000);

        // when
        ledger.beginReading();
        ledger.endReading();

        // then
        assertThat(soon.lostCount()).isEqualTo(1);
        assertThat(ledger.findings()).singleElement().asString().startsWith("LateBounded: topic-0 producer 2: 1");
    }

    @Test
    void shouldAllowLossesUntilAFencedBrokerKnewThatItDidNotLead() {
        // given a message of each of two producers, 8 s after a leader was fenced that knew of it after 1 s or 4 s
        Ledger ledger = new Ledger();
        Losses knew = new Losses(1_000);
        Losses unaware = new Losses(1_000);
        ledger.promise("topic-0", 1, new Ledger.Promise("KnewBounded", knew, false));
        ledger.promise("topic-0", 2, new Ledger.Promise("UnawareBounded", unaware, false));
        ledger.onAcknowledged("topic-0", 1, 0);
        ledger.onAcknowledged("topic-0", 2, 0);
        long fencedNanos = System.nanoTime() - TimeUnit.SECONDS.toNanos(8);
        knew.onFencing(fencedNanos, 3_000, 1_000, 4_000);
        unaware.onFencing(fencedNanos, 3_000, 4_000, 4_000);

        // when
        ledger.beginReading();
        ledger.endReading();

        // then
        assertThat(unaware.lostCount()).isEqualTo(1);
        assertThat(ledger.findings()).singleElement().asString().startsWith("KnewBounded: topic-0 producer 1: 1");
    }

    @Test
    void shouldAllowWhatEachOfSeveralFencedLeadersMayLose() throws InterruptedException {
        // given successive losses, too long for the first of two brokers that were fenced
        Ledger ledger = new Ledger();
        Losses losses = new Losses(1_000);
        ledger.promise("topic-0", 1, new Ledger.Promise("LittleIsLost", losses, false));
        ledger.onAcknowledged("topic-0", 1, 0);
        Thread.sleep(2);
        ledger.onAcknowledged("topic-0", 1, 1);
        losses.onFencing(System.nanoTime(), 3_000, 0, 0);
        losses.onFencing(System.nanoTime(), 3_000, 0, 60_000);

        // when
        ledger.beginReading();
        ledger.endReading();

        // then
        assertThat(losses.lostCount()).isEqualTo(2);
        assertThat(ledger.findings()).isEmpty();
    }

    @Test
    void shouldFindALossWhenTheMessageWasReadBefore() {
        // given two messages that a fault may take; a reading finds one of them
        Ledger ledger = new Ledger();
        Losses losses = new Losses(60_000);
        ledger.promise("topic-0", 1, new Ledger.Promise("LittleIsLost", losses, false));
        ledger.onAcknowledged("topic-0", 1, 0);
        ledger.onAcknowledged("topic-0", 1, 1);
        losses.onEnding();
        ledger.beginReading();
        ledger.onFound("topic-0", 0, new Payload(1, 1).encode());
        ledger.endReading();
        assertThat(ledger.findings()).isEmpty();

        // when the next reading does not find it
        losses.onEnding();
        ledger.beginReading();
        ledger.endReading();

        // then
        assertThat(losses.lostCount()).isEqualTo(1);
        assertThat(ledger.findings())
                .singleElement()
                .asString()
                .startsWith("LittleIsLost: topic-0 producer 1: 1 acknowledged messages are lost")
                .endsWith("number 1");
    }

    @Test
    void shouldFindLossesWhenTheyAreTooManyForTheFault() throws InterruptedException {
        // given two messages that were not acknowledged in the same millisecond
        Ledger ledger = new Ledger();
        Losses losses = new Losses(60_000);
        ledger.promise("topic-0", 1, new Ledger.Promise("LittleIsLost", losses, false));
        ledger.onAcknowledged("topic-0", 1, 0);
        Thread.sleep(2);
        ledger.onAcknowledged("topic-0", 1, 1);
        losses.onFault(0);
        losses.onFaultOver();

        // when
        ledger.beginReading();
        ledger.endReading();

        // then
        assertThat(ledger.findings())
                .singleElement()
                .asString()
                .startsWith("LittleIsLost: topic-0 producer 1: successive messages");
    }

    @Test
    void shouldFindLossesThatAreTooManyWhenAnotherFaultMayTakeMore() throws InterruptedException {
        // given losses of two producers: a long one in a fault without a limit, a shorter one in another
        Ledger ledger = new Ledger();
        Losses losses = new Losses(0);
        ledger.promise("topic-0", 1, new Ledger.Promise("LittleIsLost", losses, false));
        ledger.promise("topic-0", 2, new Ledger.Promise("LittleIsLost", losses, false));
        ledger.onAcknowledged("topic-0", 2, 0);
        Thread.sleep(2);
        ledger.onAcknowledged("topic-0", 2, 1);
        Thread.sleep(2);
        losses.onFault(Long.MAX_VALUE);
        ledger.onAcknowledged("topic-0", 1, 0);
        Thread.sleep(200);
        ledger.onAcknowledged("topic-0", 1, 1);
        losses.onFaultOver();
        losses.onFencing(System.nanoTime(), 60_000, 0, 0);

        // when
        ledger.beginReading();
        ledger.endReading();

        // then
        assertThat(losses.lostCount()).isEqualTo(4);
        assertThat(ledger.findings())
                .singleElement()
                .asString()
                .startsWith("LittleIsLost: topic-0 producer 2: successive messages");
    }

    @Test
    void shouldReadOnlyWhatABrokerHoldsWhenItHasSomePartitions() {
        Ledger ledger = new Ledger();
        ledger.onAcknowledged("topic-0", 1, 0);
        ledger.onAcknowledged("topic-1", 1, 0);

        ledger.beginReading("broker 1: ", Set.of("topic-1"));
        ledger.onFound("topic-1", 0, new Payload(1, 0).encode());
        ledger.endReading();

        assertThat(ledger.findings()).isEmpty();
    }

    @Test
    void shouldFindRecordsThatConsumersHaveSeenWhenTheyAreLostOrOthers() {
        // given
        Ledger ledger = new Ledger();
        SeenRecords seen = new SeenRecords(ledger);
        for (int offset = 0; offset < 3; offset++) {
            seen.onSeen("topic-0", offset, new Payload(1, offset).encode());
        }
        seen.onSeen("topic-0", 1, new Payload(1, 7).encode());

        // when offset 0 is as it was, offset 1 is gone, and offset 2 holds another record
        seen.compare("broker 1: ", "topic-0", Map.of(0L, new Payload(1, 0), 2L, new Payload(1, 9)));

        // then
        assertThat(ledger.findings())
                .satisfiesExactly(
                        finding -> assertThat(finding)
                                .startsWith("SeenIsKept: consumers saw")
                                .contains("offset 1"),
                        finding -> assertThat(finding)
                                .startsWith("SeenIsKept: broker 1: topic-0: 2 records are lost")
                                .contains("at offset 1"));
    }
}
