package io.journalq.client.internal.produce;

import io.journalq.client.error.UnknownTopicException;
import io.journalq.client.record.ProducerRecord;
import io.journalq.client.seal.BatchSealer;
import io.journalq.common.record.Murmur2;
import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The lanes of one topic, and the choice of a lane for each record. Thread-safe. Lanes are only added. Concurrent sends
 * can make the choice for records without a key slightly inexact.
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

    TopicLanes(String name, ProducerConfig config, int partitionCount) {
        this.name = name;
        this.config = config;
        this.smallBuilders = new BuilderPool(config.compression(), SMALL_BUILDER_BYTES);
        this.bulkBuilders = new BuilderPool(config.compression(), config.batchSizeBytes());
        grow(partitionCount);
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

    Lane[] lanes() {
        return lanes;
    }

    /** Adds lanes for new partitions of the topic. */
    void grow(int partitionCount) {
        growLock.lock();
        try {
            int known = lanes.length;
            if (partitionCount > known) {
                Lane[] more = Arrays.copyOf(lanes, partitionCount);
                for (int i = known; i < partitionCount; i++) {
                    more[i] = new Lane(this, i);
                }
                lanes = more;
            }
        } finally {
            growLock.unlock();
        }
    }

    /** Returns the lane for a record of about {@code sizeBytes}. */
    Lane laneFor(ProducerRecord record, int sizeBytes) {
        Lane[] all = lanes;
        int partition = record.partition();
        if (partition >= 0) {
            return lane(partition);
        }
        if (record.key() != null) {
            return all[Murmur2.partition(record.key(), all.length)];
        }
        return config.roundRobin() ? nextLane() : stickyLane(all, sizeBytes);
    }

    /** Returns the lane of a partition. */
    Lane lane(int partition) {
        Lane[] all = lanes;
        if (partition >= all.length) {
            throw new UnknownTopicException("topic " + name + " has no partition " + partition + "; it has "
                    + all.length + ", numbered from 0");
        }
        return all[partition];
    }

    /** Returns the lanes in turn. */
    Lane nextLane() {
        Lane[] all = lanes;
        return all[(roundRobin.getAndIncrement() & Integer.MAX_VALUE) % all.length];
    }

    /** Returns a builder for a batch that will probably contain many records ({@code bulk}), or one. */
    BuilderPool.Slot takeBuilder(boolean bulk) {
        return bulk ? bulkBuilders.take() : smallBuilders.take();
    }

    void close() {
        smallBuilders.close();
        bulkBuilders.close();
    }

    private Lane stickyLane(Lane[] all, int sizeBytes) {
        long bytes = stickyBytes.addAndGet(sizeBytes);
        int partition = stickyPartition;
        if (bytes >= config.batchSizeBytes() && stickyBytes.compareAndSet(bytes, 0)) {
            stickyPartition = ThreadLocalRandom.current().nextInt(all.length);
        }
        return all[partition];
    }
}
