package io.journalq.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** A short run of what {@code bin/journalq-chaos} does for hours. */
class ChaosTest {
    @Test
    void shouldLoseNothingWhenTheBrokerIsKilledUnderLoad() {
        int exitCode = new CommandLine(new ChaosMain()).execute("--cycles", "4", "--check-every", "2");

        assertThat(exitCode)
                .as("0: nothing lost, doubled or damaged; findings are printed")
                .isZero();
    }

    @Test
    void shouldFindWhatIsMissingDoubledAndOutOfOrder() {
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
                        finding -> assertThat(finding).contains("offset 1").contains("behind number 2"),
                        finding -> assertThat(finding).contains("offset 2").contains("again"),
                        finding -> assertThat(finding).contains("offset 3").contains("nobody sent"),
                        finding -> assertThat(finding).contains("2 acknowledged messages are lost"));
    }
}
