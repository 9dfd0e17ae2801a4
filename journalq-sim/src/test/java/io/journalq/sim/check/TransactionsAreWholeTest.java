package io.journalq.sim.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.sim.workload.LogReader.Bounds;
import io.journalq.sim.workload.LogReader.Found;
import io.journalq.sim.workload.LogReader.Kind;
import io.journalq.sim.workload.LogReader.Reading;
import io.journalq.sim.workload.SentTransaction;
import io.journalq.sim.world.Violations;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TransactionsAreWholeTest {
    private static final long PRODUCER_ID = 7;

    private final Violations violations = new Violations();
    private final TransactionsAreWhole check = new TransactionsAreWhole(violations);
    private final SentTransaction transaction = new SentTransaction("t");

    private static Reading reading(Found... markers) {
        return new Reading(
                "p",
                List.of(new Found(0, "r", 0, PRODUCER_ID, Kind.TRANSACTIONAL)),
                List.of(markers),
                new Bounds(0, 0, 2));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldRequireAMarkerWhenTheProducerWasToldThatItsTransactionHasEnded(boolean commit) {
        // given a transaction that is open
        transaction.add("r", "p");
        assertThat(check.haveEnded(List.of(reading()), List.of(transaction))).isTrue();

        // when its end is acknowledged, and its partition does not have the marker
        transaction.onEnding(commit);
        transaction.onAcknowledged();
        boolean early = check.haveEnded(List.of(reading()), List.of(transaction));
        check.checkEnded(List.of(transaction));

        // then
        assertThat(early).isFalse();
        assertThat(violations.found())
                .singleElement()
                .asString()
                .startsWith("TransactionsAreWhole: transaction t")
                .endsWith("is still open after a restart");

        // when the marker is there
        Found marker = new Found(1, null, 0, PRODUCER_ID, commit ? Kind.COMMIT : Kind.ABORT);
        boolean late = check.haveEnded(List.of(reading(marker)), List.of(transaction));

        // then
        assertThat(late).isTrue();
    }
}
