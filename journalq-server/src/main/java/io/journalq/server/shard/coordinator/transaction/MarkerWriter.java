package io.journalq.server.shard.coordinator.transaction;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.record.TransactionMarker;
import io.journalq.server.coordinator.Reply;
import io.journalq.server.group.GroupMachine;
import io.journalq.server.metadata.InternalTopics;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.shard.Shard;
import io.journalq.server.shard.Shards;
import io.journalq.server.shard.append.MarkerAppend;
import io.journalq.server.shard.coordinator.Coordinators;
import io.journalq.server.shard.partition.PartitionHost;
import io.journalq.server.transaction.Markers;
import io.journalq.server.transaction.Markers.MarkerRequest;
import io.journalq.server.transaction.TransactionMachine;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Informs the partitions of decided transactions: data partitions with a marker in their journals, partitions of groups
 * through their coordinators. Both are fsynced in every delivery mode. Retries until each partition has been informed
 * or no longer exists, and then informs the transaction's coordinator. There is at most one task for each transactional
 * id. If a crash interrupts it, the coordinator requests it again.
 *
 * <p>{@link #write} runs on the loop of the transaction's coordinator; each partition is informed on its own loop.
 */
final class MarkerWriter implements Markers {
    private static final Logger log = LoggerFactory.getLogger(MarkerWriter.class);

    /** Time between two attempts to inform a partition, in milliseconds. */
    private static final long RETRY_DELAY_MS = 100;

    private final Supplier<MetadataImage> images;
    private final Shards shards;
    private final Coordinators<GroupMachine> groups;
    private final Coordinators<TransactionMachine> transactions;
    private final Map<String, Task> tasks = new ConcurrentHashMap<>();
    private volatile boolean closed;

    /**
     * Creates a writer without work.
     *
     * @param images returns the newest image
     * @param transactions informed when all of a transaction's partitions are
     */
    MarkerWriter(
            Supplier<MetadataImage> images,
            Shards shards,
            Coordinators<GroupMachine> groups,
            Coordinators<TransactionMachine> transactions) {
        this.images = images;
        this.shards = shards;
        this.groups = groups;
        this.transactions = transactions;
    }

    @Override
    public void write(MarkerRequest request) {
        Task running = tasks.get(request.transactionalId());
        if (running != null && running.request.equals(request)) {
            // A coordinator that was loaded again requests its markers again. The task informs the coordinator that is
            // running when it ends.
            return;
        }
        Task task = new Task(request);
        tasks.put(request.transactionalId(), task);
        task.start();
    }

    /** Stops all retries. The next start continues with them. */
    void close() {
        closed = true;
    }

    private void later(Shard shard, Runnable attempt) {
        if (!closed) {
            shard.cycle().loop().schedule(attempt, RETRY_DELAY_MS);
        }
    }

    /** The markers of one transaction. */
    private final class Task {
        private final MarkerRequest request;
        private final AtomicInteger missing;

        Task(MarkerRequest request) {
            this.request = request;
            this.missing = new AtomicInteger(request.partitions().size());
        }

        void start() {
            for (TopicPartition partition : request.partitions()) {
                new Delivery(this, partition).tell();
            }
        }

        /** Called when one more partition is informed. Any thread. */
        void onTold() {
            if (missing.decrementAndGet() == 0) {
                report();
            }
        }

        private void report() {
            transactions.submitLater(
                    request.transactionalId(),
                    (machine, nowMs, replies) -> {
                        tasks.remove(request.transactionalId(), this);
                        machine.onMarkersWritten(
                                request.transactionalId(), request.producerId(), request.producerEpoch(), nowMs);
                    },
                    loading -> later(shards.all().get(0), this::report));
        }
    }

    /** The delivery to one partition. */
    private final class Delivery {
        private final Task task;
        private final TopicPartition partition;
        private boolean failing;

        Delivery(Task task, TopicPartition partition) {
            this.task = task;
            this.partition = partition;
        }

        void tell() {
            TopicImage topic = images.get().topic(partition.topic());
            if (topic == null || partition.partition() >= topic.partitions().size()) {
                task.onTold();
                return;
            }
            Shard shard = shards.shardOf(topic.id(), partition.partition());
            if (partition.topic().equals(InternalTopics.GROUPS)) {
                tellGroups(shard, topic.id());
            } else {
                shard.cycle().execute(() -> append(shard, topic.id()));
            }
        }

        private void tellGroups(Shard shard, Uuid topicId) {
            groups.submit(
                    partition.partition(),
                    (machine, nowMs, replies) -> {
                        Reply<ErrorCode> reply = replies.to(
                                done -> shard.cycle().execute(() -> onTold(shard, topicId)),
                                error -> onFailure(shard, error));
                        machine.onTransactionEnd(
                                task.request.producerId(),
                                task.request.producerEpoch(),
                                task.request.transactionVersion(),
                                task.request.commit(),
                                reply);
                    },
                    error -> onFailure(shard, error));
        }

        private void append(Shard shard, Uuid topicId) {
            PartitionHost host = shard.host(topicId, partition.partition());
            if (host == null) {
                onFailure(shard, ErrorCode.NOT_LEADER_OR_FOLLOWER);
            } else {
                host.append(new Marker(shard, topicId));
            }
        }

        private void onFailure(Shard shard, ErrorCode error) {
            if (!failing && !closed) {
                failing = true;
                log.warn(
                        "cannot inform a partition of the end of a transaction, retrying:"
                                + " partition={} transactionalId={} error={}",
                        partition,
                        task.request.transactionalId(),
                        error);
            }
            later(shard, this::tell);
        }

        /**
         * Makes the marker durable before the partition counts as informed. Once the coordinator has stored that the
         * transaction is complete, it never informs the partition again, so a power loss must not take the marker.
         */
        private void onTold(Shard shard, Uuid topicId) {
            PartitionHost host = shard.host(topicId, partition.partition());
            if (host == null) {
                onFailure(shard, ErrorCode.NOT_LEADER_OR_FOLLOWER);
                return;
            }
            host.flush(error -> {
                if (error == ErrorCode.NONE) {
                    onDone();
                } else {
                    onFailure(shard, error);
                }
            });
        }

        private void onDone() {
            if (failing) {
                log.info("a partition is now informed of the end of a transaction: partition={}", partition);
            }
            task.onTold();
        }

        /** The append of the marker to the journal. */
        private final class Marker extends MarkerAppend {
            private final Shard shard;
            private final Uuid topicId;

            Marker(Shard shard, Uuid topicId) {
                super(
                        new TransactionMarker(
                                task.request.producerId(),
                                task.request.producerEpoch(),
                                task.request.commit(),
                                coordinatorEpoch()),
                        task.request.transactionVersion());
                this.shard = shard;
                this.topicId = topicId;
            }

            @Override
            protected void onDecided() {
                switch (error()) {
                    case NONE -> onTold(shard, topicId);
                    // The producer has a later epoch, so no part of this transaction is open there.
                    case INVALID_PRODUCER_EPOCH -> onDone();
                    default -> onFailure(shard, error());
                }
            }
        }

        private int coordinatorEpoch() {
            TopicImage topic = images.get().topic(transactions.topic());
            int number = transactions.partitionOf(task.request.transactionalId());
            return topic == null || number < 0 || number >= topic.partitions().size()
                    ? 0
                    : topic.partitions().get(number).leaderEpoch();
        }
    }
}
