package io.journalq.server.config;

import java.util.List;

/** The settings of replication between the brokers of a cluster. */
public final class ReplicationSettings {
    private static final long HOUR_MS = 3_600_000L;

    public static final ConfigKey<Long> REPLICA_LAG_TIME_MAX_MS = ConfigKey.ofLong(
            "replica.lag.time.max.ms",
            ConfigUnit.MILLISECONDS,
            10_000L,
            100L,
            HOUR_MS,
            "Time for which an in-sync replica can be behind its leader. After that, it leaves the in-sync replicas, and "
                    + "acknowledgements do not wait for it any more.");

    static final List<ConfigKey<?>> ALL = List.of(REPLICA_LAG_TIME_MAX_MS);

    private ReplicationSettings() {}
}
