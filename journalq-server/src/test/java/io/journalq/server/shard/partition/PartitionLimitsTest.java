package io.journalq.server.shard.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.journal.JournalConfig;
import io.journalq.server.loop.Limit;
import io.journalq.server.producerstate.PartitionTransactions;
import io.journalq.server.producerstate.ProducerDedup;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The number of producers that a partition remembers is limited, and metrics show when the limit is reached. */
class PartitionLimitsTest {
    private static final short EPOCH = 0;

    @TempDir
    private Path directory;

    private SteppedPartition partition;

    @BeforeEach
    void open() throws Exception {
        partition = SteppedPartition.open(directory, JournalConfig.DEFAULT);
    }

    @AfterEach
    void close() {
        partition.closeCleanly();
    }

    @Test
    void shouldCountProducersThatGiveWayToOthers() {
        // given the maximum number of producers
        for (int producer = 0; producer < ProducerDedup.MAX_PRODUCERS; producer++) {
            partition.stage(producer, EPOCH, 0, false, "v");
        }
        partition.loop().run();
        assertThat(partition.counters().limit(Limit.PARTITION_PRODUCERS)).isZero();

        // when three more write
        for (int producer = 0; producer < 3; producer++) {
            partition.append(ProducerDedup.MAX_PRODUCERS + producer, EPOCH, 0, false, "v");
        }

        // then
        assertThat(partition.counters().limit(Limit.PARTITION_PRODUCERS)).isEqualTo(3);
    }

    @Test
    void shouldNameTheLimitWhenTooManyTransactionsAreOpen() {
        // given
        for (int producer = 0; producer < PartitionTransactions.MAX_OPEN_TRANSACTIONS; producer++) {
            partition.stage(producer, EPOCH, 0, true, "v");
        }
        partition.loop().run();

        // when
        SteppedPartition.Outcome more =
                partition.append(PartitionTransactions.MAX_OPEN_TRANSACTIONS, EPOCH, 0, true, "v");

        // then
        assertThat(more.error()).isEqualTo(ErrorCode.NOT_ENOUGH_REPLICAS);
        assertThat(more.limit()).isEqualTo(Limit.PARTITION_TRANSACTIONS);
        // and an open transaction continues
        SteppedPartition.Outcome next = partition.append(0, EPOCH, 1, true, "v");
        assertThat(next.error()).isEqualTo(ErrorCode.NONE);
        assertThat(next.limit()).isNull();
    }
}
