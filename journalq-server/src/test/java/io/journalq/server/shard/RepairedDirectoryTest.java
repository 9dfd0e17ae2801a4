package io.journalq.server.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigOrigin;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.loop.EventLoops;
import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.metadata.MetadataDelta;
import io.journalq.server.metadata.MetadataMachine;
import io.journalq.server.metadata.TestBrokers;
import io.journalq.server.metadata.record.PartitionsRecord;
import io.journalq.server.metadata.record.PartitionsRecord.PartitionState;
import io.journalq.server.metadata.record.TopicRecord;
import io.journalq.server.shard.partition.PartitionFiles.StoredPartition;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A data directory that failed has come back, with what it had then. */
class RepairedDirectoryTest {
    private static final int SELF = 0;
    private static final int OTHER = 1;
    private static final Uuid ID = new Uuid(1, 1);

    private final ExecutorService blockingPool = Executors.newFixedThreadPool(2);
    private final EventLoops loops = new EventLoops(1);
    private final MetadataMachine metadata = new MetadataMachine(new MetadataMachine.Limits(SELF, 1, 10, 1_000));
    private final FileStore store = new MemoryFileStore();
    private Shards shards;

    @TempDir
    Path parent;

    @AfterEach
    void close() {
        shards.close().join();
        loops.close();
        blockingPool.shutdown();
    }

    private void start() throws Exception {
        BrokerConfig config = BrokerConfig.defaults()
                .with("data.directories", directory(0) + "," + directory(1), ConfigOrigin.COMMAND_LINE);
        shards = new Shards(
                config, loops.cycles(), store, blockingPool, Clock.systemUTC(), Map.of(), MemoryAccount.UNBOUNDED);
    }

    private Path directory(int number) {
        return parent.resolve("disk-" + number);
    }

    private boolean hasReplica(int directory) {
        return store.isDirectory(directory(directory).resolve(StoredPartition.directoryName(ID, 0)));
    }

    private void change(int leaderEpoch, Integer... replicas) {
        PartitionState state = new PartitionState()
                .setLeader(OTHER)
                .setLeaderEpoch(leaderEpoch)
                .setReplicas(List.of(replicas))
                .setInSyncReplicas(List.of(replicas));
        shards.partitions()
                .open(metadata.replay(
                        List.of(new PartitionsRecord().setTopicId(ID).setPartitions(List.of(state)))))
                .join();
        shards.partitions().whenOpen(ID, 0).join();
    }

    @Test
    void shouldReportAReplicaThatIsInTwoDirectories() throws Exception {
        // given a replica in a directory that fails
        start();
        TestBrokers.register(metadata, SELF, OTHER);
        metadata.replay(List.of(new TopicRecord().setTopicId(ID).setName("orders")));
        shards.partitions().takeIncomplete();
        change(0, OTHER, SELF);
        int failed = hasReplica(0) ? 0 : 1;
        shards.takeOffline(directory(failed), new IOException("Input/output error"))
                .join();

        // when it moves to another broker and back, and is in sync again
        change(1, OTHER);
        change(2, OTHER, SELF);
        assertThat(hasReplica(1 - failed)).isTrue();
        // and the broker starts with the directory as it was when it failed
        shards.close().join();
        start();
        shards.partitions().open(MetadataDelta.ofAll(metadata.image())).join();

        // then nobody knows which of both has all records
        assertThat(shards.partitions().takeIncomplete()).isEqualTo(Map.of(ID, List.of(0)));
    }
}
