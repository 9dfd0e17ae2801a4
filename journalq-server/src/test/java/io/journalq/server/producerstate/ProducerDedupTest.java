package io.journalq.server.producerstate;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.memory.ChargedBytes;
import io.journalq.server.memory.RetainedBytes;
import io.journalq.server.producerstate.ProducerDedup.Verdict;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProducerDedupTest {
    private static final long PRODUCER = 7;
    private static final short EPOCH = 0;
    private static final long NOW_MS = 1_000;
    private static final long NO_APPEND_TIME = -1;

    private final ProducerDedup dedup = new ProducerDedup();

    @Test
    void shouldRepeatTheFirstResponseWhenABatchIsRetried() {
        // given five batches of ten records
        for (int i = 0; i < ProducerDedup.REMEMBERED_BATCHES; i++) {
            dedup.replay(PRODUCER, EPOCH, i * 10, 10, 100 + i * 10, 5_000 + i, NOW_MS);
        }
        // when the oldest of them is sent again
        Verdict verdict = dedup.check(PRODUCER, EPOCH, 0, 10);
        // then it is recognized, with its offset and time
        assertThat(verdict).isEqualTo(Verdict.DUPLICATE);
        assertThat(dedup.duplicateBaseOffset()).isEqualTo(100);
        assertThat(dedup.duplicateAppendTimeMs()).isEqualTo(5_000);
    }

    private static final int MANY = 5 * ProducerDedup.REMEMBERED_BATCHES;

    /** Appends batches of two records from {@code sequence} on, at the same offsets. */
    private void appendMany(int sequence) {
        for (int i = 0; i < MANY; i++) {
            replay(EPOCH, sequence + 2 * i, 2, sequence + 2 * i);
        }
    }

    @Test
    void shouldKnowABatchThatIsOlderThanWhatIsRemembered() {
        // given more batches than are remembered
        appendMany(0);
        // then the first is a duplicate, of what lies before an offset
        assertThat(dedup.check(PRODUCER, EPOCH, 0, 2)).isEqualTo(Verdict.OLD_DUPLICATE);
        assertThat(dedup.duplicateBaseOffset()).isBetween(2L, 2L * MANY);
        // and so are those behind it, whether their offsets are known or not
        for (int i = 1; i < MANY; i++) {
            assertThat(dedup.check(PRODUCER, EPOCH, 2 * i, 2)).isIn(Verdict.OLD_DUPLICATE, Verdict.DUPLICATE);
        }
        assertThat(dedup.check(PRODUCER, EPOCH, 2 * MANY, 2)).isEqualTo(Verdict.APPEND);
        // and one that has other records than a remembered batch is refused
        assertThat(dedup.check(PRODUCER, EPOCH, 2 * MANY - 3, 2)).isEqualTo(Verdict.OUT_OF_ORDER);
    }

    @Test
    void shouldKnowNoBatchBeforeTheFirstThatArrived() {
        // given a producer whose earlier batches were never seen
        appendMany(1_000);
        assertThat(dedup.check(PRODUCER, EPOCH, 999, 1)).isEqualTo(Verdict.OUT_OF_ORDER);
        assertThat(dedup.check(PRODUCER, EPOCH, 999, 2)).isEqualTo(Verdict.OUT_OF_ORDER);
        assertThat(dedup.check(PRODUCER, EPOCH, 1_000, 2)).isEqualTo(Verdict.OLD_DUPLICATE);
    }

    @Test
    void shouldKnowNoOlderBatchBeforeAGap() {
        // given a gap behind acknowledged batches that were lost
        replay(EPOCH, 0, 2, 0);
        dedup.onPossibleLoss(2);
        dedup.check(PRODUCER, EPOCH, 10, 2);
        appendMany(10);
        assertThat(dedup.check(PRODUCER, EPOCH, 2, 2)).isEqualTo(Verdict.OUT_OF_ORDER);
        assertThat(dedup.check(PRODUCER, EPOCH, 8, 2)).isEqualTo(Verdict.OUT_OF_ORDER);
        assertThat(dedup.check(PRODUCER, EPOCH, 10, 2)).isEqualTo(Verdict.OLD_DUPLICATE);
    }

    @Test
    void shouldKnowNoOlderBatchOfAnotherEpoch() {
        appendMany(0);
        short next = EPOCH + 1;
        replay(next, 0, 2, 1_000);
        assertThat(dedup.check(PRODUCER, next, 2 * MANY - 2, 2)).isEqualTo(Verdict.OUT_OF_ORDER);
        assertThat(dedup.check(PRODUCER, EPOCH, 0, 2)).isEqualTo(Verdict.FENCED);
    }

    @Test
    void shouldKnowOlderBatchesAcrossTheLargestInt() {
        for (int i = 0; i < MANY; i++) {
            replay(EPOCH, (Integer.MAX_VALUE - 9 + 2 * i) & Integer.MAX_VALUE, 2, 2L * i);
        }
        assertThat(dedup.check(PRODUCER, EPOCH, Integer.MAX_VALUE - 9, 2)).isEqualTo(Verdict.OLD_DUPLICATE);
        assertThat(dedup.check(PRODUCER, EPOCH, Integer.MAX_VALUE - 10, 1)).isEqualTo(Verdict.OUT_OF_ORDER);
    }

    @Test
    void shouldNotKnowABatchAgainThatTheJournalLost() {
        // given truncated batches, more than are remembered
        appendMany(0);
        dedup.truncateTo(2);
        assertThat(dedup.check(PRODUCER, EPOCH, 4, 2)).isNotIn(Verdict.OLD_DUPLICATE, Verdict.DUPLICATE);
        // and fewer
        appendMany(0);
        dedup.truncateTo(2 * MANY - 4);
        assertThat(dedup.check(PRODUCER, EPOCH, 2 * MANY - 2, 2)).isEqualTo(Verdict.OUT_OF_ORDER);
        assertThat(dedup.check(PRODUCER, EPOCH, 2 * MANY - 4, 2)).isEqualTo(Verdict.APPEND);
        assertThat(dedup.check(PRODUCER, EPOCH, 0, 2)).isEqualTo(Verdict.OLD_DUPLICATE);
    }

    @Test
    void shouldKeepWhatIsKnownOfOlderBatchesInItsSnapshot() {
        appendMany(1_000);
        ProducerDedup read = ProducerSnapshot.decode(ProducerSnapshot.encode(new PartitionTransactions(dedup)))
                .producers();
        assertThat(read.check(PRODUCER, EPOCH, 998, 2)).isEqualTo(Verdict.OUT_OF_ORDER);
        assertThat(read.check(PRODUCER, EPOCH, 1_000, 2)).isEqualTo(Verdict.OLD_DUPLICATE);
    }

    @Test
    void shouldRefuseAGapWhenTheProducerIsKnown() {
        replay(EPOCH, 0, 3, 0);
        assertThat(dedup.check(PRODUCER, EPOCH, 4, 1)).isEqualTo(Verdict.OUT_OF_ORDER);
        assertThat(dedup.check(PRODUCER, EPOCH, 3, 1)).isEqualTo(Verdict.APPEND);
    }

    @Test
    void shouldAcceptAGapAfterAPossibleLossWhenItsBatchComesTwice() {
        // given
        replay(EPOCH, 0, 3, 0);
        dedup.onPossibleLoss(3);
        // when a batch leaves a gap, and the one behind it arrives too
        assertThat(dedup.check(PRODUCER, EPOCH, 7, 1)).isEqualTo(Verdict.SEND_AGAIN);
        assertThat(dedup.check(PRODUCER, EPOCH, 8, 1)).isEqualTo(Verdict.OUT_OF_ORDER);
        // then the first of them is accepted when it is sent again, and no other gap is accepted any more
        assertThat(dedup.check(PRODUCER, EPOCH, 7, 1)).isEqualTo(Verdict.APPEND_AFTER_LOSS);
        replay(EPOCH, 7, 1, 3);
        assertThat(dedup.check(PRODUCER, EPOCH, 9, 1)).isEqualTo(Verdict.OUT_OF_ORDER);
        assertThat(dedup.check(PRODUCER, EPOCH, 9, 1)).isEqualTo(Verdict.OUT_OF_ORDER);
        assertThat(dedup.check(PRODUCER, EPOCH, 8, 1)).isEqualTo(Verdict.APPEND);
        assertThat(dedup.check(PRODUCER, EPOCH, 0, 3)).isEqualTo(Verdict.DUPLICATE);
    }

    @Test
    void shouldNotAcceptABatchThatOvertookAnotherAfterAPossibleLoss() {
        // given a producer that lost nothing
        replay(EPOCH, 0, 3, 0);
        dedup.onPossibleLoss(3);
        // when its second batch in flight arrives before its first
        assertThat(dedup.check(PRODUCER, EPOCH, 4, 1)).isEqualTo(Verdict.SEND_AGAIN);
        // then the first is appended, and the second behind it
        assertThat(dedup.check(PRODUCER, EPOCH, 3, 1)).isEqualTo(Verdict.APPEND);
        replay(EPOCH, 3, 1, 3);
        assertThat(dedup.check(PRODUCER, EPOCH, 4, 1)).isEqualTo(Verdict.APPEND);
    }

    @Test
    void shouldAwaitTheOldestBatchWhenALaterOneCameFirstAfterAPossibleLoss() {
        replay(EPOCH, 0, 3, 0);
        dedup.onPossibleLoss(3);
        assertThat(dedup.check(PRODUCER, EPOCH, 8, 1)).isEqualTo(Verdict.SEND_AGAIN);
        assertThat(dedup.check(PRODUCER, EPOCH, 7, 1)).isEqualTo(Verdict.SEND_AGAIN);
        assertThat(dedup.check(PRODUCER, EPOCH, 8, 1)).isEqualTo(Verdict.OUT_OF_ORDER);
        assertThat(dedup.check(PRODUCER, EPOCH, 7, 1)).isEqualTo(Verdict.APPEND_AFTER_LOSS);
    }

    @Test
    void shouldAcceptTheGapAgainWhenItsBatchCouldNotBeWritten() {
        replay(EPOCH, 0, 3, 0);
        dedup.onPossibleLoss(3);
        dedup.check(PRODUCER, EPOCH, 7, 1);
        replay(EPOCH, 7, 1, 3);
        dedup.truncateTo(3);
        assertThat(dedup.check(PRODUCER, EPOCH, 7, 1)).isEqualTo(Verdict.APPEND_AFTER_LOSS);
    }

    @Test
    void shouldAcceptAGapAtTheBeginningOfAnEpochAfterAPossibleLoss() {
        // given a producer that lost all of its newest epoch
        replay(EPOCH, 0, 3, 0);
        dedup.onPossibleLoss(3);
        short next = EPOCH + 1;
        assertThat(dedup.check(PRODUCER, next, 5, 1)).isEqualTo(Verdict.SEND_AGAIN);
        assertThat(dedup.check(PRODUCER, next, 5, 1)).isEqualTo(Verdict.APPEND_AFTER_LOSS);
    }

    @Test
    void shouldAcceptAnySequenceWhenAllRememberedBatchesAreLost() {
        // given acknowledged batches that could not be written before the broker stopped
        replay(EPOCH, 0, 3, 5);
        replay(EPOCH, 3, 1, 8);
        dedup.truncateTo(5);
        // when the next start detects the loss
        dedup.onPossibleLoss(5);
        // then the producer continues behind them
        assertThat(dedup.check(PRODUCER, EPOCH, 4, 1)).isEqualTo(Verdict.SEND_AGAIN);
        assertThat(dedup.check(PRODUCER, EPOCH, 4, 1)).isEqualTo(Verdict.APPEND);
    }

    @Test
    void shouldWaitForTheFirstBatchThatCouldNotBeWrittenAfterAPossibleLoss() {
        // given a producer that appends after the loss, and a disk that is full
        dedup.onPossibleLoss(5);
        replay(EPOCH, 0, 1, 5);
        dedup.truncateTo(5);
        // when its second batch in flight arrives repeatedly
        assertThat(dedup.check(PRODUCER, EPOCH, 1, 1)).isEqualTo(Verdict.OUT_OF_ORDER);
        // then it is not appended before the first
        replay(EPOCH, 0, 1, 5);
        dedup.truncateTo(5);
        assertThat(dedup.check(PRODUCER, EPOCH, 1, 1)).isEqualTo(Verdict.OUT_OF_ORDER);
    }

    @Test
    void shouldNotAcceptABatchAfterAPossibleLossWhenOneBeforeItCouldNotBeWritten() {
        // given
        replay(EPOCH, 0, 3, 0);
        dedup.onPossibleLoss(3);
        // when the next batch cannot be written, and the one behind it overtakes it
        replay(EPOCH, 3, 1, 3);
        dedup.truncateTo(3);
        assertThat(dedup.check(PRODUCER, EPOCH, 4, 1)).isEqualTo(Verdict.SEND_AGAIN);
        replay(EPOCH, 3, 1, 3);
        dedup.truncateTo(3);
        // then it is not appended before that one
        assertThat(dedup.check(PRODUCER, EPOCH, 4, 1)).isEqualTo(Verdict.SEND_AGAIN);
    }

    @Test
    void shouldAcceptNoGapOfATransactionAfterAPossibleLoss() {
        // given a producer whose open transaction may have lost batches
        PartitionTransactions transactions = new PartitionTransactions(dedup);
        replay(EPOCH, 0, 3, 0);
        transactions.replayBatch(PRODUCER, 0, NOW_MS);
        dedup.onPossibleLoss(3);
        // then it cannot continue as if nothing were missing
        assertThat(dedup.check(PRODUCER, EPOCH, 7, 1)).isEqualTo(Verdict.OUT_OF_ORDER);
        assertThat(dedup.check(PRODUCER, EPOCH, 7, 1)).isEqualTo(Verdict.OUT_OF_ORDER);
    }

    @Test
    void shouldWrapSequencesWhenAGapIsAcceptedAfterAPossibleLoss() {
        replay(EPOCH, Integer.MAX_VALUE - 3, 2, 0);
        dedup.onPossibleLoss(2);
        assertThat(dedup.check(PRODUCER, EPOCH, 4, 1)).isEqualTo(Verdict.SEND_AGAIN);
        assertThat(dedup.check(PRODUCER, EPOCH, 4, 1)).isEqualTo(Verdict.APPEND_AFTER_LOSS);
        // and the batch behind it leaves no gap
        assertThat(dedup.check(PRODUCER, EPOCH, Integer.MAX_VALUE - 9, 1)).isEqualTo(Verdict.OUT_OF_ORDER);
    }

    @Test
    void shouldKeepAPossibleLossInItsSnapshot() {
        replay(EPOCH, 0, 3, 0);
        dedup.onPossibleLoss(3);
        ProducerDedup read = ProducerSnapshot.decode(ProducerSnapshot.encode(new PartitionTransactions(dedup)))
                .producers();
        assertThat(read.check(PRODUCER, EPOCH, 7, 1)).isEqualTo(Verdict.SEND_AGAIN);
        assertThat(read.check(PRODUCER, EPOCH, 7, 1)).isEqualTo(Verdict.APPEND_AFTER_LOSS);
    }

    @Test
    void shouldAcceptAnySequenceOfAnUnknownProducerWhenItsBatchComesTwice() {
        assertThat(dedup.check(PRODUCER, EPOCH, 1_234, 1)).isEqualTo(Verdict.SEND_AGAIN);
        assertThat(dedup.check(PRODUCER, EPOCH, 1_235, 1)).isEqualTo(Verdict.OUT_OF_ORDER);
        assertThat(dedup.check(PRODUCER, EPOCH, 1_234, 1)).isEqualTo(Verdict.APPEND);
    }

    @Test
    void shouldNotAcceptABatchOfAnUnknownProducerThatOvertookItsFirst() {
        // given a first batch that the last leader refused, and two behind it that reach this one earlier
        assertThat(dedup.check(PRODUCER, EPOCH, 3, 2)).isEqualTo(Verdict.SEND_AGAIN);
        assertThat(dedup.check(PRODUCER, EPOCH, 5, 1)).isEqualTo(Verdict.OUT_OF_ORDER);

        // when it comes
        assertThat(dedup.check(PRODUCER, EPOCH, 0, 3)).isEqualTo(Verdict.APPEND);
        replay(EPOCH, 0, 3, 0);

        // then they follow
        assertThat(dedup.check(PRODUCER, EPOCH, 5, 1)).isEqualTo(Verdict.OUT_OF_ORDER);
        assertThat(dedup.check(PRODUCER, EPOCH, 3, 2)).isEqualTo(Verdict.APPEND);
    }

    @Test
    void shouldAwaitTheOldestBatchOfAnUnknownProducerWhenALaterOneCameFirst() {
        assertThat(dedup.check(PRODUCER, EPOCH, 1_235, 1)).isEqualTo(Verdict.SEND_AGAIN);
        assertThat(dedup.check(PRODUCER, EPOCH, 1_234, 1)).isEqualTo(Verdict.SEND_AGAIN);
        assertThat(dedup.check(PRODUCER, EPOCH, 1_235, 1)).isEqualTo(Verdict.OUT_OF_ORDER);
        assertThat(dedup.check(PRODUCER, EPOCH, 1_234, 1)).isEqualTo(Verdict.APPEND);
    }

    @Test
    void shouldAcceptUnknownProducersAtOnceWhenManyAreAwaited() {
        for (int producer = 0; producer < ProducerDedup.MAX_AWAITED; producer++) {
            assertThat(dedup.check(producer, EPOCH, 7, 1)).isEqualTo(Verdict.SEND_AGAIN);
        }
        assertThat(dedup.check(ProducerDedup.MAX_AWAITED, EPOCH, 7, 1)).isEqualTo(Verdict.APPEND);
        // and those that did not come back are forgotten
        dedup.onTick(NOW_MS, 1_000);
        assertThat(dedup.check(ProducerDedup.MAX_AWAITED, EPOCH, 7, 1)).isEqualTo(Verdict.SEND_AGAIN);
    }

    @Test
    void shouldFenceAnOlderEpochAndBeginANewOneAtZero() {
        // given a producer that incremented its epoch
        replay((short) 3, 0, 1, 0);
        // then the old epoch is fenced, and a newer one begins with sequence 0
        assertThat(dedup.check(PRODUCER, (short) 2, 1, 1)).isEqualTo(Verdict.FENCED);
        assertThat(dedup.check(PRODUCER, (short) 4, 1, 1)).isEqualTo(Verdict.OUT_OF_ORDER);
        assertThat(dedup.check(PRODUCER, (short) 4, 0, 1)).isEqualTo(Verdict.APPEND);
    }

    @Test
    void shouldWrapSequencesBehindTheLargestInt() {
        // given a batch that crosses the largest int: its last sequences are 0 and 1
        replay(EPOCH, Integer.MAX_VALUE - 1, 4, 0);
        // then the next one begins at 2, and the same one is a duplicate
        assertThat(dedup.check(PRODUCER, EPOCH, 2, 1)).isEqualTo(Verdict.APPEND);
        assertThat(dedup.check(PRODUCER, EPOCH, Integer.MAX_VALUE - 1, 4)).isEqualTo(Verdict.DUPLICATE);
        // and a batch that ends exactly there is followed by 0
        replay(EPOCH, 2, Integer.MAX_VALUE - 1, 4);
        assertThat(dedup.check(PRODUCER, EPOCH, 0, 1)).isEqualTo(Verdict.APPEND);
    }

    @Test
    void shouldForgetASilentProducerOnly() {
        // given a silent producer and an active one
        dedup.replay(1, EPOCH, 0, 1, 0, NO_APPEND_TIME, 1_000);
        dedup.replay(2, EPOCH, 0, 1, 1, NO_APPEND_TIME, 1_000);
        dedup.replay(1, EPOCH, 1, 1, 2, NO_APPEND_TIME, 5_000);
        // when time passes
        dedup.onTick(6_000, 2_000);
        // then the silent one may continue with any sequence, the active one may not
        assertThat(dedup.producerCount()).isEqualTo(1);
        assertThat(dedup.check(2, EPOCH, 9, 1)).isEqualTo(Verdict.SEND_AGAIN);
        assertThat(dedup.check(2, EPOCH, 9, 1)).isEqualTo(Verdict.APPEND);
        assertThat(dedup.check(1, EPOCH, 9, 1)).isEqualTo(Verdict.OUT_OF_ORDER);
    }

    @Test
    void shouldStayBoundedWhenEveryBatchIsOfANewProducer() {
        for (long producer = 0; producer < ProducerDedup.MAX_PRODUCERS + 100; producer++) {
            dedup.replay(producer, EPOCH, 0, 1, producer, NO_APPEND_TIME, NOW_MS);
        }
        assertThat(dedup.producerCount()).isEqualTo(ProducerDedup.MAX_PRODUCERS);
    }

    @Test
    void shouldAcceptTheSameBatchAgainWhenTheJournalLostIt() {
        // given a batch that was staged but not written
        replay(EPOCH, 0, 1, 0);
        replay(EPOCH, 1, 1, 1);
        // when it is truncated
        dedup.truncateTo(1);
        // then it is neither a duplicate nor out of order
        assertThat(dedup.check(PRODUCER, EPOCH, 1, 1)).isEqualTo(Verdict.APPEND);
        assertThat(dedup.check(PRODUCER, EPOCH, 0, 1)).isEqualTo(Verdict.DUPLICATE);
    }

    @Test
    void shouldStillKnowWhatIsStoredWhenAsManyBatchesCannotBeWritten() {
        // given five stored batches whose acknowledgements were lost, and five more in flight behind them
        for (int i = 0; i < 2 * ProducerDedup.REMEMBERED_BATCHES; i++) {
            replay(EPOCH, i, 1, i);
        }
        // when the five more cannot be written
        dedup.truncateTo(ProducerDedup.REMEMBERED_BATCHES);
        // then the first of them may be sent again
        assertThat(dedup.check(PRODUCER, EPOCH, 0, 1)).isEqualTo(Verdict.DUPLICATE);
        assertThat(dedup.check(PRODUCER, EPOCH, ProducerDedup.REMEMBERED_BATCHES, 1))
                .isEqualTo(Verdict.APPEND);
    }

    @Test
    void shouldWaitForTheFirstLostBatchWhenTheJournalLostAllThatIsRemembered() {
        // given more batches than the ring holds, and all but the first three are truncated
        int batches = 2 * ProducerDedup.REMEMBERED_BATCHES + 3;
        for (int i = 0; i < batches; i++) {
            replay(EPOCH, i, 1, i);
        }
        dedup.truncateTo(3);
        // then the later batches in flight are not appended before they are sent again
        assertThat(dedup.check(PRODUCER, EPOCH, batches, 1)).isEqualTo(Verdict.OUT_OF_ORDER);
        assertThat(dedup.check(PRODUCER, EPOCH, 3, 1)).isEqualTo(Verdict.APPEND);
    }

    private static PartitionTransactions readFile(String snapshot) throws IOException {
        try (InputStream file = ProducerDedupTest.class.getResourceAsStream(snapshot)) {
            return ProducerSnapshot.decode(ByteBuffer.wrap(file.readAllBytes()));
        }
    }

    @Test
    void shouldKnowNoOlderBatchesFromASnapshotOfVersion3() throws IOException {
        // given a file written by version 3: a producer with seven batches of ten, and another one
        ProducerDedup producers = readFile("/snapshots/producers-v3.bin").producers();
        // then the five that it contains are known, and the next one is appended
        assertThat(producers.producerCount()).isEqualTo(2);
        assertThat(producers.check(7, (short) 3, 20, 10)).isEqualTo(Verdict.DUPLICATE);
        assertThat(producers.duplicateBaseOffset()).isEqualTo(120);
        assertThat(producers.check(7, (short) 3, 10, 10)).isEqualTo(Verdict.OUT_OF_ORDER);
        assertThat(producers.check(7, (short) 3, 70, 10)).isEqualTo(Verdict.APPEND);
        assertThat(producers.check(8, (short) 0, 0, 1)).isEqualTo(Verdict.DUPLICATE);
    }

    @Test
    void shouldReadASnapshotOfTheFirstVersion() throws IOException {
        // given a file written by version 1: a producer with a full ring, one with one batch, one with none
        // when
        PartitionTransactions read = readFile("/snapshots/producers-v1.bin");
        // then every producer continues where it was
        ProducerDedup producers = read.producers();
        assertThat(producers.producerCount()).isEqualTo(3);
        assertThat(producers.check(7, (short) 3, 30, 10)).isEqualTo(Verdict.DUPLICATE);
        assertThat(producers.duplicateBaseOffset()).isEqualTo(130);
        assertThat(producers.duplicateAppendTimeMs()).isEqualTo(5_003);
        assertThat(producers.check(7, (short) 3, 70, 1)).isEqualTo(Verdict.APPEND);
        assertThat(producers.check(7, (short) 2, 70, 1)).isEqualTo(Verdict.FENCED);
        assertThat(producers.check(8, (short) 0, 2, 1)).isEqualTo(Verdict.OUT_OF_ORDER);
        assertThat(producers.check(9, (short) 0, 0, 1)).isEqualTo(Verdict.APPEND);
        assertThat(read.openCount()).isZero();
        assertThat(read.firstUnstableOffset()).isEqualTo(PartitionTransactions.NONE);
    }

    @Test
    void shouldRejectASnapshotWhenAnyByteIsChanged() {
        replay(EPOCH, 0, 3, 0);
        ByteBuffer bytes = ProducerSnapshot.encode(new PartitionTransactions(dedup));
        assertThat(ProducerSnapshot.decode(bytes)).isNotNull();
        for (int i = 0; i < bytes.limit(); i++) {
            bytes.put(i, (byte) (bytes.get(i) ^ 1));
            assertThat(ProducerSnapshot.decode(bytes)).as("byte %d changed", i).isNull();
            bytes.put(i, (byte) (bytes.get(i) ^ 1));
        }
        for (int size = 0; size < bytes.limit(); size++) {
            assertThat(ProducerSnapshot.decode(bytes.duplicate().limit(size))).isNull();
        }
    }

    /**
     * Compares with a model that remembers everything: the verdicts must be equal, with restarts from a snapshot in
     * between.
     */
    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void shouldJudgeAsAModelThatRemembersEverything(long seed) {
        Random random = new Random(seed);
        ProducerDedup tested = new ProducerDedup();
        Map<Long, List<Batch>> modelById = new LinkedHashMap<>();
        long offset = 0;
        for (int step = 0; step < 20_000; step++) {
            long producer = random.nextInt(5);
            List<Batch> model = modelById.computeIfAbsent(producer, absent -> new ArrayList<>());
            Batch batch = nextBatch(random, model, offset);
            Verdict verdict = tested.check(producer, batch.epoch, batch.base, batch.count);
            if (model.isEmpty() && verdict == Verdict.SEND_AGAIN) {
                verdict = tested.check(producer, batch.epoch, batch.base, batch.count);
            }
            assertThat(verdict).as("seed %d step %d %s", seed, step, batch).isIn(expected(model, batch));
            if (verdict == Verdict.APPEND) {
                tested.replay(producer, batch.epoch, batch.base, batch.count, offset, NO_APPEND_TIME, step);
                model.add(batch);
                offset += batch.count;
            } else if (verdict == Verdict.DUPLICATE) {
                assertThat(tested.duplicateBaseOffset()).isEqualTo(model.get(model.size() - age(model, batch)).offset);
            } else if (verdict == Verdict.OLD_DUPLICATE) {
                Batch first = model.get(model.size() - age(model, batch));
                assertThat(tested.duplicateBaseOffset()).isBetween(first.offset + first.count, offset);
            }
            if (random.nextInt(500) == 0) {
                tested = ProducerSnapshot.decode(ProducerSnapshot.encode(new PartitionTransactions(tested)))
                        .producers();
            }
        }
    }

    private record Batch(short epoch, int base, int count, long offset) {
        int next() {
            return (int) (((long) base + count) & Integer.MAX_VALUE);
        }
    }

    /** Usually the next batch in sequence, otherwise a repeated batch, a gap, or another epoch. */
    private static Batch nextBatch(Random random, List<Batch> model, long offset) {
        int count = 1 + random.nextInt(50);
        if (model.isEmpty()) {
            return new Batch((short) 0, Integer.MAX_VALUE - random.nextInt(2_000), count, offset);
        }
        Batch last = model.get(model.size() - 1);
        return switch (random.nextInt(10)) {
            case 0 -> new Batch(last.epoch, last.next() ^ 1, count, offset);
            case 1 -> new Batch((short) (last.epoch + 1), random.nextInt(2), count, offset);
            case 2 -> new Batch((short) (last.epoch - 1), last.next(), count, offset);
            case 3, 4 -> model.get(Math.max(0, model.size() - 1 - random.nextInt(25)));
            default -> new Batch(last.epoch, last.next(), count, offset);
        };
    }

    /** The verdicts that are right: of batches that need not be remembered, the offset may be known or not. */
    private static Set<Verdict> expected(List<Batch> model, Batch batch) {
        if (model.isEmpty()) {
            return Set.of(Verdict.APPEND);
        }
        Batch last = model.get(model.size() - 1);
        if (batch.epoch != last.epoch) {
            if (batch.epoch < last.epoch) {
                return Set.of(Verdict.FENCED);
            }
            return Set.of(batch.base == 0 ? Verdict.APPEND : Verdict.OUT_OF_ORDER);
        }
        int age = age(model, batch);
        if (age > ProducerDedup.REMEMBERED_BATCHES) {
            return Set.of(Verdict.DUPLICATE, Verdict.OLD_DUPLICATE);
        }
        if (age > 0) {
            return Set.of(Verdict.DUPLICATE);
        }
        return Set.of(batch.base == last.next() ? Verdict.APPEND : Verdict.OUT_OF_ORDER);
    }

    /** 1 for the newest batch of the model, and so on; 0 if the batch is not one of its newest epoch. */
    private static int age(List<Batch> model, Batch batch) {
        for (int age = 1; age <= model.size(); age++) {
            Batch known = model.get(model.size() - age);
            if (known.epoch != batch.epoch) {
                return 0;
            }
            if (known.base == batch.base && known.count == batch.count) {
                return age;
            }
        }
        return 0;
    }

    private void replay(short epoch, int baseSequence, int count, long offset) {
        dedup.replay(PRODUCER, epoch, baseSequence, count, offset, NO_APPEND_TIME, NOW_MS);
    }

    @Test
    void shouldChargeEachProducerOnceAndGiveEverythingBackWhenThePartitionEnds() {
        // given two producers that existed before the partition had an account
        replay(EPOCH, 0, 1, 0);
        dedup.replay(PRODUCER + 1, EPOCH, 0, 1, 1, NO_APPEND_TIME, NOW_MS);
        ChargedBytes memory = new ChargedBytes();

        // when charging begins, a producer is added, one continues, and one is silent for too long
        dedup.begin(memory);
        assertThat(memory.bytes).isEqualTo(2L * ProducerDedup.PRODUCER_BYTES);
        dedup.replay(PRODUCER + 2, EPOCH, 0, 1, 2, NO_APPEND_TIME, NOW_MS + 100);
        dedup.replay(PRODUCER, EPOCH, 1, 1, 3, NO_APPEND_TIME, NOW_MS + 100);
        assertThat(memory.bytes).isEqualTo(3L * ProducerDedup.PRODUCER_BYTES);
        dedup.onTick(NOW_MS + 100, 50);
        assertThat(memory.bytes).isEqualTo(2L * ProducerDedup.PRODUCER_BYTES);

        // then nothing is charged once it ends, and nothing is charged afterwards
        dedup.end();
        dedup.replay(PRODUCER + 3, EPOCH, 0, 1, 4, NO_APPEND_TIME, NOW_MS);
        assertThat(memory.bytes).isZero();
    }

    @Test
    void shouldForgetTheProducerUnusedForLongestWhenThereIsNoMemoryForAnother() {
        ChargedBytes memory = new ChargedBytes();
        memory.maxBytes = 2L * ProducerDedup.PRODUCER_BYTES;
        dedup.begin(memory);

        for (long producer = 0; producer < 3; producer++) {
            dedup.replay(producer, EPOCH, 0, 1, producer, NO_APPEND_TIME, NOW_MS);
        }

        assertThat(dedup.newestBatchOffsets()).containsOnlyKeys(1L, 2L);
        assertThat(dedup.forgottenCount()).isEqualTo(1);
        assertThat(memory.bytes).isEqualTo(memory.maxBytes);
    }

    @Test
    void shouldChargeTheFirstBatchesOfUnknownProducers() {
        // given
        ChargedBytes memory = new ChargedBytes();
        dedup.begin(memory);
        long before = RetainedBytes.of(dedup);

        // when many send their first batches
        for (int i = 0; i < ProducerDedup.MAX_AWAITED; i++) {
            dedup.check(1_000_000L + i, EPOCH, 1_000 + i, 1);
        }
        RetainedBytes.assertEstimate("first batches", memory.bytes, RetainedBytes.of(dedup) - before);

        // and one of them sends it again, others do not come back, and one comes when there is no memory
        dedup.replay(1_000_000, EPOCH, 1_000, 1, 0, NO_APPEND_TIME, NOW_MS);
        assertThat(memory.bytes)
                .isEqualTo(
                        ProducerDedup.PRODUCER_BYTES + (ProducerDedup.MAX_AWAITED - 1L) * ProducerDedup.AWAITED_BYTES);
        dedup.onTick(NOW_MS, 1_000);
        assertThat(memory.bytes).isEqualTo(ProducerDedup.PRODUCER_BYTES);
        memory.maxBytes = memory.bytes;
        assertThat(dedup.check(2_000_000, EPOCH, 7, 1)).isEqualTo(Verdict.APPEND);

        // then nothing is charged when it ends
        memory.maxBytes = Long.MAX_VALUE;
        dedup.check(2_000_000, EPOCH, 7, 1);
        dedup.end();
        assertThat(memory.bytes).isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldEstimateProducers(boolean inTransactions) {
        ChargedBytes memory = new ChargedBytes();
        dedup.begin(memory);
        PartitionTransactions transactions = new PartitionTransactions(dedup);
        long before = RetainedBytes.of(transactions);
        for (int i = 0; i < 500; i++) {
            long producer = 1_000_000L + i;
            dedup.replay(producer, EPOCH, 0, 1, i, NO_APPEND_TIME, NOW_MS);
            if (inTransactions) {
                transactions.replayBatch(producer, i, NOW_MS);
            }
        }

        RetainedBytes.assertEstimate("producers", memory.bytes, RetainedBytes.of(transactions) - before);
    }
}
