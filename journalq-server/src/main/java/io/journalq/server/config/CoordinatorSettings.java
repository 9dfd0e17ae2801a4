package io.journalq.server.config;

import java.util.List;

/** The settings of the coordinators: consumer groups, committed offsets, transactions. */
public final class CoordinatorSettings {
    private static final long DAY_MS = 86_400_000L;

    public static final ConfigKey<Integer> GROUP_TOPIC_PARTITIONS = ConfigKey.ofInt(
            "offsets.topic.num.partitions",
            ConfigUnit.NONE,
            16,
            1,
            1_000,
            "Number of partitions of __consumer_offsets. It is fixed when the first group appears.");
    public static final ConfigKey<Integer> GROUP_TOPIC_REPLICATION_FACTOR = ConfigKey.ofInt(
            "offsets.topic.replication.factor",
            ConfigUnit.NONE,
            0,
            0,
            ReplicationSettings.MAX_REPLICAS,
            "Number of replicas of __consumer_offsets when the first group appears. 0 for the number of brokers, "
                    + "at most 3.");
    public static final ConfigKey<Integer> GROUP_MAX_SIZE = ConfigKey.ofInt(
            "group.max.size", ConfigUnit.NONE, 10_000, 1, 1_000_000, "Maximum number of members of a group.");
    public static final ConfigKey<Integer> GROUP_MAX_COUNT = ConfigKey.ofInt(
            "group.max.count",
            ConfigUnit.NONE,
            100_000,
            1,
            10_000_000,
            "Maximum number of groups with members or committed offsets. Further groups are refused.");
    public static final ConfigKey<Integer> GROUP_MIN_SESSION_TIMEOUT_MS = ConfigKey.ofInt(
            "group.min.session.timeout.ms",
            ConfigUnit.MILLISECONDS,
            6_000,
            1,
            Integer.MAX_VALUE,
            "Minimum session timeout that a member of a classic group can request.");
    public static final ConfigKey<Integer> GROUP_MAX_SESSION_TIMEOUT_MS = ConfigKey.ofInt(
            "group.max.session.timeout.ms",
            ConfigUnit.MILLISECONDS,
            1_800_000,
            1,
            Integer.MAX_VALUE,
            "Maximum session timeout that a member of a classic group can request.");
    public static final ConfigKey<Integer> GROUP_INITIAL_REBALANCE_DELAY_MS = ConfigKey.ofInt(
            "group.initial.rebalance.delay.ms",
            ConfigUnit.MILLISECONDS,
            3_000,
            0,
            300_000,
            "Time that a new classic group waits for more members before its first rebalance.");
    public static final ConfigKey<Integer> GROUP_CONSUMER_HEARTBEAT_INTERVAL_MS = ConfigKey.ofInt(
            "group.consumer.heartbeat.interval.ms",
            ConfigUnit.MILLISECONDS,
            5_000,
            1,
            Integer.MAX_VALUE,
            "Heartbeat interval of members of the consumer protocol.");
    public static final ConfigKey<Integer> GROUP_CONSUMER_SESSION_TIMEOUT_MS = ConfigKey.ofInt(
            "group.consumer.session.timeout.ms",
            ConfigUnit.MILLISECONDS,
            45_000,
            1,
            Integer.MAX_VALUE,
            "Session timeout of members of the consumer protocol. A member without a heartbeat for this "
                    + "time is removed.");
    public static final ConfigKey<Integer> GROUP_CONSUMER_ASSIGNMENT_INTERVAL_MS = ConfigKey.ofInt(
            "group.consumer.assignment.interval.ms",
            ConfigUnit.MILLISECONDS,
            0,
            0,
            Integer.MAX_VALUE,
            "Minimum time between two assignments of a group of the consumer protocol. Changes in the "
                    + "meantime go into the second assignment.");
    public static final ConfigKey<Integer> GROUP_CONSUMER_MIN_SESSION_TIMEOUT_MS = ConfigKey.ofInt(
            "group.consumer.min.session.timeout.ms",
            ConfigUnit.MILLISECONDS,
            45_000,
            1,
            Integer.MAX_VALUE,
            "Minimum session timeout that can be set for a group of the consumer protocol.");
    public static final ConfigKey<Integer> GROUP_CONSUMER_MAX_SESSION_TIMEOUT_MS = ConfigKey.ofInt(
            "group.consumer.max.session.timeout.ms",
            ConfigUnit.MILLISECONDS,
            60_000,
            1,
            Integer.MAX_VALUE,
            "Maximum session timeout that can be set for a group of the consumer protocol.");
    public static final ConfigKey<Integer> GROUP_CONSUMER_MIN_HEARTBEAT_INTERVAL_MS = ConfigKey.ofInt(
            "group.consumer.min.heartbeat.interval.ms",
            ConfigUnit.MILLISECONDS,
            5_000,
            1,
            Integer.MAX_VALUE,
            "Minimum heartbeat interval that can be set for a group of the consumer protocol.");
    public static final ConfigKey<Integer> GROUP_CONSUMER_MAX_HEARTBEAT_INTERVAL_MS = ConfigKey.ofInt(
            "group.consumer.max.heartbeat.interval.ms",
            ConfigUnit.MILLISECONDS,
            15_000,
            1,
            Integer.MAX_VALUE,
            "Maximum heartbeat interval that can be set for a group of the consumer protocol.");
    public static final ConfigKey<Integer> GROUP_CONSUMER_MIN_ASSIGNMENT_INTERVAL_MS = ConfigKey.ofInt(
            "group.consumer.min.assignment.interval.ms",
            ConfigUnit.MILLISECONDS,
            0,
            0,
            Integer.MAX_VALUE,
            "Minimum assignment interval that can be set for a group of the consumer protocol.");
    public static final ConfigKey<Integer> GROUP_CONSUMER_MAX_ASSIGNMENT_INTERVAL_MS = ConfigKey.ofInt(
            "group.consumer.max.assignment.interval.ms",
            ConfigUnit.MILLISECONDS,
            15_000,
            0,
            Integer.MAX_VALUE,
            "Maximum assignment interval that can be set for a group of the consumer protocol.");
    public static final ConfigKey<String> GROUP_CONSUMER_MIGRATION_POLICY = ConfigKey.ofChoice(
            "group.consumer.migration.policy",
            "bidirectional",
            List.of("bidirectional", "upgrade", "downgrade", "disabled"),
            "Which groups can change their protocol while they have members. upgrade: to the consumer "
                    + "protocol, when its first member joins. downgrade: back to the classic protocol, when its last "
                    + "member of the consumer protocol leaves. bidirectional: both. disabled: neither.");
    public static final ConfigKey<Integer> OFFSET_METADATA_MAX_BYTES = ConfigKey.ofInt(
            "offset.metadata.max.bytes",
            ConfigUnit.BYTES,
            4_096,
            0,
            1 << 20,
            "Maximum size of the metadata of a committed offset.");
    public static final ConfigKey<Integer> OFFSETS_RETENTION_MINUTES = ConfigKey.ofInt(
            "offsets.retention.minutes",
            ConfigUnit.NONE,
            10_080,
            1,
            Integer.MAX_VALUE,
            "Time in minutes after which committed offsets expire if the group has no members or does not "
                    + "subscribe to the topic.");
    public static final ConfigKey<Long> OFFSETS_RETENTION_CHECK_INTERVAL_MS = ConfigKey.ofLong(
            "offsets.retention.check.interval.ms",
            ConfigUnit.MILLISECONDS,
            600_000L,
            1L,
            DAY_MS,
            "Interval of the check for expired committed offsets.");
    public static final ConfigKey<Integer> TRANSACTION_TOPIC_PARTITIONS = ConfigKey.ofInt(
            "transaction.state.log.num.partitions",
            ConfigUnit.NONE,
            16,
            1,
            1_000,
            "Number of partitions of __transaction_state. It is fixed when the first transactional producer "
                    + "appears.");
    public static final ConfigKey<Integer> TRANSACTION_TOPIC_REPLICATION_FACTOR = ConfigKey.ofInt(
            "transaction.state.log.replication.factor",
            ConfigUnit.NONE,
            0,
            0,
            ReplicationSettings.MAX_REPLICAS,
            "Number of replicas of __transaction_state when the first transactional producer appears. 0 for the "
                    + "number of brokers, at most 3.");
    public static final ConfigKey<Integer> TRANSACTION_TOPIC_MIN_ISR = ConfigKey.ofInt(
            "transaction.state.log.min.isr",
            ConfigUnit.NONE,
            2,
            1,
            ReplicationSettings.MAX_REPLICAS,
            "min.insync.replicas of __transaction_state when it is created. With fewer replicas than this, all of them "
                    + "must be in sync.");
    public static final ConfigKey<Integer> TRANSACTION_MAX_TIMEOUT_MS = ConfigKey.ofInt(
            "transaction.max.timeout.ms",
            ConfigUnit.MILLISECONDS,
            900_000,
            1,
            Integer.MAX_VALUE,
            "Maximum transaction timeout that a producer can request. A transaction that is open for longer "
                    + "than its timeout is aborted.");
    public static final ConfigKey<Long> TRANSACTIONAL_ID_EXPIRATION_MS = ConfigKey.ofLong(
            "transactional.id.expiration.ms",
            ConfigUnit.MILLISECONDS,
            7 * DAY_MS,
            1L,
            Integer.MAX_VALUE * 1_000L,
            "Time after which an unused transactional id expires.");

    /** These settings, in the order of {@code conf/journalq.yaml}. */
    static final List<ConfigKey<?>> ALL = List.of(
            GROUP_TOPIC_PARTITIONS,
            GROUP_TOPIC_REPLICATION_FACTOR,
            GROUP_MAX_SIZE,
            GROUP_MAX_COUNT,
            GROUP_MIN_SESSION_TIMEOUT_MS,
            GROUP_MAX_SESSION_TIMEOUT_MS,
            GROUP_INITIAL_REBALANCE_DELAY_MS,
            GROUP_CONSUMER_HEARTBEAT_INTERVAL_MS,
            GROUP_CONSUMER_SESSION_TIMEOUT_MS,
            GROUP_CONSUMER_ASSIGNMENT_INTERVAL_MS,
            GROUP_CONSUMER_MIN_SESSION_TIMEOUT_MS,
            GROUP_CONSUMER_MAX_SESSION_TIMEOUT_MS,
            GROUP_CONSUMER_MIN_HEARTBEAT_INTERVAL_MS,
            GROUP_CONSUMER_MAX_HEARTBEAT_INTERVAL_MS,
            GROUP_CONSUMER_MIN_ASSIGNMENT_INTERVAL_MS,
            GROUP_CONSUMER_MAX_ASSIGNMENT_INTERVAL_MS,
            GROUP_CONSUMER_MIGRATION_POLICY,
            OFFSET_METADATA_MAX_BYTES,
            OFFSETS_RETENTION_MINUTES,
            OFFSETS_RETENTION_CHECK_INTERVAL_MS,
            TRANSACTION_TOPIC_PARTITIONS,
            TRANSACTION_TOPIC_REPLICATION_FACTOR,
            TRANSACTION_TOPIC_MIN_ISR,
            TRANSACTION_MAX_TIMEOUT_MS,
            TRANSACTIONAL_ID_EXPIRATION_MS);

    private CoordinatorSettings() {}
}
