package io.journalq.server.control;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.Message;
import io.journalq.server.metadata.Decision;
import io.journalq.server.metadata.MetadataMachine;
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
 * Takes operations on the metadata, one after the other on a thread of its own. An operation is answered when its records
 * are durable and the image that holds them is published. Every method may be called from any thread; its future fails when the controller is closed, or has
 * {@link #MAX_WAITING_OPERATIONS} waiting already.
 */
public final class Controller implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Controller.class);

    private static final long CLOSE_TIMEOUT_SECONDS = 30;

    /** Requests that wait for the controller; more are refused at once. */
    static final int MAX_WAITING_OPERATIONS = 1_000;

    private final MetadataMachine machine;
    private final MetadataLog metadataLog;
    private final MetadataPublisher publisher;
    private final Supplier<Uuid> ids;
    private final ExecutorService thread;

    /** The log failed, and its end is not known any more; or it is not to be written any more. */
    private volatile boolean logFailed;

    /** Whether records were appended since the last image was published. */
    private boolean unpublished;

    /**
     * Prepares a controller; {@link #start} begins.
     *
     * @param ids gives ids that were never given before: random ones, or a test's
     * @param thread runs one operation after the other, refuses more than it bounds; shut down with the controller
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

    /** A thread for a controller. */
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
     * Replays the log, gives a new cluster its id, enters the partitions' next leader epochs, and publishes the first image.
     *
     * @param check sees the cluster's id after the replay, before anything is written
     * @throws IOException when the log cannot be read or written, or holds what this release does not know, or of the check
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

    /** May refuse to start with a cluster's metadata. */
    @FunctionalInterface
    public interface ClusterCheck {
        /**
         * Returns when the metadata may be used.
         *
         * @param clusterId empty when the log is new
         * @throws IOException when it may not; the message is one line that says what to do
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

    /** Changes topics' configurations; one outcome each, in order. */
    public CompletableFuture<List<Outcome>> alterTopicConfigs(List<ConfigChange> changes, boolean validateOnly) {
        return forEach(
                changes,
                validateOnly,
                change -> new Step(
                        machine.alterTopicConfig(
                                change.topic(), change.changes().get()),
                        null));
    }

    /** Changes settings of what is no topic; one outcome each, in order. */
    public CompletableFuture<List<Outcome>> alterResourceConfigs(List<ResourceChange> changes, boolean validateOnly) {
        return forEach(
                changes,
                validateOnly,
                change -> new Step(
                        machine.alterResourceConfig(
                                change.resource(), change.changes().get()),
                        null));
    }

    /** Changes what clients may do at most; one outcome each, in order. */
    public CompletableFuture<List<Outcome>> alterQuotas(List<QuotaChange> changes, boolean validateOnly) {
        return forEach(
                changes,
                validateOnly,
                change -> new Step(machine.alterQuotas(change.entity(), change.changes()), null));
    }

    /** Gives away a block of producer ids; the future holds the first, or fails when the log cannot be written. */
    public CompletableFuture<Long> allocateProducerIds(int count) {
        return submit(() -> {
            long first = machine.nextProducerId();
            Outcome outcome = carryOut(new Step(machine.allocateProducerIds(count), null), false);
            if (outcome.error() != ErrorCode.NONE || !sync()) {
                throw new UncheckedIOException(new IOException("the metadata log cannot be written"));
            }
            return first;
        });
    }

    /** Takes no more changes until a restart: the log's files cannot be relied on. Any thread. */
    public void refuseChanges(IOException reason) {
        logFailed = true;
        metadataLog.fence(reason);
    }

    /** Lets operations under way finish, refuses others and closes the log. */
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
     * More partitions for a topic.
     *
     * @param newCount how many there are then
     * @param assignments nodes of each new partition; empty for the broker's choice
     */
    public record PartitionsSpec(String topic, int newCount, List<List<Integer>> assignments) {}

    /**
     * A change of a topic's configuration.
     *
     * @param changes texts by name, null for back to the default; asked for on the controller's thread, so that it can
     *     build on the newest image
     */
    public record ConfigChange(String topic, Supplier<Map<String, String>> changes) {}

    /**
     * A change of the settings of what is no topic.
     *
     * @param changes as of {@link ConfigChange}
     */
    public record ResourceChange(ResourceId resource, Supplier<Map<String, String>> changes) {}

    /**
     * A change of what a client may do at most.
     *
     * @param changes limits by key, null for none any more
     */
    public record QuotaChange(QuotaEntity entity, Map<String, Double> changes) {}

    /** A decision, and the topic that it is about where that is known. */
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

    /** Makes what was appended durable and publishes it. False when that failed: then nothing of it may be promised. */
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

    /** Without a snapshot the log is longer, and as good: a failure is tried again with what is appended next. */
    private void keepSnapshotIfDue() {
        if (metadataLog.isSnapshotDue()) {
            try {
                metadataLog.keepSnapshot(machine.snapshot());
            } catch (IOException failure) {
                log.warn("cannot keep a snapshot of the metadata: reason=\"{}\"", failure.getMessage(), failure);
            }
        }
    }

    private void onLogFailure(IOException failure) {
        logFailed = true;
        log.error("event=metadata-log-failed remedy=\"free or mend the disk, then restart the broker\"", failure);
    }

    private static Outcome logFailure() {
        return new Outcome(
                ErrorCode.KAFKA_STORAGE_ERROR, "the metadata log cannot be written; see the broker's log", null);
    }
}
