package io.journalq.server.shard.coordinator.transaction;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.WriteTxnMarkersRequest;
import io.journalq.common.protocol.message.WriteTxnMarkersResponse;
import io.journalq.common.record.TransactionMarker;
import io.journalq.server.coordinator.Reply;
import io.journalq.server.group.GroupMachine;
import io.journalq.server.metadata.InternalTopics;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.peer.PeerRequests;
import io.journalq.server.shard.Shard;
import io.journalq.server.shard.Shards;
import io.journalq.server.shard.append.MarkerAppend;
import io.journalq.server.shard.coordinator.Coordinators;
import io.journalq.server.shard.partition.PartitionHost;
import io.journalq.server.transaction.Markers;
import io.journalq.server.transaction.Markers.MarkerRequest;
import io.journalq.server.transaction.TransactionMachine;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Informs the partitions of decided transactions: data partitions with a marker in their journals, partitions of groups
 * through their coordinators. Both are fsynced in every delivery mode. Partitions that other brokers lead are informed
 * with WriteTxnMarkers, one request for each broker. Retries until each partition has been informed or no longer exists,
 * and then informs the transaction's coordinator. There is at most one task for each transactional id. If a crash
 * interrupts it, or another broker leads the coordinator's partition, the next coordinator requests it again.
 *
 * <p>{@link #write} runs on the loop of the transaction's coordinator; each partition is informed on its own loop.
 */
final class MarkerWriter implements Markers {
    private static final Logger log = LoggerFactory.getLogger(MarkerWriter.class);

    /** Time between two attempts to inform a partition, in milliseconds. */
    private static final long RETRY_DELAY_MS = 100;

    private static final int REQUEST_VERSION = 2;
    /** After this time, another broker may lead the partition. */
    private static final int REQUEST_TIMEOUT_MS = 3_000;

    private static final int NOT_HERE = -1;

    private final Supplier<MetadataImage> images;
    private final Shards shards;
    private final Coordinators<GroupMachine> groups;
    private final Coordinators<TransactionMachine> transactions;
    private final PeerRequests peers;
    private final Map<String, Task> tasks = new ConcurrentHashMap<>();
    private volatile boolean closed;

    /**
     * Creates a writer without work.
     *
     * @param images returns the image that the coordinators follow: what it does not have is gone
     * @param transactions informed when all of a transaction's partitions are
     * @param peers sends requests to the leaders of partitions; null if there are no other brokers
     */
    MarkerWriter(
            Supplier<MetadataImage> images,
            Shards shards,
            Coordinators<GroupMachine> groups,
            Coordinators<TransactionMachine> transactions,
            PeerRequests peers) {
        this.images = images;
        this.shards = shards;
        this.groups = groups;
        this.transactions = transactions;
        this.peers = peers;
    }

    @Override
    public void write(MarkerRequest request) {
        TopicImage topic = images.get().topic(transactions.topic());
        if (topic == null) {
            return; // The coordinator is about to be dropped.
        }
        int number = transactions.partitionOf(request.transactionalId());
        Home home = new Home(shards.shardOf(topic.id(), number), topic.id(), number);
        int leaderEpoch = home.leaderEpoch();
        Task running = tasks.get(request.transactionalId());
        if (running != null && running.leaderEpoch == leaderEpoch && running.request.equals(request)) {
            // A coordinator that was loaded again requests its markers again. The task informs the coordinator that is
            // running when it ends.
            return;
        }
        Task task = new Task(request, home, leaderEpoch);
        tasks.put(request.transactionalId(), task);
        task.start();
    }

    /** Stops all retries. The next start continues with them. */
    void close() {
        closed = true;
    }

    /** The partition of a transaction's coordinator. */
    private record Home(Shard shard, Uuid topicId, int partition) {
        /** The leader epoch in which the coordinator runs; {@link #NOT_HERE} if it does not. On the partition's loop. */
        int leaderEpoch() {
            PartitionHost host = shard.host(topicId, partition);
            return host != null && host.replica().isLeader() ? host.leaderEpoch() : NOT_HERE;
        }

        void execute(Runnable work) {
            shard.cycle().execute(work);
        }

        void later(Runnable work) {
            shard.cycle().loop().schedule(work, RETRY_DELAY_MS);
        }
    }

    /** The markers of one transaction. */
    private final class Task {
        private final MarkerRequest request;
        private final Home home;
        /** The markers carry it, so that partitions refuse them once a later coordinator has written its own. */
        private final int leaderEpoch;

        private final AtomicInteger missing;
        /** They are tried again together. On the coordinator's loop. */
        private final List<Delivery> failed = new ArrayList<>();

        Task(MarkerRequest request, Home home, int leaderEpoch) {
            this.request = request;
            this.home = home;
            this.leaderEpoch = leaderEpoch;
            this.missing = new AtomicInteger(request.partitions().size());
        }

        void start() {
            deliver(request.partitions().stream()
                    .map(partition -> new Delivery(this, partition))
                    .toList());
        }

        /** Whether another task, or another broker, does the work. On the coordinator's loop. */
        private boolean isOver() {
            int epochNow = home.leaderEpoch();
            if (!closed && epochNow == leaderEpoch && leaderEpoch != NOT_HERE && isNewest()) {
                return false;
            }
            if (tasks.remove(request.transactionalId(), this) && !closed && epochNow > leaderEpoch) {
                // The same broker leads in a later epoch. If the coordinator has run on, it does not ask by itself.
                askAgain();
            }
            return true;
        }

        /** If another broker has led in the meantime, it may have completed the transaction, and begun the next one. */
        private void askAgain() {
            transactions.submitLater(
                    request.transactionalId(),
                    (machine, nowMs, replies) -> machine.onMarkersMissing(
                            request.transactionalId(), request.producerId(), request.producerEpoch(), nowMs),
                    loading -> {
                        // It asks when it is loaded.
                    });
        }

        private boolean isNewest() {
            return tasks.get(request.transactionalId()) == this;
        }

        /** Informs partitions, wherever they are now. On the coordinator's loop. */
        private void deliver(List<Delivery> deliveries) {
            if (isOver()) {
                return;
            }
            MetadataImage image = images.get();
            Map<Integer, List<Delivery>> byLeader = new TreeMap<>();
            for (Delivery delivery : deliveries) {
                TopicImage topic = image.topic(delivery.partition.topic());
                int number = delivery.partition.partition();
                if (topic == null || number >= topic.partitions().size()) {
                    onTold();
                    continue;
                }
                int leader = topic.partitions().get(number).leader();
                if (peers == null || leader == shards.nodeId()) {
                    delivery.tell(topic.id());
                } else if (leader < 0) {
                    delivery.onFailure(ErrorCode.LEADER_NOT_AVAILABLE);
                } else {
                    byLeader.computeIfAbsent(leader, broker -> new ArrayList<>())
                            .add(delivery);
                }
            }
            byLeader.forEach(this::send);
        }

        private void send(int broker, List<Delivery> deliveries) {
            var unused = peers.send(broker, message(deliveries), REQUEST_VERSION, REQUEST_TIMEOUT_MS)
                    .whenComplete((response, failure) -> {
                        Map<TopicPartition, ErrorCode> errors =
                                failure == null ? errors((WriteTxnMarkersResponse) response) : Map.of();
                        for (Delivery delivery : deliveries) {
                            delivery.onResponse(errors.getOrDefault(delivery.partition, ErrorCode.NETWORK_EXCEPTION));
                        }
                    });
        }

        TransactionMarker marker() {
            return new TransactionMarker(request.producerId(), request.producerEpoch(), request.commit(), leaderEpoch);
        }

        private WriteTxnMarkersRequest message(List<Delivery> deliveries) {
            Map<String, List<Integer>> byTopic = new TreeMap<>();
            for (Delivery delivery : deliveries) {
                byTopic.computeIfAbsent(delivery.partition.topic(), topic -> new ArrayList<>())
                        .add(delivery.partition.partition());
            }
            List<WriteTxnMarkersRequest.WritableTxnMarkerTopic> topics = new ArrayList<>();
            byTopic.forEach((topic, partitions) -> topics.add(new WriteTxnMarkersRequest.WritableTxnMarkerTopic()
                    .setName(topic)
                    .setPartitionIndexes(partitions)));
            return new WriteTxnMarkersRequest()
                    .setMarkers(List.of(new WriteTxnMarkersRequest.WritableTxnMarker()
                            .setProducerId(request.producerId())
                            .setProducerEpoch(request.producerEpoch())
                            .setTransactionResult(request.commit())
                            .setCoordinatorEpoch(leaderEpoch)
                            .setTransactionVersion((byte) request.transactionVersion())
                            .setTopics(topics)));
        }

        private static Map<TopicPartition, ErrorCode> errors(WriteTxnMarkersResponse response) {
            Map<TopicPartition, ErrorCode> errors = new ConcurrentHashMap<>();
            response.markers().forEach(marker -> marker.topics().forEach(topic -> topic.partitions()
                    .forEach(partition -> errors.put(
                            new TopicPartition(topic.name(), partition.partitionIndex()),
                            ErrorCode.of(partition.errorCode())))));
            return errors;
        }

        /** Tries again later, together with others. Any thread. */
        private void retry(Delivery delivery) {
            home.execute(() -> {
                failed.add(delivery);
                if (failed.size() == 1) {
                    home.later(() -> {
                        List<Delivery> again = List.copyOf(failed);
                        failed.clear();
                        deliver(again);
                    });
                }
            });
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
                        // Another task writes the markers of a later epoch. They may be those of the next transaction.
                        if (tasks.remove(request.transactionalId(), this)) {
                            machine.onMarkersWritten(
                                    request.transactionalId(), request.producerId(), request.producerEpoch(), nowMs);
                        }
                    },
                    loading -> home.execute(() -> {
                        if (!isOver()) {
                            home.later(this::report);
                        }
                    }));
        }
    }

    /** The delivery to one partition. */
    private final class Delivery {
        private final Task task;
        private final TopicPartition partition;
        private volatile boolean failing;

        Delivery(Task task, TopicPartition partition) {
            this.task = task;
            this.partition = partition;
        }

        /** Informs the partition, which is on this broker. */
        void tell(Uuid topicId) {
            Shard shard = shards.shardOf(topicId, partition.partition());
            if (partition.topic().equals(InternalTopics.GROUPS)) {
                tellGroups(shard, topicId);
            } else {
                shard.cycle().execute(() -> append(shard, topicId));
            }
        }

        private void tellGroups(Shard shard, Uuid topicId) {
            // A coordinator that was replaced may have no offsets of the transaction, while its successor has some.
            groups.submitConfirmed(
                    partition.partition(),
                    (machine, nowMs, replies) -> {
                        Reply<ErrorCode> reply = replies.to(
                                done -> shard.cycle().execute(() -> onTold(shard, topicId)), this::onFailure);
                        machine.onTransactionEnd(
                                task.marker(),
                                task.request.transactionVersion(),
                                shard.guards().onMarker(),
                                reply);
                    },
                    this::onFailure);
        }

        private void append(Shard shard, Uuid topicId) {
            PartitionHost host = shard.host(topicId, partition.partition());
            if (host == null) {
                onFailure(ErrorCode.NOT_LEADER_OR_FOLLOWER);
            } else {
                host.append(new Marker(shard, topicId));
            }
        }

        /** Another broker has informed the partition, or not. */
        void onResponse(ErrorCode error) {
            switch (error) {
                // With the second, the producer has a later epoch, so no part of this transaction is open there.
                case NONE, INVALID_PRODUCER_EPOCH -> onDone();
                default -> onFailure(error);
            }
        }

        void onFailure(ErrorCode error) {
            if (!failing && !closed) {
                failing = true;
                log.warn(
                        "cannot inform a partition of the end of a transaction, retrying:"
                                + " partition={} transactionalId={} error={}",
                        partition,
                        task.request.transactionalId(),
                        error);
            }
            task.retry(this);
        }

        /**
         * Makes the marker durable before the partition counts as informed. Once the coordinator has stored that the
         * transaction is complete, it never informs the partition again, so a power loss must not take the marker.
         */
        private void onTold(Shard shard, Uuid topicId) {
            PartitionHost host = shard.host(topicId, partition.partition());
            if (host == null) {
                onFailure(ErrorCode.NOT_LEADER_OR_FOLLOWER);
            } else {
                host.flush(this::onResponse);
            }
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
                super(task.marker(), task.request.transactionVersion());
                this.shard = shard;
                this.topicId = topicId;
            }

            @Override
            protected void onDecided() {
                if (error() == ErrorCode.NONE) {
                    onTold(shard, topicId);
                } else {
                    onResponse(error());
                }
            }
        }
    }
}
