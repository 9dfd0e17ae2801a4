package io.journalq.chaos.load;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TransactionLedgerTest {
    private final Ledger ledger = new Ledger();
    private final TransactionLedger transactions = new TransactionLedger(ledger);

    @Test
    void shouldFindTransactionsWhenTheyAreIncompleteOrAbortedButVisible() {
        // given
        transactions.onCommitted(1, 0);
        transactions.onCommitted(1, 1);
        transactions.onAborted(1, 2);

        // when transaction 1 is lost, and one message of transaction 2 and all but one of transaction 3 are found
        transactions.beginReading();
        find(0, TransactionLedger.SIZE);
        find(2 * TransactionLedger.SIZE, 2 * TransactionLedger.SIZE + 1);
        find(3 * TransactionLedger.SIZE + 1, 4 * TransactionLedger.SIZE);
        transactions.endReading(true);

        // then
        assertThat(ledger.findings())
                .satisfiesExactly(
                        finding -> assertThat(finding).contains("transaction 1").contains("committed but incomplete"),
                        finding -> assertThat(finding).contains("transaction 2").contains("aborted but visible"),
                        finding -> assertThat(finding).contains("transaction 3").contains("torn"));
    }

    @Test
    void shouldIgnoreTransactionsOfUnknownOutcomeWhenProducersStillWrite() {
        // given a transaction 0 of unknown outcome

        // when
        transactions.beginReading();
        find(0, 1);
        transactions.endReading(false);

        // then
        assertThat(ledger.findings()).isEmpty();
    }

    @Test
    void shouldFindMessagesWhenTheyAreDuplicatedOrOutOfOrder() {
        // when
        transactions.beginReading();
        find(1, 3);
        find(0, 2);

        // then
        assertThat(ledger.findings())
                .satisfiesExactly(
                        finding -> assertThat(finding).contains("after number 2"),
                        finding -> assertThat(finding).contains("duplicate of"));
    }

    private void find(int from, int to) {
        for (int number = from; number < to; number++) {
            transactions.onFound("topic-0", number, new Payload(1, number).encode());
        }
    }
}
