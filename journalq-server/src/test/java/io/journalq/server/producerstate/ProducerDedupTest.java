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

    @Test
    void shouldRefuseABatchThatIsOlderThanWhatIsRemembered() {
        // given six batches; five of them are remembered
        for (int i = 0; i <= ProducerDedup.REMEMBERED_BATCHES; i++) {
            replay(EPOCH, i, 1, i);
        }
        // then the first is out of order, not a duplicate
        assertThat(dedup.check(PRODUCER, EPOCH, 0, 1)).isEqualTo(Verdict.OUT_OF_ORDER);
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
    void shouldAcceptAnySequenceWhenTheProducerIsUnknown() {
        assertThat(dedup.check(PRODUCER, EPOCH, 1_234, 1)).isEqualTo(Verdict.APPEND);
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

    @Test
    void shouldReadASnapshotOfTheFirstVersion() throws IOException {
        // given a file written by version 1: a producer with a full ring, one with one batch, one with none
        ByteBuffer bytes;
        try (InputStream file = getClass().getResourceAsStream("/snapshots/producers-v1.bin")) {
            bytes = ByteBuffer.wrap(file.readAllBytes());
        }
        // when
        PartitionTransactions read = ProducerSnapshot.decode(bytes);
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
            assertThat(verdict).as("seed %d step %d %s", seed, step, batch).isEqualTo(expected(model, batch));
            if (verdict == Verdict.APPEND) {
                tested.replay(producer, batch.epoch, batch.base, batch.count, offset, NO_APPEND_TIME, step);
                model.add(batch);
                offset += batch.count;
            } else if (verdict == Verdict.DUPLICATE) {
                assertThat(tested.duplicateBaseOffset()).isEqualTo(find(model, batch).offset);
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
            case 3, 4 -> model.get(Math.max(0, model.size() - 1 - random.nextInt(7)));
            default -> new Batch(last.epoch, last.next(), count, offset);
        };
    }

    private static Verdict expected(List<Batch> model, Batch batch) {
        if (model.isEmpty()) {
            return Verdict.APPEND;
        }
        Batch last = model.get(model.size() - 1);
        if (batch.epoch != last.epoch) {
            if (batch.epoch < last.epoch) {
                return Verdict.FENCED;
            }
            return batch.base == 0 ? Verdict.APPEND : Verdict.OUT_OF_ORDER;
        }
        if (find(model, batch) != null) {
            return Verdict.DUPLICATE;
        }
        return batch.base == last.next() ? Verdict.APPEND : Verdict.OUT_OF_ORDER;
    }

    private static Batch find(List<Batch> model, Batch batch) {
        int remembered = 0;
        for (int i = model.size() - 1; i >= 0 && remembered < ProducerDedup.REMEMBERED_BATCHES; i--) {
            Batch known = model.get(i);
            if (known.epoch != batch.epoch) {
                return null;
            }
            if (known.base == batch.base && known.count == batch.count) {
                return known;
            }
            remembered++;
        }
        return null;
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
