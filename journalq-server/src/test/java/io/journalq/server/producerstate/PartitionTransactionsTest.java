package io.journalq.server.producerstate;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.record.TransactionMarker;
import io.journalq.server.producerstate.PartitionTransactions.EndedTransaction;
import io.journalq.server.producerstate.PartitionTransactions.MarkerVerdict;
import io.journalq.server.producerstate.ProducerDedup.Verdict;
import org.junit.jupiter.api.Test;

class PartitionTransactionsTest {
    private static final long P1 = 11;
    private static final long P2 = 12;
    private static final short EPOCH = 4;
    private static final short NEXT_EPOCH = 5;
    private static final short FIRST = 0;
    private static final short SECOND = 2;
    private static final int COORDINATOR_EPOCH = 3;
    private static final long NOW_MS = 1_000;

    private final ProducerDedup producers = new ProducerDedup();
    private PartitionTransactions transactions = new PartitionTransactions(producers);
    private long endOffset = 100;

    @Test
    void shouldBeStableUpToTheOldestOpenTransaction() {
        // given two interleaved transactions
        write(P1, 0);
        write(P2, 0);
        write(P1, 1);
        assertThat(transactions.firstUnstableOffset()).isEqualTo(100);

        // when the second one ends
        EndedTransaction second = mark(P2, EPOCH, false);
        transactions.onHighWatermark(endOffset);

        // then the first one still determines the last stable offset
        assertThat(transactions.firstUnstableOffset()).isEqualTo(100);
        assertThat(second).isEqualTo(new EndedTransaction(P2, 101, 103, 100, false));

        // when the first one ends, but its marker is not below the high watermark
        EndedTransaction first = mark(P1, EPOCH, true);
        assertThat(transactions.firstUnstableOffset()).isEqualTo(100);
        transactions.onHighWatermark(104);
        assertThat(transactions.firstUnstableOffset()).isEqualTo(100);

        // then it determines the last stable offset until its marker is
        transactions.onHighWatermark(105);
        assertThat(transactions.firstUnstableOffset()).isEqualTo(PartitionTransactions.NONE);
        assertThat(first).isEqualTo(new EndedTransaction(P1, 100, 104, 105, true));
    }

    @Test
    void shouldAdmitATransactionOnlyWhenTheCoordinatorKnows() {
        // given no transaction
        assertThat(transactions.checkBatch(P1, true, false)).isEqualTo(ErrorCode.INVALID_TXN_STATE);
        assertThat(transactions.checkBatch(P1, true, true)).isEqualTo(ErrorCode.NONE);
        assertThat(transactions.checkBatch(P1, false, false)).isEqualTo(ErrorCode.NONE);

        // when one is open
        write(P1, 0);

        // then no batch outside of it is accepted
        assertThat(transactions.checkBatch(P1, true, true)).isEqualTo(ErrorCode.NONE);
        assertThat(transactions.checkBatch(P1, true, false)).isEqualTo(ErrorCode.INVALID_TXN_STATE);
        assertThat(transactions.checkBatch(P1, false, false)).isEqualTo(ErrorCode.INVALID_TXN_STATE);
        assertThat(transactions.checkBatch(P2, false, false)).isEqualTo(ErrorCode.NONE);

        // and when it has ended, all batches are accepted again
        mark(P1, EPOCH, true);
        assertThat(transactions.checkBatch(P1, false, false)).isEqualTo(ErrorCode.NONE);
    }

    @Test
    void shouldFenceMarkersOfOldEpochs() {
        // given a producer whose last transaction was ended by a coordinator
        write(P1, 0);
        mark(P1, EPOCH, true);

        // then
        assertThat(check(P1, (short) (EPOCH - 1), COORDINATOR_EPOCH, FIRST)).isEqualTo(MarkerVerdict.FENCED);
        assertThat(check(P1, EPOCH, COORDINATOR_EPOCH - 1, FIRST)).isEqualTo(MarkerVerdict.COORDINATOR_FENCED);
        assertThat(check(P1, EPOCH, COORDINATOR_EPOCH + 1, FIRST)).isEqualTo(MarkerVerdict.APPEND);
        assertThat(check(P1, NEXT_EPOCH, COORDINATOR_EPOCH, FIRST)).isEqualTo(MarkerVerdict.APPEND);
    }

    @Test
    void shouldNotEndTheNextTransactionWithAMarkerSentAgain() {
        // given a transaction that ended with an incremented epoch, and the next one of the same producer
        write(P1, 0);
        mark(P1, NEXT_EPOCH, true);
        assertThat(check(P1, NEXT_EPOCH, COORDINATOR_EPOCH, SECOND)).isEqualTo(MarkerVerdict.REPEATED);
        assertThat(transactions.repeatedMarkerOffset()).isEqualTo(101);
        write(P1, NEXT_EPOCH, 0);

        // when the first one's marker is repeated, it ends nothing
        assertThat(check(P1, NEXT_EPOCH, COORDINATOR_EPOCH, SECOND)).isEqualTo(MarkerVerdict.FENCED);

        // and with a protocol that does not increment epochs, it would be the marker of the next one
        assertThat(check(P1, NEXT_EPOCH, COORDINATOR_EPOCH, FIRST)).isEqualTo(MarkerVerdict.APPEND);
    }

    @Test
    void shouldWriteAMarkerOnceWhenItIsAskedForAgain() {
        // given a producer without records here: its marker fences
        assertThat(check(P1, EPOCH, COORDINATOR_EPOCH, FIRST)).isEqualTo(MarkerVerdict.APPEND);
        assertThat(mark(P1, EPOCH, true)).isNull();
        assertThat(producers.check(P1, (short) (EPOCH - 1), 0, 1)).isEqualTo(Verdict.FENCED);

        // then the same marker changes nothing, another one does
        assertThat(check(P1, EPOCH, COORDINATOR_EPOCH, FIRST)).isEqualTo(MarkerVerdict.REPEATED);
        assertThat(transactions.repeatedMarkerOffset()).isEqualTo(100);
        assertThat(transactions.check(new TransactionMarker(P1, EPOCH, false, COORDINATOR_EPOCH), FIRST))
                .isEqualTo(MarkerVerdict.APPEND);

        // and after more records it belongs to another transaction
        write(P1, 0);
        assertThat(check(P1, EPOCH, COORDINATOR_EPOCH, FIRST)).isEqualTo(MarkerVerdict.APPEND);
        mark(P1, EPOCH, true);
        assertThat(check(P1, EPOCH, COORDINATOR_EPOCH, FIRST)).isEqualTo(MarkerVerdict.REPEATED);
        assertThat(transactions.repeatedMarkerOffset()).isEqualTo(102);
    }

    @Test
    void shouldRestartTheSequenceWhenAMarkerCarriesANewEpoch() {
        // given a transaction whose marker keeps the epoch: the sequence continues
        write(P1, 0);
        mark(P1, EPOCH, true);
        assertThat(producers.check(P1, EPOCH, 1, 1)).isEqualTo(Verdict.APPEND);
        assertThat(producers.check(P1, EPOCH, 7, 1)).isEqualTo(Verdict.OUT_OF_ORDER);

        // when a marker has a new epoch
        write(P1, 1);
        mark(P1, NEXT_EPOCH, true);

        // then the sequence begins at 0, and the old epoch is fenced
        assertThat(producers.check(P1, EPOCH, 2, 1)).isEqualTo(Verdict.FENCED);
        assertThat(producers.check(P1, NEXT_EPOCH, 2, 1)).isEqualTo(Verdict.OUT_OF_ORDER);
        assertThat(producers.check(P1, NEXT_EPOCH, 0, 1)).isEqualTo(Verdict.APPEND);
    }

    @Test
    void shouldOpenATransactionAgainWhenItsMarkerIsLost() {
        // given a transaction whose marker, and all later records of its producer, are not below the high watermark
        write(P1, 0);
        write(P2, 0);
        transactions.onHighWatermark(102);
        mark(P1, NEXT_EPOCH, false);
        write(P1, NEXT_EPOCH, 0);
        mark(P1, (short) (NEXT_EPOCH + 1), true);
        mark(13, EPOCH, true);

        // when the journal loses all of it
        transactions.truncateTo(102);

        // then the state is as before
        assertThat(transactions.openCount()).isEqualTo(2);
        assertThat(transactions.firstUnstableOffset()).isEqualTo(100);
        assertThat(producers.check(P1, EPOCH, 1, 1)).isEqualTo(Verdict.APPEND);
        assertThat(producers.check(P1, EPOCH, 0, 1)).isEqualTo(Verdict.DUPLICATE);
        assertThat(producers.check(13, (short) 0, 0, 1)).isEqualTo(Verdict.APPEND);
        assertThat(check(P1, NEXT_EPOCH, COORDINATOR_EPOCH, SECOND)).isEqualTo(MarkerVerdict.APPEND);
    }

    @Test
    void shouldOpenATransactionAgainWhenItsMarkerIsLostWithTheBeginOfTheNextOne() {
        // given a marker and the first record of the next transaction, which are not below the high watermark
        write(P1, 0);
        transactions.onHighWatermark(101);
        mark(P1, NEXT_EPOCH, false);
        write(P1, NEXT_EPOCH, 0);

        // when the journal loses both
        transactions.truncateTo(101);

        // then the transaction is open, and its marker ends it
        assertThat(transactions.openCount()).isEqualTo(1);
        assertThat(transactions.checkBatch(P1, false, false)).isEqualTo(ErrorCode.INVALID_TXN_STATE);
        assertThat(mark(P1, NEXT_EPOCH, false)).isNotNull();
        transactions.onHighWatermark(endOffset);
        assertThat(transactions.firstUnstableOffset()).isEqualTo(PartitionTransactions.NONE);
    }

    @Test
    void shouldOpenATransactionAgainWhenTheHighWatermarkEndsBeforeItsMarker() {
        // given a marker that is the first record behind the high watermark
        write(P1, 0);
        mark(P1, EPOCH, true);
        transactions.onHighWatermark(101);

        // when the journal loses it
        transactions.truncateTo(101);

        // then
        assertThat(transactions.openCount()).isEqualTo(1);
        assertThat(transactions.firstUnstableOffset()).isEqualTo(100);
        assertThat(transactions.checkBatch(P1, false, false)).isEqualTo(ErrorCode.INVALID_TXN_STATE);
    }

    @Test
    void shouldKnowThePreviousMarkerAgainWhenTheLastOneIsLost() {
        // given a producer that has written nothing since its last marker
        write(P1, 0);
        mark(P1, EPOCH, true);
        transactions.onMarker(P1, FIRST, 7);
        transactions.onHighWatermark(endOffset);

        // when a later coordinator writes another one, and the journal loses it
        transactions.replayMarker(new TransactionMarker(P1, EPOCH, false, COORDINATOR_EPOCH + 1), endOffset, NOW_MS);
        transactions.onMarker(P1, FIRST, 8);
        transactions.truncateTo(endOffset);

        // then the first one counts
        assertThat(check(P1, EPOCH, COORDINATOR_EPOCH, FIRST)).isEqualTo(MarkerVerdict.REPEATED);
        assertThat(transactions.repeatedMarkerOffset()).isEqualTo(101);
        assertThat(check(P1, EPOCH, COORDINATOR_EPOCH - 1, FIRST)).isEqualTo(MarkerVerdict.COORDINATOR_FENCED);
        assertThat(transactions.isVerified(P1, 6)).isFalse();
        assertThat(transactions.isVerified(P1, 7)).isTrue();
    }

    @Test
    void shouldKnowTheSequenceAgainWhenTheMarkerThatRestartedItIsLost() {
        // given a producer with more batches than are remembered, and one that starts a new epoch at 0
        int written = 4 * ProducerDedup.REMEMBERED_BATCHES;
        for (int sequence = 0; sequence < written; sequence++) {
            write(P1, sequence);
        }
        mark(P2, EPOCH, true);
        transactions.onHighWatermark(endOffset);
        long end = endOffset;

        // when their markers begin the next epoch, and the journal loses them
        mark(P1, NEXT_EPOCH, true);
        mark(P2, NEXT_EPOCH, true);
        transactions.truncateTo(end);

        // then
        assertThat(producers.check(P1, EPOCH, 0, 1)).isEqualTo(Verdict.OLD_DUPLICATE);
        assertThat(producers.check(P1, EPOCH, written, 1)).isEqualTo(Verdict.APPEND);
        assertThat(producers.check(P2, EPOCH, 1, 1)).isEqualTo(Verdict.OUT_OF_ORDER);
        assertThat(producers.check(P2, EPOCH, 0, 1)).isEqualTo(Verdict.APPEND);
    }

    @Test
    void shouldTakeNoConfirmationFromBeforeAMarkerOfTheProducer() {
        // given a marker that keeps the epoch, so that only its number tells late batches
        transactions.onMarker(P1, FIRST, 7);

        // then
        assertThat(transactions.isVerified(P1, 6)).isFalse();
        assertThat(transactions.isVerified(P1, 7)).isTrue();
        assertThat(transactions.isVerified(P2, 6)).isTrue();

        // and a marker with a growing epoch leaves confirmations valid
        transactions.onMarker(P1, SECOND, 9);
        assertThat(transactions.isVerified(P1, 8)).isTrue();
    }

    @Test
    void shouldTakeNoConfirmationFromBeforeItLed() {
        transactions.onLeading(10);

        assertThat(transactions.isOutdated(9)).isTrue();
        assertThat(transactions.isVerified(P1, 9)).isFalse();
        assertThat(transactions.isOutdated(10)).isFalse();
        assertThat(transactions.isVerified(P1, 10)).isTrue();
    }

    @Test
    void shouldKeepAProducerAfterATransactionThatLastedLong() {
        // given a producer that is silent for longer than the expiry time before its transaction ends
        write(P1, 0);
        long endMs = NOW_MS + 5_000;
        transactions.replayMarker(new TransactionMarker(P1, EPOCH, true, COORDINATOR_EPOCH), endOffset, endMs);

        // when
        producers.onTick(endMs + 500, 1_000);

        // then its batches and its marker are still known
        assertThat(producers.check(P1, EPOCH, 0, 1)).isEqualTo(Verdict.DUPLICATE);
        assertThat(check(P1, EPOCH, COORDINATOR_EPOCH, FIRST)).isEqualTo(MarkerVerdict.REPEATED);
    }

    @Test
    void shouldForgetATransactionWhoseRecordsAreLost() {
        write(P1, 0);
        write(P2, 0);
        transactions.truncateTo(101);
        assertThat(transactions.openCount()).isEqualTo(1);
        assertThat(transactions.checkBatch(P1, false, false)).isEqualTo(ErrorCode.INVALID_TXN_STATE);
        assertThat(transactions.checkBatch(P2, false, false)).isEqualTo(ErrorCode.NONE);
    }

    @Test
    void shouldKeepAProducerWithAnOpenTransactionWhateverComes() {
        // given a silent producer with an open transaction, and one without
        write(P1, 0);
        producers.replay(P2, EPOCH, 0, 1, 200, -1, NOW_MS);

        // when it is silent for a long time, and many others write
        producers.onTick(NOW_MS + 1_000_000, 1_000);
        for (long other = 100; other < 100 + ProducerDedup.MAX_PRODUCERS; other++) {
            producers.replay(other, EPOCH, 0, 1, other, -1, NOW_MS);
        }

        // then its transaction can still be ended
        assertThat(producers.producerCount()).isEqualTo(ProducerDedup.MAX_PRODUCERS);
        assertThat(transactions.openLongerThan(1_000, NOW_MS + 1_001)).isEqualTo(1);
        assertThat(mark(P1, EPOCH, false)).isNotNull();
        assertThat(producers.check(P2, EPOCH, 9, 1)).isEqualTo(Verdict.SEND_AGAIN);
    }

    @Test
    void shouldHaveProducersWaitWhenTooManyTransactionsAreOpen() {
        for (int i = 0; i < PartitionTransactions.MAX_OPEN_TRANSACTIONS; i++) {
            write(1_000 + i, 0);
        }
        assertThat(transactions.checkBatch(P1, true, true)).isEqualTo(ErrorCode.NOT_ENOUGH_REPLICAS);
        assertThat(transactions.checkBatch(1_000, true, true)).isEqualTo(ErrorCode.NONE);
        mark(1_000, EPOCH, true);
        assertThat(transactions.checkBatch(P1, true, true)).isEqualTo(ErrorCode.NONE);
    }

    @Test
    void shouldBeTheSameAfterASnapshot() {
        // given an open transaction, one that ended with a new epoch, and a producer without any
        write(P1, 0);
        write(P2, 0);
        mark(P2, NEXT_EPOCH, true);
        producers.replay(13, EPOCH, 0, 1, 103, -1, NOW_MS);

        // when
        transactions = ProducerSnapshot.decode(ProducerSnapshot.encode(transactions));

        // then
        ProducerDedup read = transactions.producers();
        assertThat(transactions.firstUnstableOffset()).isEqualTo(100);
        assertThat(transactions.openLongerThan(10, NOW_MS + 11)).isEqualTo(1);
        assertThat(transactions.checkBatch(P1, false, false)).isEqualTo(ErrorCode.INVALID_TXN_STATE);
        assertThat(read.check(P2, NEXT_EPOCH, 1, 1)).isEqualTo(Verdict.OUT_OF_ORDER);
        assertThat(read.check(13, EPOCH, 0, 1)).isEqualTo(Verdict.DUPLICATE);
        assertThat(check(P2, NEXT_EPOCH, COORDINATOR_EPOCH, SECOND)).isEqualTo(MarkerVerdict.REPEATED);
        assertThat(transactions.repeatedMarkerOffset()).isEqualTo(102);
        assertThat(check(P2, NEXT_EPOCH, COORDINATOR_EPOCH - 1, SECOND)).isEqualTo(MarkerVerdict.COORDINATOR_FENCED);
        assertThat(transactions.replayMarker(new TransactionMarker(P1, EPOCH, false, 9), 104, NOW_MS))
                .isEqualTo(new EndedTransaction(P1, 100, 104, 105, false));
    }

    private void write(long producer, int sequence) {
        write(producer, EPOCH, sequence);
    }

    private void write(long producer, short epoch, int sequence) {
        producers.replay(producer, epoch, sequence, 1, endOffset, -1, NOW_MS);
        transactions.replayBatch(producer, endOffset, NOW_MS);
        endOffset++;
    }

    private EndedTransaction mark(long producer, short epoch, boolean commit) {
        TransactionMarker marker = new TransactionMarker(producer, epoch, commit, COORDINATOR_EPOCH);
        return transactions.replayMarker(marker, endOffset++, NOW_MS);
    }

    private MarkerVerdict check(long producer, short epoch, int coordinatorEpoch, short version) {
        return transactions.check(new TransactionMarker(producer, epoch, true, coordinatorEpoch), version);
    }
}
