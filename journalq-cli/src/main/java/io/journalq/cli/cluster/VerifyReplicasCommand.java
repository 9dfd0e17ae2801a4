package io.journalq.cli.cluster;

import io.journalq.cli.cluster.ReplicaComparison.Finding;
import io.journalq.cli.shell.ClientCommand;
import io.journalq.cli.shell.CommandFailure;
import io.journalq.cli.shell.Json;
import io.journalq.cli.shell.Quantity;
import io.journalq.client.Admin;
import io.journalq.client.admin.BrokerNode;
import io.journalq.client.admin.PartitionDescription;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code journalq cluster verify}. */
@Command(
        name = "verify",
        description = {
            "Lets each broker read its replicas and check the CRC of every batch, and compares the replicas of each"
                    + " partition by checksums, up to what consumers can see on all of them. Clients go on meanwhile.",
            "Replicas of compacted topics are checked for damage but not compared, because each broker compacts on its"
                    + " own.",
            "Exits with 1 if a replica is damaged, differs from the leader, or cannot be read."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  journalq cluster verify",
            "  journalq cluster verify orders audit:0,1 --rate 20",
            "  journalq cluster verify orders --output json"
        })
final class VerifyReplicasCommand extends ClientCommand {
    private static final long MIB = 1L << 20;
    private static final long NANOS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);

    @Parameters(
            paramLabel = "TOPIC[:PARTITION,...]",
            description = "Topics, or parts of their partitions, such as orders:0,5 (default: all topics,"
                    + " including internal ones).")
    private List<String> topics = new ArrayList<>();

    @Option(
            names = "--rate",
            paramLabel = "MIB",
            description = "Reads at most this many MiB per second from all brokers together (default: 100).")
    private long rateMib = 100;

    private final List<Finding> findings = new ArrayList<>();
    private long startNanos;
    private int partitions;
    private int compacted;
    private int replicas;
    private long readBytes;

    @Override
    protected void execute() {
        if (rateMib < 1) {
            throw wrongUsage("--rate must be at least 1 MiB per second");
        }
        startNanos = System.nanoTime();
        try (Admin admin = openAdmin()) {
            ClusterState state = ClusterState.of(admin);
            Set<Integer> live = state.live().stream().map(BrokerNode::id).collect(Collectors.toSet());
            Map<TopicPartition, PartitionDescription> selected = state.selected(topics);
            selected.forEach((partition, description) -> {
                Uuid topicId = state.topics().get(partition.topic()).id();
                verify(admin, topicId, partition, description, live, selected.size());
            });
        }
        terminal().endProgress();
        if (wantsJson()) {
            terminal().printLine(Json.document(json()));
        } else {
            terminal().printLine("verified " + summary());
        }
        if (!findings.isEmpty()) {
            terminal().flush();
            throw new CommandFailure(Quantity.count(findings.size(), "finding")
                    + "; see \"Find and heal damage\" in docs/guides/cluster.md");
        }
    }

    private void verify(
            Admin admin,
            Uuid topicId,
            TopicPartition partition,
            PartitionDescription description,
            Set<Integer> live,
            int total) {
        ReplicaComparison comparison = new ReplicaComparison(
                partition,
                (broker, offset, endOffset, maxBytes) ->
                        admin.checkReplica(broker, topicId, partition.partition(), offset, endOffset, maxBytes));
        List<Integer> readable = new ArrayList<>();
        for (int broker : description.replicas()) {
            if (!live.contains(broker)) {
                comparison.onUnreadable(broker, "the broker is down");
            } else if (broker == description.leader()) {
                readable.add(0, broker);
            } else {
                readable.add(broker);
            }
        }
        comparison.run(readable, () -> {
            terminal()
                    .showProgress("verifying " + partition + ", " + partitions + " of "
                            + Quantity.count(total, "partition") + " done, "
                            + Quantity.size(readBytes + comparison.readBytes()) + " read");
            keepRate(readBytes + comparison.readBytes());
        });
        partitions++;
        compacted += comparison.isCompacted() ? 1 : 0;
        replicas += comparison.replicas();
        readBytes += comparison.readBytes();
        findings.addAll(comparison.findings());
        if (!wantsJson()) {
            terminal().endProgress();
            comparison.findings().forEach(finding -> terminal().printLine(finding.toString()));
        }
    }

    /** Waits until reading so much does not exceed the rate. */
    private void keepRate(long bytes) {
        double wantedSeconds = (double) bytes / (rateMib * MIB);
        long leftNanos = (long) (wantedSeconds * NANOS_PER_SECOND) - (System.nanoTime() - startNanos);
        if (leftNanos > 0) {
            try {
                TimeUnit.NANOSECONDS.sleep(leftNanos);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                throw new CommandFailure("interrupted");
            }
        }
    }

    private String summary() {
        return Quantity.count(partitions, "partition") + ", " + Quantity.count(replicas, "replica") + ", "
                + Quantity.size(readBytes)
                + (compacted == 0
                        ? ""
                        : "; " + Quantity.count(compacted, "compacted partition")
                                + ": checked for damage, not compared");
    }

    private Map<String, Object> json() {
        List<Object> found = new ArrayList<>();
        for (Finding finding : findings) {
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("topic", finding.partition().topic());
            json.put("partition", finding.partition().partition());
            json.put("broker", finding.broker());
            json.put("kind", finding.kind().name().toLowerCase(Locale.ROOT));
            json.put("offset", finding.offset() < 0 ? null : finding.offset());
            json.put("endOffset", finding.endOffset() < 0 ? null : finding.endOffset());
            json.put("what", finding.what());
            found.add(json);
        }
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("partitions", partitions);
        json.put("compactedPartitions", compacted);
        json.put("replicas", replicas);
        json.put("readBytes", readBytes);
        json.put("findings", found);
        return json;
    }
}
