package io.journalq.sim.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.JournalConfig;
import io.journalq.server.journal.file.LogFile;
import io.journalq.server.journal.segment.Segment;
import io.journalq.server.journal.transaction.AbortedTransaction;
import io.journalq.sim.disk.SimDisk.CrashKind;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Defects of journals that the simulator found, each with the fewest steps that show it. The numbers are those of the
 * seeds.
 */
class JournalPowerLossTest {
    private static final Path DATA = Path.of("data");
    private static final Path DIRECTORY = DATA.resolve("topic-0");
    private static final DiskFaults FULL = new DiskFaults(0, 0, 0, 0, 0, 0, 0, 0);
    private static final DiskFaults NO_SYNC = new DiskFaults(0, 0, 1, 0, 0, 0, 0, Long.MAX_VALUE);
    /** Every batch of these tests is larger than half of this. */
    private static final int ONE_BATCH_BYTES = 120;

    private final SimDisk disk = new SimDisk(new NothingUnsyncedIsLeft(), new NothingAround());
    private JournalConfig config = JournalConfig.DEFAULT;

    JournalPowerLossTest() throws IOException {
        disk.createDurableDirectories(DATA);
    }

    /** Makes a power loss take all data that were not fsynced. */
    private static final class NothingUnsyncedIsLeft extends Random {
        private static final long serialVersionUID = 1L;

        @Override
        protected int next(int bits) {
            return 0;
        }
    }

    private static final class NothingAround implements SimDisk.Surroundings {
        @Override
        public void onSync() {}

        @Override
        public void onSlow(long ms) {}

        @Override
        public void onFailedSync() {}

        @Override
        public void onCrash() {}

        @Override
        public String bootId() {
            return "boot";
        }
    }

    private Journal open() throws IOException {
        return Journal.open(disk, DIRECTORY, config, Runnable::run);
    }

    private Journal openAfter(CrashKind crash) throws IOException {
        disk.die();
        disk.restart(crash);
        disk.setFaults(DiskFaults.NONE);
        return open();
    }

    /** One batch of one record. */
    private static void append(Journal journal) throws IOException {
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, CompressionCodec.NONE)) {
            builder.append(1_000 + journal.endOffset(), null, new byte[20], List.of());
            ByteBuf batch = builder.build();
            journal.append(batch, 1);
            journal.write();
            batch.release();
        }
    }

    @Test // seed 1
    void shouldBeThereAfterPowerLossWhenItWasCreatedAndFlushed() throws IOException {
        // given
        Journal journal = open();
        append(journal);
        journal.flush();

        // when
        Journal found = openAfter(CrashKind.POWER_LOSS);

        // then
        assertThat(found.endOffset()).isEqualTo(1);
    }

    @Test // seed 1972
    void shouldKeepWhatARestartHasShownWhenPowerIsLostLater() throws IOException {
        // given
        append(open());
        assertThat(openAfter(CrashKind.KILL).endOffset()).isEqualTo(1);

        // when
        Journal found = openAfter(CrashKind.POWER_LOSS);

        // then
        assertThat(found.endOffset()).isEqualTo(1);
    }

    @Test // seed 1708
    void shouldWriteAgainWhatAFailedSyncMayHaveLostWhenRestarted() throws IOException {
        // given
        Journal journal = open();
        append(journal);
        disk.setFaults(NO_SYNC);
        assertThatThrownBy(journal::flush).isInstanceOf(IOException.class);
        assertThat(openAfter(CrashKind.KILL).flushedOffset()).isEqualTo(1);

        // when
        Journal found = openAfter(CrashKind.POWER_LOSS);

        // then
        assertThat(found.endOffset()).isEqualTo(1);
    }

    @Test // seed 1000104
    void shouldReadOnWhenSegmentsHoldNothingButDamage() throws IOException {
        // given two consecutive segments without a valid batch
        config = config.withSegmentSizeBytes(ONE_BATCH_BYTES).withWarmSizeBytes(0);
        Journal journal = open();
        for (int i = 0; i < 4; i++) {
            append(journal);
        }
        journal.flush();
        for (int damaged = 1; damaged <= 2; damaged++) {
            Path file = DIRECTORY.resolve(String.format("%020d.log", damaged));
            byte[] content = disk.read(file, ONE_BATCH_BYTES);
            disk.open(file, false).write(ByteBuffer.wrap(content, 30, 40), 0);
        }
        // Without the checkpoint, the start reads the segments.
        disk.delete(DIRECTORY.resolve("journal.checkpoint"));

        // when
        Journal found = openAfter(CrashKind.KILL);

        // then a reader that reaches the first of them gets what follows both
        ByteBuf served = found.read(1, 4, 1_000, true).load().readFully(UnpooledByteBufAllocator.DEFAULT);
        assertThat(served.readableBytes()).isPositive();
        assertThat(RecordBatch.baseOffset(served, 0)).isEqualTo(3);
    }

    @Test // seed 30007865
    void shouldKeepTheIndexOfAbortedTransactionsUntilTheirSegmentsAreGoneForGood() throws IOException {
        // given an aborted transaction in two segments that retention is to delete
        config = config.withSegmentSizeBytes(ONE_BATCH_BYTES)
                .withSegmentMaxAgeMs(1)
                .withRetention(1, JournalConfig.UNLIMITED);
        List<Runnable> background = new ArrayList<>();
        Journal journal = Journal.open(disk, DIRECTORY, config, background::add);
        AbortedTransaction aborted = new AbortedTransaction(7, 0, 1, 2);
        append(journal);
        append(journal);
        journal.derivedState().addAborted(aborted);
        append(journal);
        journal.flush();
        journal.derivedState().writeDurableSnapshot(3, ByteBuffer.allocate(1));
        background.clear();

        // when the state of the producers is saved after retention has chosen the segments, and before it has deleted
        // them
        assertThat(journal.applyRetention(1_000_000, 2)).isPositive();
        journal.derivedState().writeDurableSnapshot(3, ByteBuffer.allocate(2));
        Journal found = openAfter(CrashKind.POWER_LOSS);

        // then the segments are back with their aborted transactions
        assertThat(found.startOffset()).isZero();
        assertThat(found.derivedState().restoreSnapshot()).isNotNull();
        assertThat(found.derivedState().abortedTransactions().find(0, 3)).containsExactly(aborted);
    }

    @Test // seed 139
    void shouldGoOnBehindWhatRetentionDeletedWhenPowerIsLost() throws IOException {
        // given
        config = config.withSegmentMaxAgeMs(1).withRetention(1, JournalConfig.UNLIMITED);
        Journal journal = open();
        append(journal);
        journal.flush();
        assertThat(journal.applyRetention(1_000_000, 1)).isEqualTo(1);

        // when
        Journal found = openAfter(CrashKind.POWER_LOSS);

        // then
        assertThat(found.endOffset()).isEqualTo(1);
        assertThat(found.startOffset()).isEqualTo(1);
    }

    @Test // seed 139, on a full disk
    void shouldGoOnBehindWhatRetentionDeletedWhenTheCheckpointHasNoRoom() throws IOException {
        // given
        config = config.withSegmentMaxAgeMs(1).withRetention(1, JournalConfig.UNLIMITED);
        Journal journal = open();
        append(journal);
        journal.flush();
        disk.setFaults(FULL);
        journal.applyRetention(1_000_000, 1);

        // when
        Journal found = openAfter(CrashKind.POWER_LOSS);

        // then
        assertThat(found.endOffset()).isEqualTo(1);
    }

    @Test // seed 950005984
    void shouldGoOnBehindWhatRetentionDeletedWhenOnlyThoseBeforeItComeBack() throws IOException {
        // given
        config = config.withSegmentSizeBytes(ONE_BATCH_BYTES)
                .withSegmentMaxAgeMs(1)
                .withRetention(1, JournalConfig.UNLIMITED);
        Journal journal = open();
        append(journal);
        append(journal);
        journal.flush();
        Path first = Segment.logPath(DIRECTORY, 0);
        byte[] content = disk.read(first, 1_000);
        assertThat(journal.applyRetention(1_000_000, 2)).isEqualTo(2);

        // when the new name of the first segment did not reach the disk
        try (LogFile file = disk.open(first, true)) {
            file.write(ByteBuffer.wrap(content), 0);
            file.sync();
        }
        disk.syncDirectory(DIRECTORY);
        Journal again = openAfter(CrashKind.POWER_LOSS);

        // then
        assertThat(again.startOffset()).isEqualTo(2);
        assertThat(again.endOffset()).isEqualTo(2);
        assertThat(disk.list(DIRECTORY)).noneMatch(Segment::isLog);
        append(again);
        assertThat(again.endOffset()).isEqualTo(3);
    }

    @Test
    void shouldBeTheOldLogOrTheEmptyOneWhenPowerIsLostAtAnyStepOfAReset() throws IOException {
        boolean crashed = true;
        for (int changes = 1; crashed; changes++) {
            // given
            disk.delete(DIRECTORY);
            config = config.withSegmentSizeBytes(ONE_BATCH_BYTES);
            Journal journal = open();
            for (int i = 0; i < 3; i++) {
                append(journal);
            }
            journal.checkpoint();

            // when
            crashed = false;
            disk.crashAfter(changes);
            try {
                journal.resetTo(100);
            } catch (IOException | SimDisk.Crash powerLoss) {
                crashed = true;
            }
            Journal found = openAfter(CrashKind.POWER_LOSS);

            // then
            assertThat(List.of(found.startOffset(), found.endOffset())).isIn(List.of(0L, 3L), List.of(100L, 100L));
            assertThat(crashed || found.startOffset() == 100).isTrue();
            long end = found.endOffset();
            append(found);
            found.flush();
            assertThat(openAfter(CrashKind.POWER_LOSS).endOffset()).isEqualTo(end + 1);
        }
    }

    @Test // seed 2
    void shouldNotShowDeletedRecordsAgainWhenALaterCheckpointIsLost() throws IOException {
        // given
        config = config.withCheckpointIntervalBytes(1);
        Journal journal = open();
        append(journal);
        append(journal);
        journal.deleteRecordsBefore(1);
        journal.checkpoint();
        append(journal);
        journal.flush();
        disk.syncDirectory(DIRECTORY);

        // when
        Journal found = openAfter(CrashKind.POWER_LOSS);

        // then
        assertThat(found.startOffset()).isEqualTo(1);
        assertThat(found.endOffset()).isEqualTo(3);
    }

    @Test // by reading
    void shouldForgetASnapshotWhenTheLogNoLongerReachesIt() throws IOException {
        // given
        Journal journal = open();
        append(journal);
        journal.flush();
        append(journal);
        journal.derivedState().writeDurableSnapshot(2, ByteBuffer.allocate(1));
        Journal cut = openAfter(CrashKind.POWER_LOSS);
        assertThat(cut.endOffset()).isEqualTo(1);

        // when the log grows past it with other records
        append(cut);
        append(cut);
        cut.flush();
        Journal found = openAfter(CrashKind.POWER_LOSS);

        // then
        assertThat(found.endOffset()).isEqualTo(3);
        assertThat(found.derivedState().restoreSnapshot()).isNull();
    }

    @Test // by reading
    void shouldNotServeABatchWhenABitOfItFlippedLongAfterItWasSynced() throws IOException {
        // given
        config = config.withWarmSizeBytes(0);
        Journal journal = open();
        append(journal);
        append(journal);
        journal.close();
        Path log = DIRECTORY.resolve(String.format("%020d.log", 0));
        byte[] content = disk.read(log, 1_000);
        content[content.length - 5] ^= 1;
        disk.open(log, false).write(ByteBuffer.wrap(content), 0);

        // when
        ByteBuf served = open().read(0, 2, 1_000, true).readFully(UnpooledByteBufAllocator.DEFAULT);

        // then the healthy one is served
        assertThat(served.readableBytes()).isEqualTo(content.length / 2);
    }
}
