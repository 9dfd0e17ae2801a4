package io.journalq.server.group.consumer;

import io.journalq.server.group.consumer.assignor.Assignor;
import io.journalq.server.group.consumer.assignor.RangeAssignor;
import io.journalq.server.group.consumer.assignor.UniformAssignor;
import java.util.List;

/**
 * Limits of groups of the consumer protocol.
 *
 * @param sizeMax maximum number of members of one group
 * @param heartbeatIntervalMs heartbeat interval of members, until {@link ConsumerGroups#onTimes}
 * @param sessionTimeoutMs session timeout of members, until {@link ConsumerGroups#onTimes}
 * @param migration which groups may change their protocol while they have members
 * @param assignors available assignors, the default first
 */
public record ConsumerGroupLimits(
        int sizeMax,
        int heartbeatIntervalMs,
        int sessionTimeoutMs,
        MigrationPolicy migration,
        List<Assignor> assignors) {
    /** The limits of a broker with default settings. */
    public static final ConsumerGroupLimits DEFAULT = new ConsumerGroupLimits(
            10_000, 5_000, 45_000, MigrationPolicy.BIDIRECTIONAL, List.of(new UniformAssignor(), new RangeAssignor()));

    public ConsumerGroupLimits {
        assignors = List.copyOf(assignors);
    }

    /** The assignor with this name; null if it is not available. */
    Assignor assignor(String name) {
        for (Assignor assignor : assignors) {
            if (assignor.assignorName().equals(name)) {
                return assignor;
            }
        }
        return null;
    }
}
