package io.journalq.chaos.cluster;

import io.journalq.client.Admin;
import io.journalq.client.admin.PartitionDescription;
import io.journalq.client.admin.TopicDescription;
import io.journalq.server.process.LocalCluster;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Waits for what the brokers and the topics of a cycle must reach after each fault, and throws a {@link
 * ClusterLostException} if they do not reach it in time. One thread.
 */
final class ClusterHealth {
    /** Maximum time from the end of a fault to the full recovery from it. */
    static final long RECOVERY_LIMIT_MS = 120_000;

    /** Time between two looks at the cluster. */
    static final int POLL_MS = 50;

    private static final int START_SECONDS = 300;

    /** Time that brokers are given to write their stacks. */
    private static final int DUMP_MS = 2_000;

    private final LocalCluster cluster;
    private final ClusterMembers members;
    private final Admin admin;
    private final List<String> topics;
    private final int replicas;

    /** @param replicas the number that each partition of {@code topics} has */
    ClusterHealth(LocalCluster cluster, ClusterMembers members, Admin admin, List<String> topics, int replicas) {
        this.cluster = cluster;
        this.members = members;
        this.admin = admin;
        this.topics = topics;
        this.replicas = replicas;
    }

    /** Checks that no broker has ended on its own. */
    void requireAlive(String when) throws ClusterLostException {
        for (int id : members.ids()) {
            if (!cluster.isAlive(id)) {
                throw new ClusterLostException(
                        "broker " + id + " ended on its own with exit code "
                                + cluster.process(id).exitCode() + " " + when + "; see " + cluster.log(id),
                        null);
            }
        }
    }

    /** Waits until a broker that was started serves. */
    void awaitServing(int id) throws InterruptedException, ClusterLostException {
        try {
            cluster.awaitServing(id, START_SECONDS);
        } catch (IOException failure) {
            throw new ClusterLostException("StartsAgain: " + failure.getMessage(), failure);
        }
    }

    /** Gives the replicas of a dead broker to a running one, and waits until that has them. */
    void replace(int dead, int successor) throws InterruptedException, ClusterLostException {
        try {
            members.replace(admin, dead, successor, RECOVERY_LIMIT_MS);
        } catch (IOException failure) {
            dumpStacks();
            throw new ClusterLostException("ReplicasCatchUp: " + failure.getMessage(), failure);
        }
    }

    /** Returns the topics of the cycle when all their replicas are in sync. */
    Map<String, TopicDescription> awaitInSync() throws InterruptedException, ClusterLostException {
        long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(RECOVERY_LIMIT_MS);
        String last = "no description";
        while (System.nanoTime() < endNanos) {
            requireAlive("while replicas caught up");
            try {
                Map<String, TopicDescription> described = admin.describeTopics(topics);
                if (described.values().stream()
                        .allMatch(each -> each.partitions().stream().allMatch(this::isInSync))) {
                    return described;
                }
                last = described.toString();
            } catch (RuntimeException notYet) {
                last = notYet.toString();
            }
            Thread.sleep(POLL_MS);
        }
        dumpStacks();
        throw new ClusterLostException(
                "ReplicasCatchUp: not all replicas are in sync after " + RECOVERY_LIMIT_MS + " ms: " + last
                        + "; the logs have the stacks of all threads",
                null);
    }

    private boolean isInSync(PartitionDescription partition) {
        return partition.leader() >= 0
                && partition.inSyncReplicas().size() == replicas
                && partition.replicas().size() == replicas;
    }

    /** Writes the stacks of all threads of all brokers to their logs. */
    void dumpStacks() throws InterruptedException {
        members.ids().forEach(id -> cluster.process(id).dumpStacks());
        Thread.sleep(DUMP_MS);
    }

    /** Writes the stacks of all threads of a broker to its log. */
    void dumpStacks(int id) throws InterruptedException {
        cluster.process(id).dumpStacks();
        Thread.sleep(DUMP_MS);
    }
}
