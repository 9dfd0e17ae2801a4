package io.journalq.cli.topic;

import io.journalq.cli.shell.ClientCommand;
import io.journalq.cli.shell.CommandGroup;
import io.journalq.cli.shell.Json;
import io.journalq.cli.shell.Quantity;
import io.journalq.cli.shell.Table;
import io.journalq.client.Admin;
import io.journalq.client.admin.BrokerNode;
import io.journalq.client.admin.ClusterDescription;
import io.journalq.client.admin.LogDirDescription;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;

/** {@code journalq cluster}. */
@Command(
        name = "cluster",
        description = "Shows the cluster.",
        subcommands = {ClusterCommand.Describe.class})
public final class ClusterCommand extends CommandGroup {
    /** {@code journalq cluster describe}. */
    @Command(
            name = "describe",
            description = "Shows the brokers, the controller, and the contents of the data directories.",
            footerHeading = "%nExamples:%n",
            footer = {"  journalq cluster describe", "  journalq cluster describe --output json"})
    static final class Describe extends ClientCommand {
        @Override
        protected void execute() {
            ClusterDescription cluster;
            List<LogDirDescription> logDirs;
            try (Admin admin = openAdmin()) {
                cluster = admin.describeCluster();
                logDirs = admin.describeLogDirs();
            }
            if (wantsJson()) {
                terminal().printLine(Json.document(jsonOf(cluster, logDirs)));
            } else {
                print(cluster, logDirs);
            }
        }

        private void print(ClusterDescription cluster, List<LogDirDescription> logDirs) {
            terminal()
                    .printLine("Cluster " + (cluster.clusterId() == null ? "(unnamed)" : cluster.clusterId()) + "  "
                            + Quantity.count(cluster.brokers().size(), "broker"));
            Table brokers = new Table("BROKER", "ADDRESS", "RACK", "CONTROLLER");
            for (BrokerNode broker : cluster.brokers()) {
                brokers.row(
                        broker.id(),
                        broker.host() + ":" + broker.port(),
                        broker.rack(),
                        broker.id() == cluster.controllerId() ? "yes" : "no");
            }
            brokers.printTo(terminal());
            terminal().printLine("");
            Table directories = new Table("BROKER", "DATA DIRECTORY", "PARTITIONS", "SIZE", "FREE");
            for (LogDirDescription dir : logDirs) {
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

        private static Map<String, Object> jsonOf(ClusterDescription cluster, List<LogDirDescription> logDirs) {
            List<Object> brokers = new ArrayList<>();
            for (BrokerNode node : cluster.brokers()) {
                Map<String, Object> broker = new LinkedHashMap<>();
                broker.put("id", node.id());
                broker.put("host", node.host());
                broker.put("port", node.port());
                broker.put("rack", node.rack());
                broker.put("controller", node.id() == cluster.controllerId());
                brokers.add(broker);
            }
            List<Object> directories = new ArrayList<>();
            for (LogDirDescription dir : logDirs) {
                Map<String, Object> directory = new LinkedHashMap<>();
                directory.put("broker", dir.brokerId());
                directory.put("path", dir.path());
                directory.put("partitions", dir.partitionSizesBytes().size());
                directory.put("sizeBytes", sizeBytes(dir));
                directory.put("totalBytes", dir.totalBytes());
                directory.put("usableBytes", dir.usableBytes());
                directories.add(directory);
            }
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("clusterId", cluster.clusterId());
            json.put("brokers", brokers);
            json.put("dataDirectories", directories);
            return json;
        }
    }
}
