package io.journalq.server.shard.flush;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.journal.FaultyFileStore;
import io.journalq.server.journal.JournalConfig;
import io.journalq.server.journal.file.SystemFileStore;
import io.journalq.server.shard.append.DeliveryMode;
import io.journalq.server.shard.partition.SteppedPartition;
import io.journalq.server.shard.partition.SteppedPartition.Outcome;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Flushes in the background, and the failures that they tolerate. */
class FlusherTest {
    private static final short EPOCH = 0;

    @TempDir
    private Path directory;

    private final ArrayDeque<Runnable> flushing = new ArrayDeque<>();
    private boolean poolIsFull;
    private FaultyFileStore store;

    @BeforeEach
    void prepare() {
        store = new FaultyFileStore(new SystemFileStore());
    }

    private SteppedPartition open(DeliveryMode mode) throws IOException {
        return SteppedPartition.open(store, directory, JournalConfig.DEFAULT, mode, this::execute);
    }

    private void execute(Runnable work) {
        if (poolIsFull) {
            throw new RejectedExecutionException("full");
        }
        flushing.add(work);
    }

    /** Lets the partition's flush interval pass, and runs all work of the pool and the loop. */
    private void passInterval(SteppedPartition partition) {
        partition.loop().advance(100);
        partition.loop().fireTimers();
        runPool(partition);
    }

    private void runPool(SteppedPartition partition) {
        while (!flushing.isEmpty()) {
            try {
                flushing.remove().run();
            } catch (RuntimeException ofAThread) {
                // A pool continues with its next work.
                assertThat(ofAThread).hasMessage("defect");
            }
            partition.loop().run();
        }
    }

    @Test
    void shouldFlushAgainWhenARoundEndedInAnUncheckedException() throws IOException {
        // given
        SteppedPartition partition = open(DeliveryMode.EVENTUAL);
        partition.append(1, EPOCH, 0, false, "a");
        store.setSyncDefect(new IllegalStateException("defect"));
        passInterval(partition);
        assertThat(partition.host().journal().flushedOffset()).isZero();

        // when
        passInterval(partition);

        // then
        assertThat(partition.host().journal().flushedOffset()).isEqualTo(1);
    }

    @Test
    void shouldFailWaitersAndServeTheNextWhenARoundThrowsAnUncheckedException() throws IOException {
        // given
        SteppedPartition partition = open(DeliveryMode.CONSISTENT);
        store.setSyncDefect(new IllegalStateException("defect"));

        // when
        Outcome first = partition.append(1, EPOCH, 0, false, "a");
        runPool(partition);
        Outcome second = partition.append(1, EPOCH, 1, false, "b");
        runPool(partition);

        // then
        assertThat(first.error()).isEqualTo(ErrorCode.KAFKA_STORAGE_ERROR);
        assertThat(second.error()).isEqualTo(ErrorCode.NONE);
    }

    @Test
    void shouldFlushAgainWhenThePoolHadNoRoomForARound() throws IOException {
        // given
        SteppedPartition partition = open(DeliveryMode.EVENTUAL);
        partition.append(1, EPOCH, 0, false, "a");
        poolIsFull = true;
        try {
            passInterval(partition);
        } catch (RejectedExecutionException ofALoop) {
            // A loop continues with its next task.
            assertThat(ofALoop).hasMessage("full");
        }

        // when
        poolIsFull = false;
        passInterval(partition);

        // then
        assertThat(partition.host().journal().flushedOffset()).isEqualTo(1);
    }

    @Test
    void shouldSyncTheDirectoryAgainWhenItsSyncEndedInAnUncheckedException() throws IOException {
        // given
        SteppedPartition partition = open(DeliveryMode.EVENTUAL);
        partition.append(1, EPOCH, 0, false, "a");
        store.setDirectorySyncDefect(new IllegalStateException("defect"));
        passInterval(partition);
        int before = store.directorySyncs();

        // when
        passInterval(partition);

        // then
        assertThat(partition.host().journal().flushedOffset()).isEqualTo(1);
        assertThat(store.directorySyncs()).isGreaterThan(before);
    }

    @Test
    void shouldTellTheAgeOfTheOldestUnsyncedRecordUntilItIsSynced() throws IOException {
        // given
        SteppedPartition partition = open(DeliveryMode.EVENTUAL);
        assertThat(partition.flusher().oldestUnsyncedAgeNanos()).isZero();

        // when
        partition.append(1, EPOCH, 0, false, "a");
        partition.loop().advance(2_000);
        partition.append(1, EPOCH, 1, false, "b");
        partition.loop().advance(1_000);

        // then
        assertThat(partition.flusher().oldestUnsyncedAgeNanos()).isEqualTo(TimeUnit.SECONDS.toNanos(3));
        passInterval(partition);
        assertThat(partition.flusher().oldestUnsyncedAgeNanos()).isZero();
    }

    @Test
    void shouldTellTheAgeOfWhatWasWrittenSinceTheLastFlush() throws IOException {
        // given
        SteppedPartition partition = open(DeliveryMode.EVENTUAL);
        partition.append(1, EPOCH, 0, false, "a");
        partition.loop().advance(2_000);
        passInterval(partition);

        // when
        partition.append(1, EPOCH, 1, false, "b");
        partition.loop().advance(500);

        // then
        assertThat(partition.flusher().oldestUnsyncedAgeNanos()).isEqualTo(TimeUnit.MILLISECONDS.toNanos(500));
    }
}
