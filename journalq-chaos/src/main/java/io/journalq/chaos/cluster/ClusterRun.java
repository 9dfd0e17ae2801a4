package io.journalq.chaos.cluster;

import io.journalq.client.Admin;
import io.journalq.server.process.LocalCluster;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Map;

/** Starts a cluster, and runs cycles until enough are done, the time has passed, or there is a finding. One thread. */
public final class ClusterRun {
    private static final int START_SECONDS = 300;

    /** Longer than several elections of a controller take on an overloaded machine. */
    private static final Duration CALL_TIMEOUT = Duration.ofSeconds(30);

    /** A client that survived an earlier run on these ports creates no topic. */
    private static final Map<String, String> SETTINGS = Map.of(
            "segment.bytes", "1048576",
            "shards", "2",
            "replica.lag.time.max.ms", "3000",
            "auto.create.topics.enable", "false");

    private final ClusterPlan plan;
    private final PrintStream out;

    /** @param out receives a line after each cycle */
    public ClusterRun(ClusterPlan plan, PrintStream out) {
        this.plan = plan;
        this.out = out;
    }

    /** Runs all cycles. Kills the brokers at the end, and also if the program is interrupted. */
    public ClusterReport run() throws IOException, InterruptedException {
        ClusterReport report = new ClusterReport(plan);
        long startNanos = System.nanoTime();
        long limitNanos = plan.limit() == null ? Long.MAX_VALUE : plan.limit().toNanos();
        Files.createDirectories(plan.directory());
        boolean proxied = plan.faults().stream().anyMatch(ClusterFault::needsProxies);
        try (NetworkProxies network = new NetworkProxies();
                LocalCluster cluster =
                        new LocalCluster(plan.directory(), SETTINGS, proxied ? network::open : (id, port) -> port)) {
            network.watch(cluster::pid);
            Thread hook = new Thread(cluster::close, "kill-brokers");
            Runtime.getRuntime().addShutdownHook(hook);
            cluster.startAll(plan.brokers(), START_SECONDS);
            ClusterMembers members = new ClusterMembers(cluster, network, plan.brokers());
            try (Admin admin = Admin.builder()
                    .bootstrapServers(members.addresses())
                    .requestTimeout(ClusterCycle.REQUEST_TIMEOUT)
                    .callTimeout(CALL_TIMEOUT)
                    .build()) {
                for (int i = 0;
                        i < plan.cycles() && report.findings().isEmpty() && System.nanoTime() - startNanos < limitNanos;
                        i++) {
                    new ClusterCycle(plan, cluster, members, network, admin, plan.seed() + i, report).run();
                    out.println(report);
                }
            }
            Runtime.getRuntime().removeShutdownHook(hook);
        }
        report.onEnd((System.nanoTime() - startNanos) / 1e9);
        return report;
    }
}
