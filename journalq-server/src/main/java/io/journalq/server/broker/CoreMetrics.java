package io.journalq.server.broker;

import io.journalq.server.api.telemetry.Telemetry;
import io.journalq.server.loop.TopicCounters;
import io.journalq.server.observe.BrokerMetrics;
import io.journalq.server.observe.BrokerMetrics.Series;
import io.journalq.server.shard.TopicTraffic;
import io.journalq.server.shard.coordinator.CoordinatorKind.CoordinatorCounters;
import io.journalq.server.shard.coordinator.group.GroupLags;
import io.journalq.server.shard.healing.HealingCounters;
import io.journalq.server.shard.healing.Scrubber;
import java.util.List;
import java.util.function.ToLongFunction;

/** The metrics of a {@link BrokerCore}. */
final class CoreMetrics {
    private static final double MILLIS_IN_A_SECOND = 1e3;

    private final BrokerMetrics metrics;

    CoreMetrics(BrokerMetrics metrics) {
        this.metrics = metrics;
    }

    /** Adds the metrics of the core. Called once. */
    void bind(BrokerCore core) {
        CompactionSetup.bind(core.maintenance().cleanerCounters(), metrics);
        bindHealing(core.maintenance().healingCounters());
        bindScrub(core.maintenance().scrubber());
        metrics.counter(
                "journalq.coordinators.replayed.records",
                "Records that coordinators replayed from journals on loading because the store did not have them.",
                () -> core.coordinatorCounters().stream()
                        .mapToLong(CoordinatorCounters::replayedRecords)
                        .sum());
        metrics.counter(
                "journalq.coordinators.stored.records",
                "Changed records that coordinators wrote to the store.",
                () -> core.coordinatorCounters().stream()
                        .mapToLong(CoordinatorCounters::storedRecords)
                        .sum());
        metrics.gauge(
                "journalq.partitions.offline",
                "Partitions whose files cannot be used or, if they have other replicas, not be written.",
                () -> core.shards().offlinePartitions().count());
        metrics.gauge(
                "journalq.data.directories.offline",
                "Data directories that were lost while the broker ran, and stay offline until it is restarted.",
                core.directoryWatch()::lostCount);
        metrics.gauge(
                "journalq.retention.paused",
                "1 while retention by time is paused because the clock is too far ahead, otherwise 0.",
                () -> core.shards().isRetentionWaiting() ? 1 : 0);
        metrics.gauge(
                "journalq.transactions.hanging",
                "Transactions that have been open in partitions for longer than transaction.max.timeout.ms.",
                core.shards()::hangingTransactions);
        metrics.ageGauge(
                "journalq.oldest.unsynced.record.age.seconds",
                "Time since the oldest record that is not yet synced was written; 0 when everything is synced.",
                core.shards()::oldestUnsyncedAgeNanos);
        metrics.counter(
                "journalq.authorization.denials",
                "Times that a client was denied what it asked for; see the audit log (logger journalq.audit).",
                core.handlers().authorizer()::denials);
        metrics.counter(
                "journalq.audit.dropped",
                "Decisions that are missing in the audit log, because too many were waiting to be written.",
                core.handlers().authorizer().audit()::dropped);
        core.clusterMetrics().bind(metrics);
        bindTraffic(core.shards().traffic());
        bindGroups(core.groupLags());
        bindTelemetry(core.telemetry());
    }

    private void bindGroups(GroupLags groups) {
        List<String> labels = List.of("group", "topic");
        metrics.gauges(
                "journalq.group.lag.records",
                "Ends of the partitions of a topic minus the offsets that a group committed. Includes offsets of"
                        + " transaction markers and of compacted records.",
                labels,
                () -> groups.current().lags().stream()
                        .map(lag -> new Series(List.of(lag.group(), lag.topic()), (double) lag.records()))
                        .toList());
        metrics.gauges(
                "journalq.group.lag.seconds",
                "Age of the oldest batch of a topic that a group has not read, by the timestamp of its first record; 0"
                        + " if the group has read everything.",
                labels,
                () -> groups.current().lags().stream()
                        .filter(lag -> lag.lagMs() >= 0)
                        .map(lag -> new Series(List.of(lag.group(), lag.topic()), lag.lagMs() / MILLIS_IN_A_SECOND))
                        .toList());
        metrics.gauge(
                "journalq.group.lags.left.out",
                "Pairs of a group and a topic without series because of metrics.groups.max, or because the groups"
                        + " together have more than 100,000 partitions.",
                () -> groups.current().leftOut());
    }

    private void bindTraffic(TopicTraffic traffic) {
        addTopicCounter(
                traffic,
                "journalq.topic.appended.records",
                "Records appended to the partitions of a topic.",
                TopicCounters::appendedRecords);
        addTopicCounter(
                traffic,
                "journalq.topic.appended.bytes",
                "Bytes of batches appended to the partitions of a topic, as producers sent them.",
                TopicCounters::appendedBytes);
        addTopicCounter(
                traffic,
                "journalq.topic.fetched.records",
                "Offsets that Fetch responses advanced consumers of a topic. Includes offsets of transaction markers"
                        + " and of compacted records.",
                TopicCounters::fetchedRecords);
        addTopicCounter(
                traffic,
                "journalq.topic.fetched.bytes",
                "Bytes of batches of a topic in Fetch responses.",
                TopicCounters::fetchedBytes);
        metrics.gauge(
                "journalq.topics.without.series",
                "Topics that share the label topic=\"(other)\" because of metrics.topics.max.",
                traffic::sharing);
    }

    private void addTopicCounter(
            TopicTraffic traffic, String name, String description, ToLongFunction<TopicCounters> value) {
        metrics.counters(name, description, List.of("topic"), () -> traffic.byTopic().entrySet().stream()
                .map(topic -> new Series(List.of(topic.getKey()), (double) value.applyAsLong(topic.getValue())))
                .toList());
    }

    private void bindHealing(HealingCounters counters) {
        metrics.counter("journalq.damage.found", "Damaged segments of replicas that were found.", counters::found);
        metrics.counter(
                "journalq.damage.healed",
                "Damaged segments that were replaced with the batches of another replica.",
                counters::healed);
        metrics.counter(
                "journalq.damage.healing.failures",
                "Failed attempts to replace a damaged segment; the log states the reason.",
                counters::failures);
        metrics.gauge(
                "journalq.damage.unhealed",
                "Known places of damage that are not healed yet. Their records cannot be read on this broker.",
                counters::unhealed);
    }

    private void bindScrub(Scrubber scrubber) {
        metrics.counter(
                "journalq.scrub.read.bytes",
                "Size of the batches that the broker has read to find damage.",
                scrubber::readBytes);
        metrics.counter(
                "journalq.scrub.passes",
                "How often the broker has read all of its records to find damage.",
                scrubber::passes);
    }

    private void bindTelemetry(Telemetry telemetry) {
        metrics.gauge(
                "journalq.client.telemetry.clients",
                "Clients that asked for their telemetry subscriptions within three push intervals.",
                telemetry::clientCount);
        metrics.counter("journalq.client.telemetry.pushes", "Accepted pushes of client metrics.", telemetry::received);
        metrics.counter(
                "journalq.client.telemetry.received.bytes",
                "Bytes of accepted pushes of client metrics, as received.",
                telemetry::receivedBytes);
        metrics.counter(
                "journalq.client.telemetry.errors",
                "Requests about client metrics whose response carried an error.",
                telemetry::refused);
    }
}
