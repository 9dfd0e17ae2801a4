package io.journalq.cli.group;

import io.journalq.cli.shell.ClientCommand;
import io.journalq.cli.shell.Position;
import io.journalq.client.Admin;
import io.journalq.client.admin.ListedOffset;
import io.journalq.client.admin.OffsetSpec;
import io.journalq.client.group.CommittedOffset;
import io.journalq.common.commandline.DurationOption;
import io.journalq.common.id.TopicPartition;
import java.time.Clock;
import java.time.Duration;
import java.time.ZoneId;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Option;

/** The new position of offsets: exactly one of these options. */
final class NewOffset {
    @Option(names = "--to-earliest", required = true, description = "To the first message of the partition.")
    private boolean earliest;

    @Option(names = "--to-latest", required = true, description = "To the end of the partition.")
    private boolean latest;

    @Option(names = "--to-offset", required = true, paramLabel = "OFFSET", description = "To this offset.")
    private Long offset;

    @Option(
            names = "--to-datetime",
            required = true,
            paramLabel = "TIME",
            description = "To the first message at or after this time, such as 2026-01-31T12:00 or @1769860800000.")
    private String datetime;

    @Option(
            names = "--by-duration",
            required = true,
            paramLabel = "DURATION",
            converter = DurationOption.class,
            description = "To the first message that is not older than this, such as 30m or 1d.")
    private Duration duration;

    @Option(
            names = "--shift-by",
            required = true,
            paramLabel = "COUNT",
            description = "By this number of offsets: forward, or backward if negative.")
    private Long shift;

    /** Validates the options before a request is sent. */
    void check(ClientCommand command) {
        if (offset != null && offset < 0) {
            throw command.wrongUsage("--to-offset must be 0 or more");
        }
        if (datetime != null) {
            try {
                timestampMs();
            } catch (IllegalArgumentException wrong) {
                throw command.wrongUsage("--to-datetime " + wrong.getMessage());
            }
        }
    }

    /**
     * Returns the new offset of each partition. With --shift-by, partitions without a committed offset are left out.
     */
    Map<TopicPartition, Long> offsets(
            Admin admin, Map<TopicPartition, CommittedOffset> committed, Collection<TopicPartition> partitions) {
        Map<TopicPartition, Long> first = listed(admin, partitions, OffsetSpec.earliest());
        Map<TopicPartition, Long> end = listed(admin, partitions, OffsetSpec.latest());
        Map<TopicPartition, Long> timed = datetime == null && duration == null
                ? Map.of()
                : listed(admin, partitions, OffsetSpec.atOrAfter(timestampMs()));
        Map<TopicPartition, Long> offsets = new LinkedHashMap<>();
        for (TopicPartition partition : partitions) {
            long wanted;
            if (earliest) {
                wanted = first.get(partition);
            } else if (latest) {
                wanted = end.get(partition);
            } else if (offset != null) {
                wanted = offset;
            } else if (shift == null) {
                wanted = timed.get(partition) < 0 ? end.get(partition) : timed.get(partition);
            } else if (committed.containsKey(partition)) {
                wanted = shifted(committed.get(partition).offset());
            } else {
                continue;
            }
            offsets.put(partition, Math.max(first.get(partition), Math.min(wanted, end.get(partition))));
        }
        return offsets;
    }

    private long shifted(long from) {
        long sum = from + shift;
        // An overflow means the end or the beginning of the partition.
        return ((from ^ sum) & (shift ^ sum)) < 0 ? Long.MAX_VALUE : sum;
    }

    private static Map<TopicPartition, Long> listed(
            Admin admin, Collection<TopicPartition> partitions, OffsetSpec spec) {
        Map<TopicPartition, OffsetSpec> specs = new LinkedHashMap<>();
        partitions.forEach(partition -> specs.put(partition, spec));
        Map<TopicPartition, Long> offsets = new LinkedHashMap<>();
        for (Map.Entry<TopicPartition, ListedOffset> found :
                admin.listOffsets(specs).entrySet()) {
            offsets.put(found.getKey(), found.getValue().offset());
        }
        return offsets;
    }

    private long timestampMs() {
        Clock clock = Clock.systemUTC();
        if (duration != null) {
            return Position.Time.ago(duration, clock.instant()).timestampMs();
        }
        Position position = Position.parse(datetime, clock.instant(), ZoneId.systemDefault());
        if (position instanceof Position.Time time) {
            return time.timestampMs();
        }
        throw new IllegalArgumentException(
                "'" + datetime + "' is not a time; use 2026-01-31T12:00:00Z, 2026-01-31T12:00,"
                        + " 2026-01-31, @1769860800000 or '10m ago'");
    }
}
