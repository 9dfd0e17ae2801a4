package io.journalq.client.internal.produce;

import io.journalq.client.error.UnknownTopicException;
import io.journalq.client.internal.network.ClusterView;
import io.journalq.client.record.ProducerRecord;
import io.journalq.client.seal.BatchSealer;
import io.journalq.common.id.Uuid;
import io.journalq.common.record.Murmur2;
import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The lanes of one topic, and the choice of a lane for each record. Thread-safe. Lanes are only added: if the topic is
 * created again with fewer partitions, those that it lacks are no longer chosen. Concurrent sends can make the choice for
 * records without a key slightly inexact.
 */
final class TopicLanes {
    private static final int SMALL_BUILDER_BYTES = 2 * 1024;

    private final String name;
    private final ProducerConfig config;
    private final BuilderPool smallBuilders;
    private final BuilderPool bulkBuilders;
    private final AtomicLong stickyBytes = new AtomicLong();
    private final AtomicInteger roundRobin =
            new AtomicInteger(ThreadLocalRandom.current().nextInt(1 << 16));
    private final ReentrantLock growLock = new ReentrantLock();
    private volatile int stickyPartition;
    private volatile Lane[] lanes = {};
    /** The number of lanes that records may choose. Written after the lanes. */
    private volatile int partitionCount;

    // Guarded by growLock.
    private Uuid id;

    TopicLanes(ClusterView.Topic topic, ProducerConfig config) {
        this.name = topic.name();
        this.config = config;
        this.smallBuilders = new BuilderPool(config.compression(), SMALL_BUILDER_BYTES);
        this.bulkBuilders = new BuilderPool(config.compression(), config.batchSizeBytes());
        follow(topic);
        stickyPartition = ThreadLocalRandom.current().nextInt(partitionCount);
    }

    String name() {
        return name;
    }

    /** Whether batches are sent in transactions. */
    boolean isTransactional() {
        return config.transactional();
    }

    /** Seals the batches; null if they are sent without encryption. */
    BatchSealer sealer() {
        return config.sealer();
    }

    /** All lanes, also those of partitions that no longer exist. */
    Lane[] lanes() {
        return lanes;
    }

    int partitionCount() {
        return partitionCount;
    }

    /**
     * Adds lanes for new partitions of the topic. Fewer partitions count only if the topic was created again, because the
     * broker that responded may be behind.
     */
    void follow(ClusterView.Topic topic) {
        growLock.lock();
        try {
            int count = topic.partitionCount();
            int known = lanes.length;
            if (count > known) {
                Lane[] more = Arrays.copyOf(lanes, count);
                for (int i = known; i < count; i++) {
                    more[i] = new Lane(this, i);
                }
                lanes = more;
            }
            if (count > partitionCount || (count > 0 && !topic.id().equals(id))) {
                partitionCount = count;
            }
            id = topic.id();
        } finally {
            growLock.unlock();
        }
    }

    /** Returns the lane for a record of about {@code sizeBytes}. */
    Lane laneFor(ProducerRecord record, int sizeBytes) {
        int partition = record.partition();
        if (partition >= 0) {
            return lane(partition);
        }
        if (record.key() != null) {
            int count = partitionCount;
            return lanes[Murmur2.partition(record.key(), count)];
        }
        return config.roundRobin() ? nextLane() : stickyLane(sizeBytes);
    }

    /** Returns the lane of a partition. */
    Lane lane(int partition) {
        int count = partitionCount;
        if (partition >= count) {
            throw new UnknownTopicException(
                    "topic " + name + " has no partition " + partition + "; it has " + count + ", numbered from 0");
        }
        return lanes[partition];
    }

    /** Returns the lanes in turn. */
    Lane nextLane() {
        int count = partitionCount;
        return lanes[(roundRobin.getAndIncrement() & Integer.MAX_VALUE) % count];
    }

    /** Returns a builder for a batch that will probably contain many records ({@code bulk}), or one. */
    BuilderPool.Slot takeBuilder(boolean bulk) {
        return bulk ? bulkBuilders.take() : smallBuilders.take();
    }

    void close() {
        smallBuilders.close();
        bulkBuilders.close();
    }

    private Lane stickyLane(int sizeBytes) {
        int count = partitionCount;
        long bytes = stickyBytes.addAndGet(sizeBytes);
        int partition = stickyPartition;
        if (partition >= count) {
            partition = ThreadLocalRandom.current().nextInt(count);
            stickyPartition = partition;
        }
        if (bytes >= config.batchSizeBytes() && stickyBytes.compareAndSet(bytes, 0)) {
            stickyPartition = ThreadLocalRandom.current().nextInt(count);
        }
        return lanes[partition];
    }
}
