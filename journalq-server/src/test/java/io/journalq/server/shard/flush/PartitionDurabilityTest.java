package io.journalq.server.shard.flush;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.journal.FaultyFileStore;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.WalReplay;
import io.journalq.server.journal.file.SyncNotBegunException;
import io.journalq.server.journal.file.SystemFileStore;
import io.journalq.server.journal.segment.Segment;
import io.journalq.server.journal.wal.WriteAheadLog;
import io.journalq.server.journal.wal.WriteAheadScan;
import io.journalq.server.shard.append.DeliveryMode;
import io.journalq.server.shard.partition.SteppedPartition;
import io.journalq.server.shard.partition.SteppedPartition.Outcome;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which operations wait for which in mode consistent, and what happens when a topic enters or leaves that mode. */
class PartitionDurabilityTest {
    private static final short EPOCH = 0;
    private static final int ALL = 1 << 20;
    private static final int WRITE_AHEAD_BYTES = 1 << 20;

    @TempDir
    private Path directory;

    private FaultyFileStore store;
    private SteppedPartition partition;
    private int sequence;

    /** Work on the write-ahead files, which runs when the test says so. */
    private final ArrayDeque<Runnable> committing = new ArrayDeque<>();

    @BeforeEach
    void open() throws IOException {
        store = new FaultyFileStore(new SystemFileStore());
        partition = SteppedPartition.openCovered(store, directory, WRITE_AHEAD_BYTES, committing::add);
        // Synced directly: one starts a segment, the other causes the first file to be created.
        append("first");
        append("second");
        assertThat(partition.host().journal().flushedOffset()).isEqualTo(2);
    }

    private void append(String value) {
        Outcome outcome = partition.append(1, EPOCH, sequence++, false, value);
        commit();
        assertThat(outcome.error()).isEqualTo(ErrorCode.NONE);
    }

    private void commit() {
        for (Runnable next = committing.poll(); next != null; next = committing.poll()) {
            next.run();
            partition.loop().run();
        }
    }

    private long recordsInWriteAheadFiles() throws IOException {
        return WriteAheadScan.count(new SystemFileStore(), directory);
    }

    @Test
    void shouldNotBringBackWhatWasTruncatedWhenItIsCovered() throws IOException {
        // given
        append("third");
        append("truncated");
        Journal journal = partition.host().journal();

        // when
        journal.truncateTo(3);

        // then nothing behind the new end counts as durable
        assertThat(partition.durability().durableOffset()).isEqualTo(3);
        assertThat(recordsInWriteAheadFiles()).isEqualTo(3);
        byte[] log = Files.readAllBytes(Segment.logPath(SteppedPartition.directory(directory), 0));
        assertThat(WalReplay.run(store, directory)).isZero();
        assertThat(Segment.logPath(SteppedPartition.directory(directory), 0)).hasBinaryContent(log);
    }

    @Test
    void shouldNotTruncateWhileWritesAreOnTheirWayIntoWriteAheadFiles() {
        // given
        Outcome outcome = partition.append(1, EPOCH, sequence++, false, "third");
        Journal journal = partition.host().journal();

        // when, then
        assertThatThrownBy(() -> journal.truncateTo(2)).hasMessageContaining("on their way");
        assertThat(journal.endOffset()).isEqualTo(3);
        commit();
        assertThat(outcome.error()).isEqualTo(ErrorCode.NONE);
    }

    @Test
    void shouldLetAClosedPartitionBeCutWhenItsWritesAreInTheWriteAheadFiles() throws IOException {
        // given a write on its way when the partition leaves its shard
        append("third");
        partition.append(1, EPOCH, sequence++, false, "removed");
        boolean[] cuttable = new boolean[1];
        partition.host().close();

        // when
        partition.host().replication().whenCuttable(() -> cuttable[0] = true);
        partition.loop().run();
        assertThat(cuttable[0]).isFalse();
        commit();

        // then it can be cut, and a start does not bring the record back
        assertThat(cuttable[0]).isTrue();
        assertThat(partition.host().replication().cutJournal(3)).isTrue();
        byte[] log = Files.readAllBytes(Segment.logPath(SteppedPartition.directory(directory), 0));
        assertThat(WalReplay.run(store, directory)).isZero();
        assertThat(Segment.logPath(SteppedPartition.directory(directory), 0)).hasBinaryContent(log);
        assertThat(partition.host().journal().endOffset()).isEqualTo(3);
    }

    @Test
    void shouldAcknowledgeWithoutAFlushOfTheJournalWhenItIsCovered() throws IOException {
        // when
        append("covered");

        // then
        assertThat(partition.host().journal().flushedOffset()).isEqualTo(2);
        assertThat(partition.host().log().highWatermark()).isEqualTo(3);
        assertThat(recordsInWriteAheadFiles()).isEqualTo(1);
        assertThat(partition.readCommitted(0, ALL)).containsExactly("first", "second", "covered");
    }

    @Test
    void shouldFlushTheJournalWhenTheTopicLeavesTheMode() throws IOException {
        // given
        append("covered");

        // when
        partition.setMode(DeliveryMode.EVENTUAL);

        // then
        assertThat(partition.host().journal().flushedOffset()).isEqualTo(3);
        append("eventual");
        assertThat(partition.host().journal().flushedOffset()).isEqualTo(3);
        assertThat(recordsInWriteAheadFiles()).isEqualTo(1);
    }

    @Test
    void shouldFlushWhatIsNotCoveredWhenTheTopicComesBackIntoTheMode() throws IOException {
        // given
        append("covered");
        partition.setMode(DeliveryMode.EVENTUAL);
        append("eventual");

        // when
        partition.setMode(DeliveryMode.CONSISTENT);
        append("again");

        // then it is not sufficient that the last one is in a write-ahead file
        assertThat(recordsInWriteAheadFiles()).isEqualTo(2);
        assertThat(partition.host().journal().flushedOffset()).isEqualTo(5);
        append("covered");
        assertThat(partition.host().journal().flushedOffset()).isEqualTo(5);
        assertThat(partition.host().log().highWatermark()).isEqualTo(6);
    }

    @Test
    void shouldAcknowledgeNothingBeforeTheCommit() {
        // when
        Outcome outcome = partition.append(1, EPOCH, sequence++, false, "waits");

        // then
        assertThat(outcome.error()).isNull();
        assertThat(partition.host().log().highWatermark()).isEqualTo(2);
        commit();
        assertThat(outcome.error()).isEqualTo(ErrorCode.NONE);
        assertThat(partition.host().log().highWatermark()).isEqualTo(3);
    }

    @Test
    void shouldAcknowledgeARepeatedBatchAtOnceWhenItIsDurable() {
        // given
        append("covered");

        // when only that one is sent again
        Outcome again = partition.append(1, EPOCH, sequence - 1, false, "covered");

        // then no timer, flush or commit is needed
        assertThat(again.error()).isEqualTo(ErrorCode.NONE);
        assertThat(again.offset()).isEqualTo(2);
        assertThat(committing).isEmpty();
    }

    @Test
    void shouldAcknowledgeARepeatedBatchAtOnceWhenABrokerIsStartedAgain() throws IOException {
        // given a batch that was written when the broker was killed
        partition.append(1, EPOCH, sequence++, false, "not acknowledged");
        partition = SteppedPartition.openCovered(store, directory, WRITE_AHEAD_BYTES, committing::add);

        // when its producer sends it again
        Outcome again = partition.append(1, EPOCH, sequence - 1, false, "not acknowledged");

        // then
        assertThat(again.error()).isEqualTo(ErrorCode.NONE);
        assertThat(again.offset()).isEqualTo(2);
    }

    @Test
    void shouldNotAcknowledgeARepeatedBatchBeforeTheFirstIsDurable() {
        // given
        Outcome first = partition.append(1, EPOCH, sequence++, false, "waits");

        // when
        Outcome again = partition.append(1, EPOCH, sequence - 1, false, "waits");

        // then
        assertThat(again.error()).isNull();
        commit();
        assertThat(first.error()).isEqualTo(ErrorCode.NONE);
        assertThat(again.error()).isEqualTo(ErrorCode.NONE);
    }

    @Test
    void shouldCompleteWaitersWhenTheCommitIsSynced() {
        // given
        partition.append(1, EPOCH, sequence++, false, "waits");
        List<ErrorCode> told = new ArrayList<>();
        partition.host().flush(told::add);
        partition.loop().run();
        assertThat(told).isEmpty();

        // when
        commit();

        // then
        assertThat(told).containsExactly(ErrorCode.NONE);
        assertThat(partition.host().journal().flushedOffset()).isEqualTo(2);
        partition.host().flush(told::add);
        assertThat(told).containsExactly(ErrorCode.NONE, ErrorCode.NONE);
    }

    @Test
    void shouldCompleteWaitersAfterAFlushWhenTheCommitCannotBeWritten() {
        // given
        partition.append(1, EPOCH, sequence++, false, "waits");
        List<ErrorCode> told = new ArrayList<>();
        partition.host().flush(told::add);

        // when
        store.setFull(true);
        commit();
        store.setFull(false);

        // then
        assertThat(told).containsExactly(ErrorCode.NONE);
        assertThat(partition.host().journal().flushedOffset()).isEqualTo(3);
    }

    @Test
    void shouldFailWaitersWhenTheCommitFails() {
        // given
        partition.append(1, EPOCH, sequence++, false, "waits");
        List<ErrorCode> told = new ArrayList<>();
        partition.host().flush(told::add);

        // when
        store.setSyncFails(true);
        commit();
        store.setSyncFails(false);

        // then
        assertThat(told).containsExactly(ErrorCode.KAFKA_STORAGE_ERROR);
    }

    @Test
    void shouldBringBackWhatTookThePlaceOfAFailedWrite() throws IOException {
        // given a write that leaves bytes behind, which a flush removes
        append("covered");
        store.setWritableBytes(50);
        Outcome failed = partition.append(1, EPOCH, sequence, false, "failed");
        store.setFull(false);
        partition.loop().run();
        assertThat(failed.error()).isEqualTo(ErrorCode.KAFKA_STORAGE_ERROR);
        Path log = Segment.logPath(SteppedPartition.directory(directory), 0);
        long flushedBytes = Files.size(log);
        assertThat(flushedBytes).isEqualTo(partition.host().journal().sizeBytes());

        // when
        append("in its place");
        try (FileChannel channel = FileChannel.open(log, StandardOpenOption.WRITE)) {
            channel.truncate(flushedBytes);
        }
        WalReplay.run(store, directory);

        // then
        SteppedPartition again = SteppedPartition.openCovered(store, directory, WRITE_AHEAD_BYTES, committing::add);
        assertThat(again.readCommitted(0, ALL)).containsExactly("first", "second", "covered", "in its place");
    }

    @Test
    void shouldKeepWaitingForTheCommitWhenAFlushThatNobodyWaitsForCannotBegin() {
        // given
        Outcome outcome = partition.append(1, EPOCH, sequence++, false, "waits");

        // when
        partition
                .durability()
                .onFlushFailure(new SyncNotBegunException(directory, new IOException("Too many open files")));

        // then
        assertThat(outcome.error()).isNull();
        commit();
        assertThat(outcome.error()).isEqualTo(ErrorCode.NONE);
    }

    @Test
    void shouldTryAFlushAgainSoonWhenItCouldNotBegin() {
        // given data that would wait for much longer
        append("covered");
        partition.loop().advance(1_000);
        partition.loop().fireTimers();
        assertThat(partition.host().journal().flushedOffset()).isEqualTo(2);

        // when
        partition
                .durability()
                .onFlushFailure(new SyncNotBegunException(directory, new IOException("Too many open files")));
        partition.loop().advance(1_000);
        partition.loop().fireTimers();

        // then
        assertThat(partition.host().journal().flushedOffset()).isEqualTo(3);
    }

    @Test
    void shouldFailWaitersAndLaterAppendsWhenTheCommitFails() {
        // given
        Outcome outcome = partition.append(1, EPOCH, sequence++, false, "waits");

        // when
        store.setSyncFails(true);
        commit();
        store.setSyncFails(false);

        // then
        assertThat(outcome.error()).isEqualTo(ErrorCode.KAFKA_STORAGE_ERROR);
        assertThat(partition.append(1, EPOCH, sequence, false, "later").error())
                .isEqualTo(ErrorCode.KAFKA_STORAGE_ERROR);
        assertThat(partition.host().log().highWatermark()).isEqualTo(2);
    }

    @Test
    void shouldFailWaitersWhenABackgroundFlushFailed() {
        // given
        Outcome outcome = partition.append(1, EPOCH, sequence++, false, "waits");
        store.setSyncFails(true);
        assertThatThrownBy(partition.host().journal()::flush).isInstanceOf(IOException.class);
        store.setSyncFails(false);

        // when
        commit();

        // then
        assertThat(outcome.error()).isEqualTo(ErrorCode.KAFKA_STORAGE_ERROR);
        assertThat(partition.host().log().highWatermark()).isEqualTo(2);
    }

    @Test
    void shouldFlushTheJournalWhenTheWriteAheadFileCannotBeWritten() throws IOException {
        // given
        Outcome outcome = partition.append(1, EPOCH, sequence++, false, "waits");

        // when
        store.setFull(true);
        commit();
        store.setFull(false);

        // then
        assertThat(outcome.error()).isEqualTo(ErrorCode.NONE);
        assertThat(partition.host().journal().flushedOffset()).isEqualTo(3);
        assertThat(recordsInWriteAheadFiles()).isZero();
    }

    @Test
    void shouldComeBackFromTheWriteAheadFileWhenTheBrokerStartsAgain() throws IOException {
        // given
        append("covered");
        append("covered, too");

        // when
        long redone = WalReplay.run(store, directory);
        SteppedPartition again = SteppedPartition.openCovered(store, directory, WRITE_AHEAD_BYTES, committing::add);

        // then
        assertThat(redone).isEqualTo(2);
        assertThat(again.readCommitted(0, ALL)).containsExactly("first", "second", "covered", "covered, too");
    }

    @Test
    void shouldNeedNoFileForATopicThatLeftTheModeWhenItIsDeleted() {
        // given a journal that cannot be flushed any more
        append("covered");
        store.setSyncFails(true);
        partition.setMode(DeliveryMode.EVENTUAL);
        store.setSyncFails(false);
        assertThat(partition.host().journal().isFenced()).isTrue();

        // when
        partition.host().close();
        partition.host().deleteJournal();
        partition.closeWriteAheadFiles();

        // then
        assertThat(directory.resolve(WriteAheadLog.DIRECTORY_NAME)).isEmptyDirectory();
    }

    @Test
    void shouldKeepTheFilesWhenAJournalCouldNotBeFlushedBeforeTheBrokerStops() throws IOException {
        // given
        append("covered");
        store.setSyncFails(true);
        partition.setMode(DeliveryMode.EVENTUAL);

        // when
        partition.closeCleanly();
        store.setSyncFails(false);
        partition.closeWriteAheadFiles();

        // then
        assertThat(recordsInWriteAheadFiles()).isEqualTo(1);
    }
}
