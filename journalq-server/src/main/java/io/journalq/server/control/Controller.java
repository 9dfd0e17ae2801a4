package io.journalq.server.control;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.Message;
import io.journalq.server.metadata.MetadataMachine;
import io.journalq.server.metadata.MetadataMachine.Decision;
import io.journalq.server.metadata.QuotaEntity;
import io.journalq.server.metadata.ResourceId;
import io.journalq.server.metadata.TopicSpec;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs operations on the metadata, one at a time on a dedicated thread. The future of an operation completes when its
 * records are durable and the resulting image is published. Any thread may call any method. A future fails if the
 * controller is closed or already has {@link #MAX_WAITING_OPERATIONS} operations waiting.
 */
public final class Controller implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Controller.class);

    private static final long CLOSE_TIMEOUT_SECONDS = 30;

    /** Maximum number of waiting operations; more are rejected at once. */
    static final int MAX_WAITING_OPERATIONS = 1_000;

    private final MetadataMachine machine;
    private final MetadataLog metadataLog;
    private final MetadataPublisher publisher;
    private final Supplier<Uuid> ids;
    private final ExecutorService thread;

    /** The log failed and its end is unknown, or changes are refused. */
    private volatile boolean logFailed;

    /** Whether records were appended since the last image was published. */
    private boolean unpublished;

    /**
     * Creates a controller; {@link #start} starts it.
     *
     * @param ids generates unique ids; random except in tests
     * @param thread runs one operation at a time and rejects operations beyond its limit; shut down with the controller
     */
    public Controller(
            MetadataMachine machine,
            MetadataLog metadataLog,
            MetadataPublisher publisher,
            Supplier<Uuid> ids,
            ExecutorService thread) {
        this.machine = machine;
        this.metadataLog = metadataLog;
        this.publisher = publisher;
        this.ids = ids;
        this.thread = thread;
    }

    /** Creates the thread of a controller. */
    public static ExecutorService newThread() {
        return new ThreadPoolExecutor(
                1,
                1,
                0,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(MAX_WAITING_OPERATIONS),
                work -> new Thread(work, "journalq-controller"));
    }

    /**
     * Replays the log, assigns an id to a new cluster, starts the partitions' next leader epochs, and publishes the
     * first image.
     *
     * @param check receives the cluster's id after the replay, before anything is written
     * @throws IOException if the log cannot be read or written, or has records that this release does not know, or if
     *     the check fails
     */
    public void start(ClusterCheck check) throws IOException {
        metadataLog.replay(machine::replay);
        check.accept(machine.clusterId());
        List<Message> records = machine.isFormatted()
                ? machine.startNode().records()
                : machine.format(ids.get()).records();
        if (!records.isEmpty()) {
            metadataLog.append(records);
            metadataLog.sync();
            records.forEach(machine::replay);
        }
        keepSnapshotIfDue();
        publisher.publish(machine.image());
    }

    /** May reject the metadata of a cluster at the start. */
    @FunctionalInterface
    public interface ClusterCheck {
        /**
         * Returns if the metadata may be used.
         *
         * @param clusterId empty if the log is new
         * @throws IOException if it may not be used; the message is one line that says what to do
         */
        void accept(String clusterId) throws IOException;
    }

    /** Creates topics; one outcome each, in order. */
    public CompletableFuture<List<Outcome>> createTopics(List<TopicSpec> specs, boolean validateOnly) {
        return forEach(specs, validateOnly, spec -> {
            Uuid id = ids.get();
            return new Step(machine.createTopic(spec, id), id);
        });
    }

    /** Deletes topics; one outcome each, in order. */
    public CompletableFuture<List<Outcome>> deleteTopics(List<Uuid> topicIds) {
        return forEach(topicIds, false, id -> new Step(machine.deleteTopic(id), id));
    }

    /** Adds partitions to topics; one outcome each, in order. */
    public CompletableFuture<List<Outcome>> createPartitions(List<PartitionsSpec> specs, boolean validateOnly) {
        return forEach(
                specs,
                validateOnly,
                spec -> new Step(machine.createPartitions(spec.topic(), spec.newCount(), spec.assignments()), null));
    }

    /** Changes the configurations of topics; one outcome each, in order. */
    public CompletableFuture<List<Outcome>> alterTopicConfigs(List<ConfigChange> changes, boolean validateOnly) {
        return forEach(
                changes,
                validateOnly,
                change -> new Step(
                        machine.alterTopicConfig(
                                change.topic(), change.changes().get()),
                        null));
    }

    /** Changes the configurations of resources other than topics; one outcome each, in order. */
    public CompletableFuture<List<Outcome>> alterResourceConfigs(List<ResourceChange> changes, boolean validateOnly) {
        return forEach(
                changes,
                validateOnly,
                change -> new Step(
                        machine.alterResourceConfig(
                                change.resource(), change.changes().get()),
                        null));
    }

    /** Changes quotas of clients; one outcome each, in order. */
    public CompletableFuture<List<Outcome>> alterQuotas(List<QuotaChange> changes, boolean validateOnly) {
        return forEach(
                changes,
                validateOnly,
                change -> new Step(machine.alterQuotas(change.entity(), change.changes()), null));
    }

    /** Allocates a block of producer ids. The future holds the first id, or fails if the log cannot be written. */
    public CompletableFuture<Long> allocateProducerIds(int count) {
        return submit(() -> {
            long first = machine.nextProducerId();
            Outcome outcome = carryOut(new Step(machine.allocateProducerIds(count), null), false);
            if (outcome.error() != ErrorCode.NONE || !sync()) {
                throw new UncheckedIOException(new IOException("cannot write the metadata log"));
            }
            return first;
        });
    }

    /** Rejects all changes until a restart, because the log's files cannot be relied on. Any thread. */
    public void refuseChanges(IOException reason) {
        logFailed = true;
        metadataLog.fence(reason);
    }

    /** Completes the operations in progress, rejects others and closes the log. */
    @Override
    public void close() throws IOException {
        thread.shutdown();
        try {
            if (!thread.awaitTermination(CLOSE_TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
                throw new IOException("the controller did not stop within " + CLOSE_TIMEOUT_SECONDS + " s");
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        metadataLog.close();
    }

    /**
     * A request for more partitions of a topic.
     *
     * @param newCount the new number of partitions
     * @param assignments nodes of each new partition; empty for the broker's choice
     */
    public record PartitionsSpec(String topic, int newCount, List<List<Integer>> assignments) {}

    /**
     * A change of a topic's configuration.
     *
     * @param changes values by name, null to restore the default; computed on the controller's thread, so that they can
     *     depend on the newest image
     */
    public record ConfigChange(String topic, Supplier<Map<String, String>> changes) {}

    /**
     * A change of the configuration of a resource other than a topic.
     *
     * @param changes as in {@link ConfigChange}
     */
    public record ResourceChange(ResourceId resource, Supplier<Map<String, String>> changes) {}

    /**
     * A change of a client's quotas.
     *
     * @param changes limits by key, null to remove a limit
     */
    public record QuotaChange(QuotaEntity entity, Map<String, Double> changes) {}

    /** A decision, and its topic if it is known. */
    private record Step(Decision decision, Uuid topicId) {}

    private <T> CompletableFuture<List<Outcome>> forEach(
            List<T> items, boolean validateOnly, Function<T, Step> decide) {
        if (items.isEmpty()) {
            return CompletableFuture.completedFuture(List.of());
        }
        return submit(() -> {
            List<Outcome> outcomes = new ArrayList<>(items.size());
            for (T item : items) {
                outcomes.add(carryOut(decide.apply(item), validateOnly));
            }
            if (!sync()) {
                outcomes.replaceAll(outcome -> outcome.error() == ErrorCode.NONE ? logFailure() : outcome);
            }
            return outcomes;
        });
    }

    private <T> CompletableFuture<T> submit(Supplier<T> operation) {
        try {
            return CompletableFuture.supplyAsync(() -> run(operation), thread);
        } catch (RejectedExecutionException closedOrFull) {
            return CompletableFuture.failedFuture(closedOrFull);
        }
    }

    private static <T> T run(Supplier<T> operation) {
        try {
            return operation.get();
        } catch (RuntimeException defect) {
            log.error("event=metadata-operation-failed", defect);
            throw defect;
        }
    }

    private Outcome carryOut(Step step, boolean validateOnly) {
        Decision decision = step.decision();
        if (!decision.accepted()) {
            return new Outcome(decision.error(), decision.reason(), step.topicId());
        }
        if (!validateOnly && !decision.records().isEmpty()) {
            if (logFailed) {
                return logFailure();
            }
            try {
                metadataLog.append(decision.records());
            } catch (IOException failure) {
                onLogFailure(failure);
                return logFailure();
            }
            decision.records().forEach(machine::replay);
            unpublished = true;
        }
        return new Outcome(ErrorCode.NONE, null, step.topicId());
    }

    /**
     * Makes the appended records durable and publishes them. Returns false on failure: in this case no operation may be
     * confirmed.
     */
    private boolean sync() {
        if (logFailed || !unpublished) {
            return !logFailed;
        }
        try {
            metadataLog.sync();
        } catch (IOException failure) {
            onLogFailure(failure);
            return false;
        }
        unpublished = false;
        publisher.publish(machine.image());
        keepSnapshotIfDue();
        return true;
    }

    /**
     * Writes a snapshot if one is due. Without it the log is longer but equally valid, so a failed snapshot is retried
     * after later appends.
     */
    private void keepSnapshotIfDue() {
        if (metadataLog.isSnapshotDue()) {
            try {
                metadataLog.keepSnapshot(machine.snapshot());
            } catch (IOException failure) {
                log.warn("cannot write a snapshot of the metadata: reason=\"{}\"", failure.getMessage(), failure);
            }
        }
    }

    private void onLogFailure(IOException failure) {
        logFailed = true;
        log.error(
                "event=metadata-log-failed remedy=\"free space on the disk or repair it, then restart the broker\"",
                failure);
    }

    private static Outcome logFailure() {
        return new Outcome(ErrorCode.KAFKA_STORAGE_ERROR, "cannot write the metadata log; see the broker's log", null);
    }
}
