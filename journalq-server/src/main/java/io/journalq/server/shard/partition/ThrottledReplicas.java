package io.journalq.server.shard.partition;

import java.util.List;

/**
 * The replicas of a topic to which a throttle applies (KIP-73), as {@code partition:broker}, or an asterisk for all of
 * them. Immutable.
 *
 * @param leaders replicas whose broker throttles what it sends when they lead
 * @param followers replicas whose broker throttles what they fetch
 */
public record ThrottledReplicas(List<String> leaders, List<String> followers) {
    /** No throttled replicas. */
    public static final ThrottledReplicas NONE = new ThrottledReplicas(List.of(), List.of());

    private static final List<String> ALL = List.of("*");

    public ThrottledReplicas {
        leaders = List.copyOf(leaders);
        followers = List.copyOf(followers);
    }

    boolean hasLeader(int partition, int brokerId) {
        return has(leaders, partition, brokerId);
    }

    boolean hasFollower(int partition, int brokerId) {
        return has(followers, partition, brokerId);
    }

    private static boolean has(List<String> replicas, int partition, int brokerId) {
        return !replicas.isEmpty() && (replicas.equals(ALL) || replicas.contains(partition + ":" + brokerId));
    }
}
