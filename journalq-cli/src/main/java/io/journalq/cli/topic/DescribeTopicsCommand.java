package io.journalq.cli.topic;

import io.journalq.cli.shell.ClientCommand;
import io.journalq.cli.shell.Json;
import io.journalq.cli.shell.Quantity;
import io.journalq.cli.shell.Table;
import io.journalq.cli.shell.Terminal;
import io.journalq.client.Admin;
import io.journalq.client.admin.ConfigEntry;
import io.journalq.client.admin.ConfigResource;
import io.journalq.client.admin.ListedOffset;
import io.journalq.client.admin.LogDirDescription;
import io.journalq.client.admin.OffsetSpec;
import io.journalq.client.admin.PartitionDescription;
import io.journalq.client.admin.TopicDescription;
import io.journalq.common.id.TopicPartition;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code journalq topics describe}. */
@Command(
        name = "describe",
        description = "Shows topics with their partitions, leaders and sizes.",
        footerHeading = "%nExamples:%n",
        footer = {"  journalq topics describe orders", "  journalq topics describe orders audit --output json"})
final class DescribeTopicsCommand extends ClientCommand {
    @Parameters(arity = "1..*", paramLabel = "NAME", description = "Names of the topics.")
    private List<String> names;

    @Override
    protected void execute() {
        List<Object> json = new ArrayList<>();
        try (Admin admin = openAdmin()) {
            List<LogDirDescription> logDirs = admin.describeLogDirs();
            for (TopicDescription topic : admin.describeTopics(names).values()) {
                Description description = describe(admin, topic, logDirs);
                if (wantsJson()) {
                    json.add(jsonOf(description));
                } else {
                    print(description);
                }
            }
        }
        if (wantsJson()) {
            terminal().printLine(Json.document(json));
        }
    }

    /** A topic with its own configurations and its partitions. */
    private record Description(TopicDescription topic, Map<String, String> configs, List<Holding> partitions) {
        private long messageCount() {
            return partitions.stream().mapToLong(Holding::messageCount).sum();
        }

        private long sizeBytes() {
            return partitions.stream().mapToLong(Holding::sizeBytes).sum();
        }
    }

    /** A partition with its offsets, -1 if it has no leader, and its size. The size is that of one replica. */
    private record Holding(PartitionDescription partition, long firstOffset, long endOffset, long sizeBytes) {
        private long messageCount() {
            return Math.max(0, endOffset - firstOffset);
        }
    }

    private static Description describe(Admin admin, TopicDescription topic, List<LogDirDescription> logDirs) {
        Map<TopicPartition, OffsetSpec> first = new LinkedHashMap<>();
        Map<TopicPartition, OffsetSpec> end = new LinkedHashMap<>();
        for (PartitionDescription partition : topic.partitions()) {
            // Nobody knows the offsets of a partition without a leader, and a lookup would wait for one.
            if (partition.leader() >= 0) {
                TopicPartition name = new TopicPartition(topic.name(), partition.partition());
                first.put(name, OffsetSpec.earliest());
                end.put(name, OffsetSpec.latest());
            }
        }
        Map<TopicPartition, ListedOffset> firstOffsets = admin.listOffsets(first);
        Map<TopicPartition, ListedOffset> endOffsets = admin.listOffsets(end);
        List<Holding> holdings = new ArrayList<>();
        for (PartitionDescription partition : topic.partitions()) {
            TopicPartition name = new TopicPartition(topic.name(), partition.partition());
            long sizeBytes = logDirs.stream()
                    .mapToLong(dir -> dir.partitionSizesBytes().getOrDefault(name, 0L))
                    .max()
                    .orElse(0L);
            holdings.add(
                    new Holding(partition, offset(firstOffsets.get(name)), offset(endOffsets.get(name)), sizeBytes));
        }
        return new Description(topic, setConfigs(admin, topic.name()), holdings);
    }

    private static long offset(ListedOffset found) {
        return found == null ? -1 : found.offset();
    }

    /** Returns the configurations that differ from the broker's defaults. */
    private static Map<String, String> setConfigs(Admin admin, String topic) {
        ConfigResource resource = ConfigResource.topic(topic);
        Map<String, String> configs = new LinkedHashMap<>();
        for (ConfigEntry entry : admin.describeConfigs(List.of(resource)).get(resource)) {
            if (entry.source() == ConfigEntry.Source.DYNAMIC_TOPIC_CONFIG) {
                configs.put(entry.name(), entry.value());
            }
        }
        return configs;
    }

    private void print(Description description) {
        TopicDescription topic = description.topic();
        terminal()
                .printLine("Topic " + topic.name() + "  id " + topic.id() + "  "
                        + Quantity.count(topic.partitions().size(), "partition") + "  "
                        + Quantity.count(description.messageCount(), "message") + "  "
                        + Quantity.size(description.sizeBytes()));
        description.configs().forEach((name, value) -> terminal()
                .printLine(Terminal.printable("  " + name + "=" + SettingText.of(name, value))));
        Table table =
                new Table("PARTITION", "LEADER", "EPOCH", "REPLICAS", "IN-SYNC", "FIRST", "END", "MESSAGES", "SIZE");
        for (Holding holding : description.partitions()) {
            PartitionDescription partition = holding.partition();
            table.row(
                    partition.partition(),
                    partition.leader() < 0 ? "none" : partition.leader(),
                    partition.leaderEpoch() < 0 ? null : partition.leaderEpoch(),
                    commaSeparated(partition.replicas()),
                    commaSeparated(partition.inSyncReplicas()),
                    known(holding.firstOffset()),
                    known(holding.endOffset()),
                    holding.endOffset() < 0 ? null : holding.messageCount(),
                    Quantity.size(holding.sizeBytes()));
        }
        table.printTo(terminal());
    }

    private static Long known(long offset) {
        return offset < 0 ? null : offset;
    }

    private static String commaSeparated(List<Integer> ids) {
        return String.join(",", ids.stream().map(String::valueOf).toList());
    }

    private static Map<String, Object> jsonOf(Description description) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("topic", description.topic().name());
        json.put("id", description.topic().id());
        json.put("internal", description.topic().internal());
        json.put("messages", description.messageCount());
        json.put("sizeBytes", description.sizeBytes());
        json.put("configs", description.configs());
        List<Object> partitions = new ArrayList<>();
        for (Holding holding : description.partitions()) {
            Map<String, Object> partition = new LinkedHashMap<>();
            partition.put("partition", holding.partition().partition());
            partition.put("leader", holding.partition().leader());
            partition.put("leaderEpoch", holding.partition().leaderEpoch());
            partition.put("replicas", holding.partition().replicas());
            partition.put("inSyncReplicas", holding.partition().inSyncReplicas());
            partition.put("firstOffset", known(holding.firstOffset()));
            partition.put("endOffset", known(holding.endOffset()));
            partition.put("sizeBytes", holding.sizeBytes());
            partitions.add(partition);
        }
        json.put("partitions", partitions);
        return json;
    }
}
