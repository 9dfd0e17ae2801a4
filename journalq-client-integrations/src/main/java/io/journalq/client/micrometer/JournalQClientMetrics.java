package io.journalq.client.micrometer;

import io.journalq.client.Consumer;
import io.journalq.client.ConsumerMetrics;
import io.journalq.client.Producer;
import io.journalq.client.ProducerMetrics;
import io.journalq.client.error.ClientClosedException;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/**
 * Registers the counters of a producer or consumer. The names begin with {@code journalq.client.producer} and {@code
 * journalq.client.consumer}. Each client needs tags of its own, for example {@code client=billing}. After the client is
 * closed, its meters keep their last values.
 *
 * <pre>{@code
 * JournalQClientMetrics.of(producer, Tags.of("client", "billing")).bindTo(registry);
 * }</pre>
 */
public final class JournalQClientMetrics implements MeterBinder {
    private final List<MeterBinder> meters = new ArrayList<>();
    private final Iterable<Tag> tags;

    private JournalQClientMetrics(Iterable<Tag> tags) {
        this.tags = tags;
    }

    /** Returns a binder for the counters of a producer. See {@link ProducerMetrics}. */
    public static JournalQClientMetrics of(Producer producer, Iterable<Tag> tags) {
        Snapshots<ProducerMetrics> from = new Snapshots<>(producer::metrics);
        JournalQClientMetrics all = new JournalQClientMetrics(tags);
        String prefix = "journalq.client.producer.";
        all.counter(prefix + "records", null, "Records acknowledged", from, ProducerMetrics::records);
        all.counter(prefix + "batches", null, "Batches acknowledged", from, ProducerMetrics::batches);
        all.counter(prefix + "requests", null, "Produce requests sent", from, ProducerMetrics::requests);
        all.counter(prefix + "sent", "bytes", "Bytes of batches sent, compressed", from, ProducerMetrics::sentBytes);
        all.counter(
                prefix + "failed.records",
                null,
                "Records that failed after all retries",
                from,
                ProducerMetrics::failedRecords);
        all.counter(
                prefix + "retried.batches",
                null,
                "Batches sent again after an error",
                from,
                ProducerMetrics::retriedBatches);
        all.gauge(prefix + "buffered", "bytes", "Buffer memory in use", from, ProducerMetrics::bufferedBytes);
        all.failure(prefix, "no_broker", from, ProducerMetrics::unreachableBrokers);
        all.failure(prefix, "unknown_topic", from, ProducerMetrics::unknownTopics);
        all.failure(prefix, "lost_coordinator", from, ProducerMetrics::lostCoordinators);
        all.failure(prefix, "not_authorized", from, ProducerMetrics::authorizationFailures);
        return all;
    }

    /** Returns a binder for the counters of a consumer. See {@link ConsumerMetrics}. */
    public static JournalQClientMetrics of(Consumer consumer, Iterable<Tag> tags) {
        Snapshots<ConsumerMetrics> from = new Snapshots<>(consumer::metrics);
        JournalQClientMetrics all = new JournalQClientMetrics(tags);
        String prefix = "journalq.client.consumer.";
        all.counter(prefix + "records", null, "Records that polls returned", from, ConsumerMetrics::records);
        all.counter(prefix + "fetches", null, "Fetch responses received", from, ConsumerMetrics::fetches);
        all.counter(
                prefix + "fetched",
                "bytes",
                "Bytes of batches fetched, compressed",
                from,
                ConsumerMetrics::fetchedBytes);
        all.counter(
                prefix + "failed.commits",
                null,
                "Automatic commits that failed after all retries",
                from,
                ConsumerMetrics::failedCommits);
        all.counter(
                prefix + "missing.batches",
                null,
                "Sealed batches that were missing before a later one of the same sender",
                from,
                ConsumerMetrics::missingBatches);
        all.failure(prefix, "failed_fetch", from, ConsumerMetrics::failedFetches);
        all.failure(prefix, "no_broker", from, ConsumerMetrics::unreachableBrokers);
        all.failure(prefix, "unknown_topic", from, ConsumerMetrics::unknownTopics);
        all.failure(prefix, "lost_coordinator", from, ConsumerMetrics::lostCoordinators);
        all.failure(prefix, "not_authorized", from, ConsumerMetrics::authorizationFailures);
        return all;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        meters.forEach(meter -> meter.bindTo(registry));
    }

    private <M> void counter(
            String name, String unit, String description, Snapshots<M> from, ToDoubleFunction<M> value) {
        // A registry holds the object only weakly, but the function strongly. The function must keep the object alive.
        meters.add(registry -> FunctionCounter.builder(name, from, any -> value.applyAsDouble(from.take()))
                .tags(tags)
                .baseUnit(unit)
                .description(description)
                .register(registry));
    }

    private <M> void failure(String prefix, String cause, Snapshots<M> from, ToDoubleFunction<M> value) {
        meters.add(
                registry -> FunctionCounter.builder(prefix + "failures", from, any -> value.applyAsDouble(from.take()))
                        .tags(tags)
                        .tag("cause", cause)
                        .description("Failures that the client retries, by cause")
                        .register(registry));
    }

    private <M> void gauge(String name, String unit, String description, Snapshots<M> from, ToDoubleFunction<M> value) {
        meters.add(registry -> Gauge.builder(name, () -> value.applyAsDouble(from.take()))
                .tags(tags)
                .baseUnit(unit)
                .description(description)
                .register(registry));
    }

    /** Takes snapshots of the counters of a client. Thread-safe. */
    private static final class Snapshots<M> {
        private final Supplier<M> client;
        private volatile M last;

        private Snapshots(Supplier<M> client) {
            this.client = client;
            this.last = client.get();
        }

        private M take() {
            try {
                last = client.get();
            } catch (ClientClosedException e) {
                // The last snapshot stays: a counter must not go back.
            }
            return last;
        }
    }
}
