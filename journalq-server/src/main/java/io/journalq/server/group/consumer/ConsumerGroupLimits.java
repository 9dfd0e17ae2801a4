package io.journalq.server.group.consumer;

import io.journalq.server.group.consumer.assignor.Assignor;
import io.journalq.server.group.consumer.assignor.RangeAssignor;
import io.journalq.server.group.consumer.assignor.UniformAssignor;
import java.util.List;

/**
 * How groups of the consumer protocol are bounded.
 *
 * @param sizeMax most members of a group
 * @param heartbeatIntervalMs how often members are told to send heartbeats, until {@link ConsumerGroups#onTimes}
 * @param sessionTimeoutMs a member is gone after such a silence, until then
 * @param migration which groups may change their protocol while they have members
 * @param assignors those on offer, the default first
 */
public record ConsumerGroupLimits(
        int sizeMax,
        int heartbeatIntervalMs,
        int sessionTimeoutMs,
        MigrationPolicy migration,
        List<Assignor> assignors) {
    /** As a broker has them whose settings nobody changed. */
    public static final ConsumerGroupLimits DEFAULT = new ConsumerGroupLimits(
            10_000, 5_000, 45_000, MigrationPolicy.BIDIRECTIONAL, List.of(new UniformAssignor(), new RangeAssignor()));

    public ConsumerGroupLimits {
        assignors = List.copyOf(assignors);
    }

    /** The one of that name; null when it is not on offer. */
    Assignor assignor(String name) {
        for (Assignor assignor : assignors) {
            if (assignor.assignorName().equals(name)) {
                return assignor;
            }
        }
        return null;
    }
}
