package io.journalq.cli.cluster;

import io.journalq.cli.shell.ClientCommand;
import io.journalq.cli.shell.Json;
import io.journalq.cli.shell.Quantity;
import io.journalq.cli.shell.Table;
import io.journalq.client.Admin;
import io.journalq.client.admin.BrokerNode;
import io.journalq.client.admin.ClusterDescription;
import io.journalq.client.admin.LogDirDescription;
import io.journalq.client.admin.PartitionDescription;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;

/** {@code journalq cluster describe}. */
@Command(
        name = "describe",
        description = "Shows the brokers, the controller, the state of the partitions, and the contents of the data"
                + " directories.",
        footerHeading = "%nExamples:%n",
        footer = {"  journalq cluster describe", "  journalq cluster describe --output json"})
final class DescribeClusterCommand extends ClientCommand {
    @Override
    protected void execute() {
        ClusterState state;
        try (Admin admin = openAdmin()) {
            state = ClusterState.of(admin);
        }
        if (wantsJson()) {
            terminal().printLine(Json.document(jsonOf(state)));
        } else {
            print(state);
        }
    }

    /** What is wrong with partitions. */
    private record Health(long partitions, long behind, long leaderless, long moving) {
        static Health of(ClusterState state) {
            Collection<PartitionDescription> all = state.partitions().values();
            return new Health(
                    all.size(),
                    all.stream()
                            .filter(partition -> partition.inSyncReplicas().size()
                                    < partition.replicas().size())
                            .count(),
                    all.stream().filter(partition -> partition.leader() < 0).count(),
                    state.moving().size());
        }

        @Override
        public String toString() {
            return Quantity.count(partitions, "partition")
                    + (behind == 0
                            ? ", all replicas in sync"
                            : ", " + Quantity.count(behind) + " with replicas that are not in sync")
                    + (leaderless == 0 ? "" : ", " + Quantity.count(leaderless) + " without a leader")
                    + (moving == 0 ? "" : ", " + Quantity.count(moving) + " moving");
        }
    }

    private static long leads(ClusterState state, int broker) {
        return state.partitions().values().stream()
                .filter(partition -> partition.leader() == broker)
                .count();
    }

    private static long replicas(ClusterState state, int broker) {
        return state.partitions().values().stream()
                .filter(partition -> partition.replicas().contains(broker))
                .count();
    }

    private void print(ClusterState state) {
        ClusterDescription cluster = state.cluster();
        terminal()
                .printLine("Cluster " + (cluster.clusterId() == null ? "(unnamed)" : cluster.clusterId()) + "  "
                        + Quantity.count(cluster.brokers().size(), "broker"));
        Table brokers = new Table("BROKER", "ADDRESS", "RACK", "STATE", "CONTROLLER", "LEADS", "REPLICAS");
        for (BrokerNode broker : cluster.brokers()) {
            brokers.row(
                    broker.id(),
                    broker.host() + ":" + broker.port(),
                    broker.rack(),
                    broker.fenced() ? "fenced" : "live",
                    broker.id() == cluster.controllerId() ? "yes" : "no",
                    leads(state, broker.id()),
                    replicas(state, broker.id()));
        }
        brokers.printTo(terminal());
        terminal().printLine("");
        terminal().printLine(Health.of(state).toString());
        terminal().printLine("");
        Table directories = new Table("BROKER", "DATA DIRECTORY", "PARTITIONS", "SIZE", "FREE");
        for (LogDirDescription dir : state.logDirs()) {
            directories.row(
                    dir.brokerId(),
                    dir.path(),
                    dir.partitionSizesBytes().size(),
                    Quantity.size(sizeBytes(dir)),
                    dir.usableBytes() < 0 ? null : Quantity.size(dir.usableBytes()));
        }
        directories.printTo(terminal());
    }

    private static long sizeBytes(LogDirDescription dir) {
        return dir.partitionSizesBytes().values().stream()
                .mapToLong(Long::longValue)
                .sum();
    }

    private static Map<String, Object> jsonOf(ClusterState state) {
        List<Object> brokers = new ArrayList<>();
        for (BrokerNode node : state.cluster().brokers()) {
            Map<String, Object> broker = new LinkedHashMap<>();
            broker.put("id", node.id());
            broker.put("host", node.host());
            broker.put("port", node.port());
            broker.put("rack", node.rack());
            broker.put("fenced", node.fenced());
            broker.put("controller", node.id() == state.cluster().controllerId());
            broker.put("leads", leads(state, node.id()));
            broker.put("replicas", replicas(state, node.id()));
            brokers.add(broker);
        }
        List<Object> directories = new ArrayList<>();
        for (LogDirDescription dir : state.logDirs()) {
            Map<String, Object> directory = new LinkedHashMap<>();
            directory.put("broker", dir.brokerId());
            directory.put("path", dir.path());
            directory.put("partitions", dir.partitionSizesBytes().size());
            directory.put("sizeBytes", sizeBytes(dir));
            directory.put("totalBytes", dir.totalBytes());
            directory.put("usableBytes", dir.usableBytes());
            directories.add(directory);
        }
        Health health = Health.of(state);
        Map<String, Object> partitions = new LinkedHashMap<>();
        partitions.put("count", health.partitions());
        partitions.put("notInSync", health.behind());
        partitions.put("withoutLeader", health.leaderless());
        partitions.put("moving", health.moving());
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("clusterId", state.cluster().clusterId());
        json.put("brokers", brokers);
        json.put("partitions", partitions);
        json.put("dataDirectories", directories);
        return json;
    }
}
