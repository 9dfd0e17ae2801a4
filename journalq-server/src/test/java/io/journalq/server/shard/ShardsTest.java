package io.journalq.server.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigOrigin;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.loop.EventLoops;
import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.metadata.MetadataDelta;
import io.journalq.server.metadata.MetadataDelta.TopicChange;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.MetadataMachine;
import io.journalq.server.metadata.TopicSpec;
import io.journalq.server.metadata.record.PartitionsRecord;
import io.journalq.server.metadata.record.PartitionsRecord.PartitionState;
import io.journalq.server.metadata.record.TopicRecord;
import io.journalq.server.shard.partition.PartitionFiles.StoredPartition;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Shards apply what a delta names. */
class ShardsTest {
    private static final int TOPICS = 50;
    private static final int OTHER = 1;

    private final ExecutorService blockingPool = Executors.newFixedThreadPool(2);
    private final EventLoops loops = new EventLoops(2);
    private final MetadataMachine metadata = new MetadataMachine(new MetadataMachine.Limits(0, 1, 10, 1_000));
    private Shards shards;

    @BeforeEach
    void create(@TempDir Path directory) throws Exception {
        BrokerConfig config = BrokerConfig.defaults()
                .with("data.directories", directory.toString(), ConfigOrigin.COMMAND_LINE)
                .with("write.ahead.max.bytes", "0", ConfigOrigin.COMMAND_LINE);
        shards = new Shards(
                config,
                loops.cycles(),
                new MemoryFileStore(),
                blockingPool,
                Clock.systemUTC(),
                Map.of(),
                MemoryAccount.UNBOUNDED);
    }

    @AfterEach
    void close() {
        shards.close().join();
        loops.close();
        blockingPool.shutdown();
    }

    private MetadataDelta createTopic(int number) {
        TopicSpec spec = new TopicSpec("topic-" + number, 1, 1, List.of(), Map.of());
        return metadata.replay(metadata.createTopic(spec, new Uuid(1, number)).records());
    }

    private int openPartitions() {
        return shards.storedPartitions().join().size();
    }

    @Test
    void shouldTouchOnlyTheTopicsOfTheDeltaWhenTheImageHasMore() {
        // given many topics that the shards do not know
        MetadataDelta last = null;
        for (int number = 0; number < TOPICS; number++) {
            last = createTopic(number);
        }

        // when they apply the last change only
        shards.open(last).join();

        // then they look at one topic
        assertThat(last.now().topics()).hasSize(TOPICS);
        assertThat(openPartitions()).isEqualTo(1);

        // and when one topic is removed, they remove one
        MetadataImage image = metadata.image();
        shards.deleteGone(new MetadataDelta(
                image, MetadataImage.EMPTY, List.of(new TopicChange(image.topic(new Uuid(1, TOPICS - 1)), null))));
        assertThat(openPartitions()).isZero();
    }

    @Test
    void shouldOpenOnlyThePartitionsThatHaveAReplicaOnThisBroker() {
        // given a topic with partitions on this broker, on another one, and on both
        Uuid id = new Uuid(1, 1);
        MetadataDelta created = metadata.replay(List.of(
                new TopicRecord().setTopicId(id).setName("spread"),
                new PartitionsRecord()
                        .setTopicId(id)
                        .setPartitions(List.of(partition(0), partition(OTHER), partition(OTHER, 0)))));

        // when
        shards.open(created).join();

        // then
        assertThat(shards.storedPartitions().join())
                .extracting(StoredPartition::name)
                .extracting(TopicPartition::partition)
                .containsExactlyInAnyOrder(0, 2);
        assertThat(shards.partitionCount()).isEqualTo(2);

        // and when the other partition gets a replica here
        PartitionsRecord moved =
                new PartitionsRecord().setTopicId(id).setFirstPartition(1).setPartitions(List.of(partition(OTHER, 0)));
        shards.open(metadata.replay(List.of(moved))).join();

        // then
        assertThat(openPartitions()).isEqualTo(3);
    }

    private static PartitionState partition(Integer... replicas) {
        return new PartitionState()
                .setLeader(replicas[0])
                .setReplicas(List.of(replicas))
                .setInSyncReplicas(List.of(replicas));
    }

    @Test
    void shouldOpenEveryPartitionWhenItBeginsToFollow() {
        for (int number = 0; number < TOPICS; number++) {
            createTopic(number);
        }

        shards.open(MetadataDelta.ofAll(metadata.image())).join();

        assertThat(openPartitions()).isEqualTo(TOPICS);
        assertThat(shards.partitionCount()).isEqualTo(TOPICS);
    }
}
