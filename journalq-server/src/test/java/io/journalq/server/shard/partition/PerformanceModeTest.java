package io.journalq.server.shard.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.journal.FaultyFileStore;
import io.journalq.server.journal.JournalConfig;
import io.journalq.server.journal.ShutdownMarker.LastEnd;
import io.journalq.server.journal.file.SystemFileStore;
import io.journalq.server.shard.append.DeliveryMode;
import io.journalq.server.shard.partition.SteppedPartition.Outcome;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Batches that are acknowledged from memory and written later: the guarantees for them. */
class PerformanceModeTest {
    private static final short EPOCH = 0;
    private static final int ALL = 1 << 20;

    @TempDir
    private Path directory;

    private FaultyFileStore store;
    private SteppedPartition partition;

    @BeforeEach
    void open() throws IOException {
        store = new FaultyFileStore(new SystemFileStore());
        partition = reopen();
    }

    private SteppedPartition reopen() throws IOException {
        return reopen(DeliveryMode.PERFORMANCE, LastEnd.CLEAN);
    }

    private SteppedPartition reopen(DeliveryMode mode, LastEnd lastEnd) throws IOException {
        return SteppedPartition.open(store, directory, JournalConfig.DEFAULT, mode, lastEnd);
    }

    @Test
    void shouldAcknowledgeFromMemoryAndShowWhatIsWritten() throws IOException {
        // when
        Outcome outcome = partition.append(1, EPOCH, 0, false, "a", "b");

        // then it is acknowledged, not in a file, and not visible
        assertThat(outcome.error()).isEqualTo(ErrorCode.NONE);
        assertThat(outcome.offset()).isZero();
        assertThat(partition.host().journal().writtenOffset()).isZero();
        assertThat(partition.host().log().highWatermark()).isZero();

        // and when the write interval has passed, it is visible
        partition.loop().fireTimers();
        assertThat(partition.host().journal().writtenOffset()).isEqualTo(2);
        assertThat(partition.readCommitted(0, ALL)).containsExactly("a", "b");
    }

    @Test
    void shouldWriteAtOnceWhenMoreIsUnwrittenThanMayBe() {
        // given
        String large = "x".repeat(SteppedPartition.MAX_UNWRITTEN_BYTES / 2);
        partition.append(1, EPOCH, 0, false, large);
        assertThat(partition.host().journal().writtenOffset()).isZero();

        // when
        partition.append(1, EPOCH, 1, false, large);

        // then
        assertThat(partition.host().journal().writtenOffset()).isEqualTo(2);
    }

    @Test
    void shouldLoseOnlyWhatWasNotWrittenWhenKilled() throws IOException {
        // given
        partition.append(1, EPOCH, 0, false, "written");
        partition.loop().fireTimers();
        partition.append(1, EPOCH, 1, false, "lost");

        // when it is killed
        SteppedPartition next = reopen();

        // then
        assertThat(next.readCommitted(0, ALL)).containsExactly("written");
        assertThat(next.host().log().highWatermark()).isEqualTo(1);

        // The memory of the killed partition is released, because nothing reads its files any more.
        partition.closeCleanly();
    }

    @Test
    void shouldLoseNothingWhenStoppedInOrder() throws IOException {
        // given
        partition.append(1, EPOCH, 0, false, "a");

        // when
        partition.closeCleanly();

        // then
        assertThat(reopen().readCommitted(0, ALL)).containsExactly("a");
    }

    @Test
    void shouldAcknowledgeARepeatedBatchAtItsFirstPlace() {
        // given
        partition.append(1, EPOCH, 0, false, "a");

        // when
        Outcome again = partition.append(1, EPOCH, 0, false, "a");

        // then
        assertThat(again.error()).isEqualTo(ErrorCode.NONE);
        assertThat(again.offset()).isZero();
        partition.loop().fireTimers();
        assertThat(partition.host().log().highWatermark()).isEqualTo(1);
    }

    @Test
    void shouldWriteWhatBelongsToATransactionBeforeItIsAcknowledged() throws IOException {
        // given a batch that is only in memory
        partition.append(1, EPOCH, 0, false, "a");

        // when
        Outcome staged = partition.stage(2, EPOCH, 0, true, "b");
        assertThat(staged.error()).isNull();
        partition.loop().run();
        partition.mark(2, EPOCH, true);

        // then all batches before it are written too
        assertThat(staged.error()).isEqualTo(ErrorCode.NONE);
        assertThat(reopen().readCommitted(0, ALL)).containsExactly("a", "b");
    }

    @Test
    void shouldKeepWhatItAcknowledgedUntilWritingWorksAgain() throws IOException {
        // given
        partition.append(1, EPOCH, 0, false, "written");
        partition.loop().fireTimers();
        partition.append(2, EPOCH, 0, false, "acknowledged 1", "acknowledged 2");
        store.setFull(true);
        partition.loop().fireTimers();

        // when more is sent while the disk is full
        Outcome refused = partition.append(3, EPOCH, 0, false, "refused");
        partition.loop().fireTimers();

        // then nothing more is acknowledged from memory, and no acknowledged batch is dropped
        assertThat(refused.error()).isEqualTo(ErrorCode.KAFKA_STORAGE_ERROR);
        assertThat(partition.host().log().highWatermark()).isEqualTo(1);

        // and when there is room again, all batches are written, and the next is acknowledged from memory
        store.setFull(false);
        partition.loop().fireTimers();
        assertThat(partition.readCommitted(0, ALL)).containsExactly("written", "acknowledged 1", "acknowledged 2");
        assertThat(partition.append(4, EPOCH, 0, false, "from memory").offset()).isEqualTo(3);
        assertThat(partition.host().log().highWatermark()).isEqualTo(3);
        partition.closeCleanly();
        assertThat(reopen().readCommitted(0, ALL))
                .isEqualTo(List.of("written", "acknowledged 1", "acknowledged 2", "from memory"));
    }

    @Test
    void shouldForgetWhatAProducerSentWhenItCannotBeWrittenBeforeTheStop() throws IOException {
        // given
        partition.append(1, EPOCH, 0, false, "written");
        partition.loop().fireTimers();
        partition.append(1, EPOCH, 1, false, "lost");
        store.setFull(true);

        // when
        partition.closeCleanly();
        store.setFull(false);
        partition = reopen();

        // then its producer may send it again
        assertThat(partition.host().log().highWatermark()).isEqualTo(1);
        assertThat(partition.append(1, EPOCH, 1, false, "again").offset()).isEqualTo(1);
        partition.loop().fireTimers();
        assertThat(partition.readCommitted(0, ALL)).containsExactly("written", "again");
    }

    @Test
    void shouldLetAProducerGoOnBehindItsLossWhenKilled() throws IOException {
        // given a producer that lost acknowledged batches
        partition.append(1, EPOCH, 0, false, "written");
        partition.loop().fireTimers();
        partition.append(1, EPOCH, 1, false, "lost");
        SteppedPartition next = reopen(DeliveryMode.PERFORMANCE, LastEnd.KILLED);

        // when it continues with two batches in flight, and sends rejected ones again
        Outcome first = next.append(1, EPOCH, 2, false, "c");
        Outcome second = next.append(1, EPOCH, 3, false, "d");
        assertThat(first.error()).isEqualTo(ErrorCode.NOT_LEADER_OR_FOLLOWER);
        assertThat(second.error()).isEqualTo(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER);
        Outcome firstAgain = next.append(1, EPOCH, 2, false, "c");
        Outcome secondAgain = next.append(1, EPOCH, 3, false, "d");

        // then it continues in order with its old epoch, and a gap is still rejected
        assertThat(firstAgain.error()).isEqualTo(ErrorCode.NONE);
        assertThat(secondAgain.error()).isEqualTo(ErrorCode.NONE);
        assertThat(next.append(1, EPOCH, 2, false, "c").offset()).isEqualTo(1);
        for (int i = 0; i < 3; i++) {
            assertThat(next.append(1, EPOCH, 6, false, "gap").error())
                    .isEqualTo(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER);
        }
        next.loop().fireTimers();
        assertThat(next.readCommitted(0, ALL)).containsExactly("written", "c", "d");
        partition.closeCleanly();
    }

    @Test
    void shouldStillKnowOfThePossibleLossWhenStoppedInOrderBeforeTheProducerCameBack() throws IOException {
        // given
        partition.append(1, EPOCH, 0, false, "written");
        partition.loop().fireTimers();
        partition.append(1, EPOCH, 1, false, "lost");
        reopen(DeliveryMode.PERFORMANCE, LastEnd.KILLED).closeCleanly();

        // when
        SteppedPartition next = reopen();
        next.append(1, EPOCH, 2, false, "c");

        // then
        assertThat(next.append(1, EPOCH, 2, false, "c").error()).isEqualTo(ErrorCode.NONE);
    }

    @ParameterizedTest(name = "{0}, {1}: {2}")
    @CsvSource({
        "PERFORMANCE, CLEAN, false", "PERFORMANCE, KILLED, true", "PERFORMANCE, SYSTEM_DOWN, true",
        "EVENTUAL, CLEAN, false", "EVENTUAL, KILLED, false", "EVENTUAL, SYSTEM_DOWN, true",
        "CONSISTENT, CLEAN, false", "CONSISTENT, KILLED, false", "CONSISTENT, SYSTEM_DOWN, false"
    })
    void shouldAcceptAGapOnlyWhenTheModeAllowsALoss(DeliveryMode mode, LastEnd lastEnd, boolean accepted)
            throws IOException {
        // given
        partition.append(1, EPOCH, 0, false, "a");
        partition.closeCleanly();
        SteppedPartition next = reopen(mode, lastEnd);

        // when a batch that leaves a gap is sent twice
        next.append(1, EPOCH, 2, false, "c");
        Outcome again = next.append(1, EPOCH, 2, false, "c");

        // then
        assertThat(again.error()).isEqualTo(accepted ? ErrorCode.NONE : ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER);
    }

    @Test
    void shouldKnowAnAbortThatCouldNotBeWrittenAtFirst() throws IOException {
        // given the end of a transaction, and behind it a batch that is acknowledged from memory
        partition.append(1, EPOCH, 0, true, "aborted");
        store.setFull(true);
        Outcome abort = partition.stageMarker(1, EPOCH, false);
        partition.append(2, EPOCH, 0, false, "acknowledged");
        assertThat(abort.error()).isNull();

        // when
        store.setFull(false);
        partition.loop().fireTimers();

        // then
        assertThat(abort.error()).isEqualTo(ErrorCode.NONE);
        assertThat(partition.readCommitted(0, ALL)).containsExactly("acknowledged");
    }
}
