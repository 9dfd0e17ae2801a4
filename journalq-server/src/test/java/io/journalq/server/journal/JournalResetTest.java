package io.journalq.server.journal;

import static io.journalq.server.journal.TestJournals.append;
import static io.journalq.server.journal.TestJournals.readAll;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.journal.read.JournalSlice;
import io.journalq.server.journal.segment.Segment;
import io.journalq.server.journal.transaction.AbortedTransaction;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A follower's log that lies wholly before its leader's start is replaced by an empty one. */
class JournalResetTest {
    private static final Path DATA = Path.of("data");
    private static final Path DIRECTORY = DATA.resolve("topic-0");
    private static final JournalConfig SMALL =
            JournalConfig.DEFAULT.withSegmentSizeBytes(500).withIndexIntervalBytes(100);
    private static final long END = 12;
    private static final long START = 1_000;

    private final MemoryFileStore files = new MemoryFileStore();

    private static Journal open(FileStore store) throws IOException {
        return Journal.open(store, DIRECTORY, SMALL, Runnable::run);
    }

    /** Several segments, the newest not synced, with snapshots and an aborted transaction. */
    private static Journal filled(FileStore store) throws IOException {
        Journal journal = open(store);
        journal.beginEpoch(1);
        append(journal, 5, 2, 100);
        journal.derivedState().addAborted(new AbortedTransaction(7, 1, 3, 1));
        journal.derivedState().writeDurableSnapshot(journal.writtenOffset(), ByteBuffer.allocate(1));
        journal.flush();
        append(journal, 1, 2, 100);
        journal.derivedState().writeSnapshot(journal.writtenOffset(), ByteBuffer.allocate(1));
        journal.setHighWatermark(4);
        assertThat(journal.segmentCount()).isGreaterThan(2);
        assertThat(journal.writtenOffset()).isEqualTo(END);
        return journal;
    }

    private static void checkReset(Journal journal) throws IOException {
        assertThat(journal.startOffset()).isEqualTo(START);
        assertThat(journal.endOffset()).isEqualTo(START);
        assertThat(journal.writtenOffset()).isEqualTo(START);
        assertThat(journal.flushedOffset()).isEqualTo(START);
        assertThat(journal.highWatermark()).isEqualTo(START);
        assertThat(journal.sizeBytes()).isZero();
        assertThat(journal.segmentCount()).isEqualTo(1);
        assertThat(journal.epochs().count()).isZero();
        assertThat(journal.derivedState().restoreSnapshot()).isNull();
        assertThat(journal.derivedState().abortedTransactions().find(0, Long.MAX_VALUE))
                .isEmpty();
    }

    @Test
    void shouldBeEmptyAndBeginAtTheOffsetWhenReset() throws IOException {
        // given
        Journal journal = filled(files);

        // when
        journal.resetTo(START);

        // then now, after a kill, and after a clean stop
        checkReset(journal);
        checkReset(open(files));
        Journal stopped = open(files);
        stopped.close();
        checkReset(open(files));
        assertThat(files.list(DIRECTORY)).noneMatch(Segment::isLog);
    }

    @Test
    void shouldContinueAtTheOffsetWhenReset() throws IOException {
        // given
        Journal journal = filled(files);
        journal.resetTo(START);

        // when
        append(journal, 8, 2, 100);
        journal.flush();

        // then
        for (int life = 0; life < 2; life++) {
            assertThat(readAll(journal, START)).hasSize(8).startsWith(START);
            assertThat(journal.epochs().startOffsets()).containsExactly(START);
            journal = open(files);
            assertThat(journal.startOffset()).isEqualTo(START);
        }
    }

    @Test
    void shouldLetASliceBeReadToItsEndWhenResetMeanwhile() throws IOException {
        // given
        Journal journal = filled(files);
        JournalSlice slice = journal.read(0, END, 1_000, true);

        // when
        journal.resetTo(START);

        // then
        ByteBuf bytes = slice.readFully(UnpooledByteBufAllocator.DEFAULT);
        assertThat(bytes.isReadable()).isTrue();
        bytes.release();
    }

    @Test
    void shouldBeTheOldLogOrTheEmptyOneWhenKilledAtAnyStep() throws IOException {
        int old = 0;
        int empty = 0;
        boolean killed = true;
        for (int changes = 0; killed; changes++) {
            // given
            files.delete(DATA);
            CrashingFileStore crashing = new CrashingFileStore(files);
            Journal journal = filled(crashing);

            // when
            crashing.crashAfter(changes);
            try {
                journal.resetTo(START);
            } catch (IOException expected) {
                assertThat(crashing.hasCrashed()).isTrue();
            }
            killed = crashing.hasCrashed();

            // then
            Journal found = open(files);
            if (found.startOffset() == 0) {
                assertThat(readAll(found, 0)).hasSize(6);
                assertThat(found.writtenOffset()).isEqualTo(END);
                found.resetTo(START);
                old++;
            } else {
                empty++;
            }
            checkReset(found);
            append(found, 3, 2, 100);
            assertThat(readAll(open(files), START)).hasSize(3);
            assertThat(files.list(DIRECTORY))
                    .filteredOn(Segment::isLog)
                    .noneMatch(name -> name.compareTo("00000000000000001000") < 0);
        }
        assertThat(old).isPositive();
        assertThat(empty).isGreaterThan(1);
    }

    @Test
    void shouldBeResetAgainWhenTheLeaderIsStillAhead() throws IOException {
        Journal journal = filled(files);
        journal.resetTo(START - 500);

        journal.resetTo(START);

        checkReset(journal);
        checkReset(open(files));
    }

    @Test
    void shouldKeepTheLogWhenTheCheckpointCannotBeWritten() throws IOException {
        // given
        Journal journal = filled(files);
        journal.close();
        CrashingFileStore crashing = new CrashingFileStore(files);
        Journal again = open(crashing);
        List<Long> before = readAll(again, 0);

        // when
        crashing.crashAfter(0);
        assertThatThrownBy(() -> again.resetTo(START)).isInstanceOf(IOException.class);

        // then
        assertThat(again.writtenOffset()).isEqualTo(END);
        assertThat(readAll(open(files), 0)).isEqualTo(before);
    }

    @Test
    void shouldRefuseAnOffsetWithinTheLog() throws IOException {
        Journal journal = filled(files);

        assertThatThrownBy(() -> journal.resetTo(END)).isInstanceOf(IllegalStateException.class);
        assertThat(readAll(journal, 0)).hasSize(6);
    }
}
