package io.journalq.server.config;

import java.util.List;

/** The settings of replication between the brokers of a cluster. */
public final class ReplicationSettings {
    private static final long HOUR_MS = 3_600_000L;
    /** Of one partition. */
    static final int MAX_REPLICAS = 100;

    public static final ConfigKey<Integer> DEFAULT_REPLICATION_FACTOR = ConfigKey.ofInt(
            "default.replication.factor",
            ConfigUnit.NONE,
            1,
            1,
            MAX_REPLICAS,
            "Number of replicas of a topic that is created without a number of replicas, as by auto.create.topics.enable. "
                    + "The setting of the controller counts: use the same value on all brokers.");

    public static final ConfigKey<Long> REPLICA_LAG_TIME_MAX_MS = ConfigKey.ofLong(
            "replica.lag.time.max.ms",
            ConfigUnit.MILLISECONDS,
            10_000L,
            100L,
            HOUR_MS,
            "Time for which an in-sync replica can be behind its leader. After that, it leaves the in-sync replicas, and "
                    + "acknowledgements do not wait for it any more.");

    public static final ConfigKey<Long> REPLICATION_LAG_MAX_MS = ConfigKey.ofLong(
            "replication.lag.max.ms",
            ConfigUnit.MILLISECONDS,
            1_000L,
            100L,
            HOUR_MS,
            "Time for which only the leader of a partition can have a record that it has acknowledged, with acks=1 or "
                    + "in delivery mode performance, while other replicas are in sync. After that, acknowledgements "
                    + "wait, and the replicas that lack the record leave the in-sync replicas.");

    public static final ConfigKey<Integer> BROKER_HEARTBEAT_INTERVAL_MS = ConfigKey.ofInt(
            "broker.heartbeat.interval.ms",
            ConfigUnit.MILLISECONDS,
            200,
            10,
            60_000,
            "In a cluster, time between two heartbeats of a broker to the controller.");
    public static final ConfigKey<Long> BROKER_SESSION_TIMEOUT_MS = ConfigKey.ofLong(
            "broker.session.timeout.ms",
            ConfigUnit.MILLISECONDS,
            3_000L,
            100L,
            HOUR_MS,
            "In a cluster, the controller fences a broker that it has not heard from for this time: other in-sync "
                    + "replicas lead its partitions. If the connection of the broker has ended, it waits for two "
                    + "heartbeats only. Use the same value on all brokers, and at least twice broker.heartbeat.interval.ms.");

    public static final ConfigKey<Long> DISK_FREE_MIN_BYTES = ConfigKey.ofLong(
            "disk.free.min.bytes",
            ConfigUnit.BYTES,
            64L << 20,
            0L,
            Long.MAX_VALUE / 2,
            "In a cluster, usable space of the file system of a data directory. With less, other in-sync replicas lead the "
                    + "partitions of the broker, if theirs have room. The broker leads again when twice as much is free. "
                    + "With 0, it leads until its disk is full, and appends are refused then.");

    public static final ConfigKey<Long> LEADER_THROTTLED_RATE = ConfigKey.ofLong(
            "leader.replication.throttled.rate",
            ConfigUnit.BYTES,
            Long.MAX_VALUE,
            0L,
            Long.MAX_VALUE,
            "Bytes per second that the leaders on this broker send to other replicas, for the replicas in "
                    + "leader.replication.throttled.replicas. Replicas that are in sync count, and are never held back. "
                    + "bin/journalq cluster reassign --throttle sets and deletes it.");
    public static final ConfigKey<Long> FOLLOWER_THROTTLED_RATE = ConfigKey.ofLong(
            "follower.replication.throttled.rate",
            ConfigUnit.BYTES,
            Long.MAX_VALUE,
            0L,
            Long.MAX_VALUE,
            "Bytes per second that this broker fetches for its replicas in follower.replication.throttled.replicas. "
                    + "Replicas that are in sync count, and are never held back. bin/journalq cluster reassign --throttle "
                    + "sets and deletes it.");

    private static final String RACK_AWARE = "org.apache.kafka.common.replica.RackAwareReplicaSelector";
    public static final ConfigKey<String> REPLICA_SELECTOR_CLASS = ConfigKey.ofChoice(
            "replica.selector.class",
            RACK_AWARE,
            List.of(RACK_AWARE, "org.apache.kafka.common.replica.LeaderSelector"),
            "Where consumers read that set client.rack, by Kafka's names. RackAwareReplicaSelector: from an in-sync replica "
                    + "in their rack, see broker.rack. LeaderSelector: from the leader. Consumers without client.rack read "
                    + "from the leader.");

    static final List<ConfigKey<?>> ALL = List.of(
            DEFAULT_REPLICATION_FACTOR,
            REPLICA_SELECTOR_CLASS,
            REPLICA_LAG_TIME_MAX_MS,
            REPLICATION_LAG_MAX_MS,
            LEADER_THROTTLED_RATE,
            FOLLOWER_THROTTLED_RATE,
            BROKER_HEARTBEAT_INTERVAL_MS,
            BROKER_SESSION_TIMEOUT_MS,
            DISK_FREE_MIN_BYTES);

    private ReplicationSettings() {}

    /** Whether consumers read from a replica in their rack, by {@link #REPLICA_SELECTOR_CLASS}. */
    public static boolean isRackAware(String selectorClass) {
        return selectorClass.equals(RACK_AWARE);
    }
}
