package io.journalq.cli.group;

import io.journalq.cli.shell.ClientCommand;
import io.journalq.cli.shell.Json;
import io.journalq.cli.shell.Quantity;
import io.journalq.cli.shell.Table;
import io.journalq.cli.shell.Terminal;
import io.journalq.client.Admin;
import io.journalq.client.Consumer;
import io.journalq.client.admin.GroupDescription;
import io.journalq.client.admin.ListedOffset;
import io.journalq.client.admin.OffsetSpec;
import io.journalq.client.admin.PartitionDescription;
import io.journalq.client.admin.TopicDescription;
import io.journalq.client.admin.TopicListing;
import io.journalq.client.group.CommittedOffset;
import io.journalq.common.id.TopicPartition;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code journalq groups lag}. One thread. */
@Command(
        name = "lag",
        description = {
            "Shows the lag of a group for each partition with a committed offset, in messages and in seconds.",
            "Messages: the end of the partition minus the committed offset. This includes transaction markers and "
                    + "messages that were compacted away, because they have offsets.",
            "Seconds: the current time minus the timestamp of the next message to read, or 0 if there is none. "
                    + "This compares the clock of this machine with that of the producer (with that of the broker if "
                    + "message.timestamp.type=LogAppendTime)."
        },
        footerHeading = "%nExamples:%n",
        footer = {"  journalq groups lag billing", "  journalq groups lag billing --topic orders --output json"})
final class GroupLagCommand extends ClientCommand {
    @Parameters(paramLabel = "GROUP", description = "Name of the group.")
    private String name;

    @Option(names = "--topic", paramLabel = "NAME", description = "Only partitions of this topic.")
    private String topic;

    /**
     * The lag in one partition. The end is -1 if the partition has no leader, unknown times are -1; {@code member} may
     * be null.
     */
    private record Lag(TopicPartition partition, long committed, long end, long behindMs, String member) {
        private boolean isKnown() {
            return end >= 0;
        }

        private long messages() {
            return Math.max(0, end - committed);
        }
    }

    @Override
    protected void execute() {
        List<Lag> lags;
        try (Admin admin = openAdmin()) {
            GroupDescription group = admin.describeGroup(name);
            Map<TopicPartition, Long> committed = new LinkedHashMap<>();
            admin.listGroupOffsets(name).forEach((partition, offset) -> add(committed, partition, offset));
            lags = lags(admin, committed, readers(group));
        }
        if (wantsJson()) {
            terminal().printLine(Json.document(jsonOf(lags)));
        } else {
            print(lags);
        }
    }

    private void add(Map<TopicPartition, Long> committed, TopicPartition partition, CommittedOffset offset) {
        if (topic == null || topic.equals(partition.topic())) {
            committed.put(partition, offset.offset());
        }
    }

    private static Map<TopicPartition, String> readers(GroupDescription group) {
        Map<TopicPartition, String> readers = new HashMap<>();
        group.members()
                .forEach(member -> member.partitions().forEach(partition -> readers.put(partition, member.memberId())));
        return readers;
    }

    private List<Lag> lags(Admin admin, Map<TopicPartition, Long> committed, Map<TopicPartition, String> readers) {
        Set<TopicPartition> served = existing(admin, committed.keySet());
        Map<TopicPartition, OffsetSpec> ends = new LinkedHashMap<>();
        // Nobody knows the end of a partition without a leader, and a lookup would wait for one.
        withLeader(admin, served).forEach(partition -> ends.put(partition, OffsetSpec.latest()));
        Map<TopicPartition, ListedOffset> found = admin.listOffsets(ends);
        Map<TopicPartition, Long> behind = new LinkedHashMap<>();
        found.forEach((partition, end) -> {
            if (committed.get(partition) < end.offset()) {
                behind.put(partition, committed.get(partition));
            }
        });
        Map<TopicPartition, Long> timestampsMs = behind.isEmpty() ? Map.of() : nextTimestamps(behind);
        long nowMs = Clock.systemUTC().millis();
        List<Lag> lags = new ArrayList<>();
        for (TopicPartition partition : served) {
            ListedOffset end = found.get(partition);
            long behindMs = end == null ? -1 : 0;
            if (behind.containsKey(partition)) {
                Long nextMs = timestampsMs.get(partition);
                behindMs = nextMs == null ? -1 : Math.max(0, nowMs - nextMs);
            }
            long endOffset = end == null ? -1 : end.offset();
            lags.add(new Lag(partition, committed.get(partition), endOffset, behindMs, readers.get(partition)));
        }
        return lags;
    }

    private static Set<TopicPartition> withLeader(Admin admin, Set<TopicPartition> partitions) {
        Set<String> topics = new LinkedHashSet<>();
        partitions.forEach(partition -> topics.add(partition.topic()));
        Set<TopicPartition> withLeader = new LinkedHashSet<>(partitions);
        for (TopicDescription topic : admin.describeTopics(topics).values()) {
            for (PartitionDescription partition : topic.partitions()) {
                if (partition.leader() < 0) {
                    withLeader.remove(new TopicPartition(topic.name(), partition.partition()));
                }
            }
        }
        return withLeader;
    }

    private Map<TopicPartition, Long> nextTimestamps(Map<TopicPartition, Long> offsets) {
        try (Consumer consumer = program()
                .configure(NextTimestamps.forPeeking(Consumer.builder()))
                .build()) {
            return NextTimestamps.read(consumer, offsets);
        }
    }

    private void print(List<Lag> lags) {
        if (lags.isEmpty()) {
            terminal()
                    .printLine(Terminal.printable("group " + name + " has no committed offsets"
                            + (topic == null ? "" : " for topic " + topic)));
            return;
        }
        Table table = new Table("TOPIC", "PARTITION", "COMMITTED", "END", "LAG", "SECONDS", "MEMBER");
        long total = 0;
        long mostMs = -1;
        for (Lag lag : lags) {
            table.row(
                    lag.partition().topic(),
                    lag.partition().partition(),
                    lag.committed(),
                    lag.isKnown() ? lag.end() : null,
                    lag.isKnown() ? lag.messages() : null,
                    lag.behindMs() < 0 ? null : seconds(lag.behindMs()),
                    lag.member());
            total += lag.messages();
            mostMs = Math.max(mostMs, lag.behindMs());
        }
        table.printTo(terminal());
        long unknown = lags.stream().filter(lag -> !lag.isKnown()).count();
        if (unknown > 0) {
            terminal().warn("the lag in " + Quantity.count(unknown, "partition") + " without a leader is unknown");
        }
        terminal()
                .printLine(Terminal.printable("Group " + name + " is behind by " + Quantity.count(total, "message")
                        + (mostMs < 0 ? "" : ", " + seconds(mostMs) + " s")));
    }

    private static String seconds(long ms) {
        return String.format(java.util.Locale.ROOT, "%.1f", ms / 1e3);
    }

    private Map<String, Object> jsonOf(List<Lag> lags) {
        List<Object> partitions = new ArrayList<>();
        for (Lag lag : lags) {
            Map<String, Object> partition = new LinkedHashMap<>();
            partition.put("topic", lag.partition().topic());
            partition.put("partition", lag.partition().partition());
            partition.put("committed", lag.committed());
            partition.put("end", lag.isKnown() ? lag.end() : null);
            partition.put("lag", lag.isKnown() ? lag.messages() : null);
            partition.put("lagMs", lag.behindMs() < 0 ? null : lag.behindMs());
            partition.put("member", lag.member());
            partitions.add(partition);
        }
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("group", name);
        json.put("lag", lags.stream().mapToLong(Lag::messages).sum());
        long mostMs = lags.stream().mapToLong(Lag::behindMs).max().orElse(0);
        json.put("lagMs", mostMs < 0 ? null : mostMs);
        json.put("partitions", partitions);
        return json;
    }

    /** Returns those of the partitions that a group knows that still exist, in the same order. */
    static Set<TopicPartition> existing(Admin admin, Collection<TopicPartition> partitions) {
        Map<String, Integer> counts = new HashMap<>();
        for (TopicListing topic : admin.listTopics()) {
            counts.put(topic.name(), topic.partitionCount());
        }
        Set<TopicPartition> existing = new LinkedHashSet<>();
        for (TopicPartition partition : partitions) {
            if (partition.partition() < counts.getOrDefault(partition.topic(), 0)) {
                existing.add(partition);
            }
        }
        return existing;
    }
}
