package io.journalq.server.replication;

import java.util.ArrayList;
import java.util.List;

/**
 * The other replicas of a partition, as the leader sees them. The high watermark waits for those that are in sync as of
 * the metadata, and for those that would be after a proposal whose outcome is unknown. Fetches of others do not count.
 * Pure and single-threaded.
 */
final class InSyncSet {
    static final RemoteReplica[] NOBODY = {};

    private RemoteReplica[] others = NOBODY;
    /** The in-sync replicas of the metadata, including the leader. */
    private int committedSize = 1;

    /** Replicas for which the high watermark waits, without the leader. */
    private int countedOthers;

    private int requiredSize = 1;

    /**
     * Takes the replicas of the metadata, which end all proposals. Those that stay keep what they have acknowledged.
     *
     * @param self broker id of the leader
     * @param newRequiredSize number of in-sync replicas, including the leader, without which nothing more becomes safe
     */
    void follow(int self, ReplicaSet set, int newRequiredSize, long nowMs) {
        requiredSize = newRequiredSize;
        if (others.length == 0 && set.replicas().size() == 1 && set.inSync().size() == 1) {
            return;
        }
        others = set.replicas().stream()
                .filter(id -> id != self)
                .map(id -> {
                    RemoteReplica known = find(id);
                    return known == null ? new RemoteReplica(id, nowMs) : known;
                })
                .toArray(RemoteReplica[]::new);
        for (RemoteReplica other : others) {
            other.committed = set.inSync().contains(other.brokerId);
            other.eligible = set.eligible().contains(other.brokerId);
            other.proposed = false;
        }
        count();
    }

    private void count() {
        committedSize = 1;
        countedOthers = 0;
        for (RemoteReplica other : others) {
            committedSize += other.committed ? 1 : 0;
            countedOthers += other.isCounted() ? 1 : 0;
        }
    }

    void setRequiredSize(int size) {
        requiredSize = size;
    }

    /** The other replicas, in the order of the metadata. */
    RemoteReplica[] others() {
        return others;
    }

    /** The replica on a broker; null if there is none. */
    RemoteReplica find(int brokerId) {
        for (RemoteReplica other : others) {
            if (other.brokerId == brokerId) {
                return other;
            }
        }
        return null;
    }

    /** The high watermark waits for these replicas too, until {@link #follow}. */
    void propose(List<IsrProposal.Member> members) {
        for (IsrProposal.Member member : members) {
            RemoteReplica other = find(member.brokerId());
            if (other != null) {
                other.proposed = true;
            }
        }
        count();
    }

    /** The proposals were refused. */
    void withdraw() {
        for (RemoteReplica other : others) {
            other.proposed = false;
        }
        count();
    }

    /** Whether the high watermark waits for no other replica. */
    boolean isLeaderOnly() {
        return countedOthers == 0;
    }

    /** The other brokers that could lead next, as far as is known. */
    List<Integer> successors() {
        List<Integer> successors = new ArrayList<>(others.length);
        for (RemoteReplica other : others) {
            if (other.isCounted() || other.eligible) {
                successors.add(other.brokerId);
            }
        }
        return successors;
    }

    /** Whether enough replicas are in sync. */
    boolean isLargeEnough() {
        return committedSize >= requiredSize;
    }

    /** All counted replicas have everything before the result, which is at most {@code offset}. */
    long safeOffset(long offset) {
        long safe = offset;
        for (RemoteReplica other : others) {
            if (other.isCounted()) {
                safe = Math.min(safe, other.fetchOffset());
            }
        }
        return safe;
    }
}
