package io.journalq.server.shard.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.journal.JournalConfig;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.FilterFileStore;
import io.journalq.server.journal.file.SystemFileStore;
import io.journalq.server.shard.append.DeliveryMode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The state that must be on the disk when records of a partition are deleted. The number is a seed of the simulator.
 */
class DeletedRecordsTest {
    private static final short EPOCH = 0;

    @TempDir
    private Path directory;

    @Test
    void shouldRespondOnlyAfterTheNewStartOffsetIsSynced() throws IOException {
        // given
        List<String> happened = new ArrayList<>();
        FileStore watched = new FilterFileStore(new SystemFileStore()) {
            @Override
            public void replace(Path file, ByteBuffer content, boolean sync) throws IOException {
                super.replace(file, content, sync);
                if (sync && file.endsWith("journal.checkpoint")) {
                    happened.add("synced");
                }
            }
        };
        SteppedPartition partition =
                SteppedPartition.open(watched, directory, JournalConfig.DEFAULT, DeliveryMode.EVENTUAL);
        for (int i = 0; i < 3; i++) {
            partition.append(1, EPOCH, i, false, "value " + i);
        }
        happened.clear();

        // when
        partition.host().deleteRecordsBefore(2, 0, error -> happened.add(error.name()));
        partition.loop().run();

        // then
        assertThat(happened)
                .startsWith("synced")
                .endsWith(ErrorCode.NONE.name())
                .containsOnlyOnce(ErrorCode.NONE.name());
        partition.closeCleanly();
    }

    @Test
    void shouldRespondWithAnErrorWhenDirectMemoryIsShort() throws IOException {
        // given a pool whose threads outlive the errors of their work
        AtomicBoolean isShort = new AtomicBoolean();
        FileStore store = new FilterFileStore(new SystemFileStore()) {
            @Override
            public void replace(Path file, ByteBuffer content, boolean sync) throws IOException {
                if (isShort.get()) {
                    throw new OutOfMemoryError("Cannot reserve direct buffer memory");
                }
                super.replace(file, content, sync);
            }
        };
        Executor pool = work -> {
            isShort.set(true);
            try {
                work.run();
            } catch (OutOfMemoryError ofWork) {
                assertThat(isShort).isTrue();
            }
            isShort.set(false);
        };
        SteppedPartition partition =
                SteppedPartition.open(store, directory, JournalConfig.DEFAULT, DeliveryMode.EVENTUAL, pool);
        partition.append(1, EPOCH, 0, false, "value");
        List<ErrorCode> outcomes = new ArrayList<>();

        // when
        partition.host().deleteRecordsBefore(1, 0, outcomes::add);
        partition.loop().run();

        // then
        assertThat(outcomes).containsExactly(ErrorCode.KAFKA_STORAGE_ERROR);
        partition.closeCleanly();
    }

    @Test // seed 90049112
    void shouldKnowAProducerWhoseRecordsAreDeletedWhileOthersAreAcknowledgedFromMemory() throws IOException {
        // given written records of one producer, and records of another one in memory
        JournalConfig config = JournalConfig.DEFAULT.withRetention(1, -1);
        SteppedPartition partition = SteppedPartition.open(directory, config, DeliveryMode.PERFORMANCE);
        partition.append(1, EPOCH, 0, false, "written");
        partition.loop().fireTimers();
        partition.append(2, EPOCH, 0, false, "in memory");
        assertThat(partition.host().journal().writtenOffset()).isEqualTo(1);

        // when everything written is deleted, and nothing else runs
        long laterMs = System.currentTimeMillis() + Duration.ofDays(30).toMillis();
        partition.host().maintain(laterMs, laterMs, 900_000);
        SteppedPartition next = SteppedPartition.open(directory, config, DeliveryMode.PERFORMANCE);

        // then batches that the first producer sends again are recognized
        assertThat(next.host().log().startOffset()).isPositive();
        assertThat(next.append(1, EPOCH, 0, false, "written").offset()).isZero();
        next.closeCleanly();
    }
}
